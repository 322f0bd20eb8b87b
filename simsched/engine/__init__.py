"""The simulator: the only part that knows time."""
