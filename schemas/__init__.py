"""What the data is: frozen records, their identities, and the columns they become.

Nothing in this package does I/O, and nothing in it imports the other three packages. A record is
made once, where the thing it describes ends, and never edited; every later stage makes a new
record that refers to it by id.
"""
