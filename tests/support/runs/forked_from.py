"""What a process that tests fork others from has read already, so that no fork reads it for itself.

The server of forks imports modules and calls nothing, so this one does its work when it is imported.
"""

from functools import cache

import boto3
import botocore.session

from generators.tasks.site_offers import site_offers

botocore.session.create_loader = cache(botocore.session.create_loader)
boto3.session.Session().client("s3", "us-east-1")  # reads what AWS says of its services
site_offers()  # reads every family of worlds, as every command does that plans tasks
