"""Publication: the accepted part of a run, as plain Parquet that any Parquet reader can read.

`plan` decides which files a destination should have for a version of a run, and `apply` writes only the
difference from the files that it has, in the same order for every kind of destination: data files, the
card, the manifest; files that are no longer needed are removed last. The card names every data file, so
a reader that loads the dataset meanwhile, or after a kill, gets the version before or the version after
and never a mixture.
"""
