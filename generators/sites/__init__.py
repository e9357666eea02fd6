"""Sites, which serve the pages of tasks and put them into a known state."""
