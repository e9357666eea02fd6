"""`python serve_project.py PORT`: serve the project of DJANGO_SETTINGS_MODULE on 127.0.0.1."""

import sys

from django.contrib.staticfiles.handlers import StaticFilesHandler
from django.core.servers.basehttp import run
from django.core.wsgi import get_wsgi_application

if __name__ == "__main__":
    run("127.0.0.1", int(sys.argv[1]), StaticFilesHandler(get_wsgi_application()), threading=True)
