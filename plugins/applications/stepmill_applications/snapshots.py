"""Snapshots: the seeded contents that an application's tasks are set in, kept as files, and how one is put back.

Making one takes from a fifth of a second to half a minute, so it is made once for each version of
the application and each content, in a folder that gets its name when it is whole. Putting an instance
back is then one rename of its SQLite file (`generators/sites/application/server_handle.py`).
"""

import re
from pathlib import Path

from generators.data_folder import make_whole
from generators.sites.application.server_handle import restore
from schemas.base import content_hash
from stepmill_applications.application import Application, ContentFolders
from stepmill_applications.sources.source import Installed

_SHOWN = 12


def snapshot_folder(
    application: Application, installed: Installed, *, data: Path, seed: int
) -> Path:
    """Return the folder with the snapshot of the content of `seed`, made if it is not there.

    Raises:
        Unfinished: the application failed while the content was made.
    """
    base = base_folder(application, installed, data=data)

    def make(folder: Path) -> None:
        application.make(installed, seed, ContentFolders(folder=folder, base=base))

    content = content_hash(application.draw_content(seed).model_dump(mode="json"))
    return make_whole(base.with_name(f"{seed}-{content[:_SHOWN]}"), make)


def base_folder(application: Application, installed: Installed, *, data: Path) -> Path:
    """Return the folder with what the contents of all seeds have in common, made if it is not there.

    Raises:
        Unfinished: the application failed while it was made.
    """
    version = re.sub(r"[^\w.+~-]", "_", installed.version)
    home = data / application.name / "worlds" / f"{version}-{application.making}"
    return make_whole(home / "base", lambda folder: application.make_base(installed, folder))


def put_back(
    application: Application, installed: Installed, *, data: Path, folder: Path, content: int
) -> None:
    """Put the instance in `folder` into the content of a seed, whether or not it runs.

    Raises:
        Unfinished: the content was not there, and making it failed.
    """
    made = snapshot_folder(application, installed, data=data, seed=content)
    restore(made / application.state, folder / application.state)
