"""What people do with a run's reviews: which episode comes next, files of reviews, Label Studio."""
