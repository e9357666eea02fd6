"""Where tasks come from: templates and seeds, task files, and the selection of either."""
