"""Which files a version comes to: selected episodes, their rows and Parquet, the manifest."""
