"""Datasette: tables of a SQLite file to filter, to query and to add to."""
