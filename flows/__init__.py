"""The Prefect flows, the jobs and resources that they connect, and the command line.

The only package that imports both `generators` and `storage`, and the only one that imports Prefect.
"""
