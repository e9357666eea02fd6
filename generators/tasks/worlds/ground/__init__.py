"""What kinds of tasks stand on: a world with its rows, values, changes, parts of lists, and wording."""
