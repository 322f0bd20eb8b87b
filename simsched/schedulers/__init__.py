"""Scheduling policies, one a file, and the protocol between them and the engine."""
