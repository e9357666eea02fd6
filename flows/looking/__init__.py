"""What people look at: an attempt explained, its pictures with marks, a run's report."""
