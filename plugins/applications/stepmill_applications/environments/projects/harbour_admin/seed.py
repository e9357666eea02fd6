"""`python -m harbour_admin.seed`: fill the empty tables with the harbour, and let Mia in."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import django

django.setup()

from django.contrib.auth.models import User  # noqa: E402 - after the setup

from harbour_admin.models import Berth, Call, Ship  # noqa: E402


def seed(file: Path) -> None:
    """Write what a file says."""
    told = json.loads(file.read_text(encoding="utf-8"))
    Berth.objects.bulk_create(Berth(**one) for one in told["berths"])
    Ship.objects.bulk_create(Ship(**one) for one in told["ships"])
    Call.objects.bulk_create(Call(**one) for one in told["calls"])
    # A form of a user's account has no place for the parts of a second.
    joined = datetime(2025, 11, 3, 8, tzinfo=UTC)
    mia = User(username="mia", first_name="Mia", is_staff=True, is_superuser=True)
    olga = User(username="olga", first_name="Olga", is_staff=True)
    for user in (mia, olga):
        user.email, user.date_joined = f"{user.username}@harbour.test", joined
        user.set_password("harbour")
        user.save()


if __name__ == "__main__":
    seed(Path(os.environ["HARBOUR_FOLDER"], "harbour.json"))
