"""`stepmill tasks`: list tasks, show one, validate a file, check a policy."""
