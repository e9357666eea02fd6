"""What programs import: make a run, open a run or a published dataset, look at episodes and tables."""
