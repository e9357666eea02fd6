"""The words of thoughts: alternatives, plans, and remarks on what is in sight."""
