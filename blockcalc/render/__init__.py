"""Table -> text. Knows nothing of models."""
