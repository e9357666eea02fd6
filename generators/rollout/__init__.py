"""One attempt at a task: the loop, its limits, and the record that it makes."""
