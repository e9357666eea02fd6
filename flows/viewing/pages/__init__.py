"""The pages of a window, one module for each kind."""
