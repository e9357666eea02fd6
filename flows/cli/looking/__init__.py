"""The command line's look at single attempts."""
