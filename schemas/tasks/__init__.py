"""The records of a task: its goal, the expectation it is judged by, and a reference that does it."""
