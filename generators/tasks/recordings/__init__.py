"""What a person did in a browser, as recorders of other programs wrote it, becomes a task's reference."""
