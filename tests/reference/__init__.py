"""A second simulator, plain and slow, with exact fractions; written from the documents, not from the engine."""
