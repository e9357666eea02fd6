"""The tasks of worlds: kinds of tasks as functions over a specification and its rows."""
