"""Publication: the accepted part of a run, as plain Parquet that anybody's tools can read.

There is one plan of what should lie at a destination for a version of a run (`plan`), and every
kind of destination applies the difference to what lies there, and only the difference (`apply`).
The order is always the same: data files, the card, the manifest, and then what is no longer
needed goes. The card names every data file, so whoever loads the dataset meanwhile, or after a
kill, gets the version before or the version after and never a mixture.
"""
