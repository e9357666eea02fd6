"""The act of attempting a task: limits, the loop for one task, many at once."""
