"""References of tasks: steps on pages, styles, and thoughts."""
