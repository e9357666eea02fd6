"""Tasks as directories that Harbor runs: written from a run's episodes, and read as a source of tasks."""
