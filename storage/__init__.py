"""Storage: object stores, the spool, shards, the lake and publication.

The package depends on no browser, engine or Prefect. Every write is atomic and may be repeated.
"""
