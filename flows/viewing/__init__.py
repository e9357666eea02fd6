"""The window: a web application on this machine that shows runs and datasets, and takes reviews."""
