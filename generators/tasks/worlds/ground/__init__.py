"""The basis of kinds of tasks: a world with its rows, values, changes, parts of lists, and wording."""
