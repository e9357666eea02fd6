"""What somebody configures: a run's file, an application's file, and what is masked on pages."""
