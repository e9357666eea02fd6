"""The sentences of thoughts, in files by who says them, and the choice among their words."""
