"""The settings of the project; nothing of it asks a server elsewhere."""

from common_settings import *  # noqa: F403 - settings are names of a module
from common_settings import MIDDLEWARE

INSTALLED_APPS = [
    "harbour_pages",
    "wagtail.contrib.forms",
    "wagtail.contrib.redirects",
    "wagtail.embeds",
    "wagtail.sites",
    "wagtail.users",
    "wagtail.snippets",
    "wagtail.documents",
    "wagtail.images",
    "wagtail.search",
    "wagtail.admin",
    "wagtail",
    "modelcluster",
    "taggit",
    "django_filters",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
]
MIDDLEWARE = [*MIDDLEWARE, "wagtail.contrib.redirects.middleware.RedirectMiddleware"]
ROOT_URLCONF = "harbour_pages.urls"
WAGTAILADMIN_BASE_URL = "http://wagtail.localhost"
WAGTAIL_SITE_NAME = "Harbour pages"
WAGTAIL_ENABLE_UPDATE_CHECK = False
WAGTAIL_ENABLE_WHATS_NEW_BANNER = False
WAGTAIL_GRAVATAR_PROVIDER_URL = None
