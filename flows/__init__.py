"""When things happen: the Prefect flows, what they wire together, and the command line.

The only package that knows `generators` and `storage` at once, and the only one that imports
Prefect.
"""
