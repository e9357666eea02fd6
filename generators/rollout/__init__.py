"""The act of attempting a task: the loop for one task, its limits, and the record it makes."""
