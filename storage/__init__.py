"""Where bytes rest: object stores, the spool, shards, the lake and publication.

The package knows no browser, no engine and no Prefect. Whatever it writes is whole or not there,
and every write may be repeated.
"""
