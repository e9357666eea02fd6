"""Where tasks come from: templates and seeds, task files, and the selection and the sample of either."""
