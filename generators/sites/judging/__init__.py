"""Judging: the states of a site's server, their differences, and whether a task expects these."""
