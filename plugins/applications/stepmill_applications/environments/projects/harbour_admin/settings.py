"""The settings of the project."""

from common_settings import *  # noqa: F403 - settings are names of a module

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "harbour_admin",
]
ROOT_URLCONF = "harbour_admin.urls"
