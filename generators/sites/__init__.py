"""What serves the pages of tasks and can be put back to a known state."""
