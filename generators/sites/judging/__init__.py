"""Judging: the states of a site's server, what differs between two, and whether that is what a task expects."""
