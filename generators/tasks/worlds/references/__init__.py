"""References of tasks: steps over pages, styles, and the thoughts before them."""
