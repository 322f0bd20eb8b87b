"""Graphs: the model, the builder, ranks, files of all formats, generators."""
