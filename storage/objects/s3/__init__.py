"""Objects in a bucket of AWS S3, or of any store that speaks its protocol.

`S3Store` is an `ObjectStore`; a `Connection` also gives the options for another client, Delta's.
Credentials come from the standard places alone, and only AWS's own client looks for them.
"""

from storage.objects.s3.address import Address
from storage.objects.s3.bucket_client import Connection
from storage.objects.s3.store import S3Store

__all__ = ["Address", "Connection", "S3Store"]
