"""What a model is: the grammar, width rules, presets. No sympy, no numpy."""
