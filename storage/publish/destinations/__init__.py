"""Where a dataset is published: one protocol, and a folder, a bucket and the Hub behind it."""
