"""The command line's look at single attempts, and the report of a run."""
