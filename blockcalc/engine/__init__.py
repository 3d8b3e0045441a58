"""What a model costs, in letters: stages, sizes, conventions."""
