"""Sources of tasks: templates with seeds, and task files, with selection and sampling."""
