"""The data model: frozen records, their identities, and their columns.

Nothing in this package does I/O, and nothing in it imports the other three packages. A record is created
once, when the described event ends, and never edited; every later stage creates a new record that refers
to it by id.
"""
