"""Other goals for tasks of worlds, as a model writes them: what it is asked, and which of them are kept."""
