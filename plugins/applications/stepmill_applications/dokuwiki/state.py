"""`python -m stepmill_applications.dokuwiki.state FOLDER`: write the state of an instance as JSON.

A page's state is its text, who wrote it and with which summary; when is left out, because the
files of a server have real times.
"""

import json
import sys
from pathlib import Path

_COLONS = 4


def read_state(folder: Path) -> dict[str, list[dict[str, str | int]]]:
    """Return the pages, the media files and the users of the instance in `folder`."""
    data = folder / "data"
    pages = list[dict[str, str | int]]()
    for file in sorted((data / "pages").rglob("*.txt")):
        place = file.relative_to(data / "pages").with_suffix("")
        log = (data / "meta" / place).with_name(f"{place.name}.changes")
        lines = log.read_text(encoding="utf-8").splitlines() if log.is_file() else []
        last = lines[-1].split("\t") if lines else [""] * 6
        pages.append(
            {
                "name": ":".join(place.parts),
                "text": file.read_text(encoding="utf-8").rstrip(),
                "author": last[4],
                "summary": last[5],
                "versions": len(lines),
            }
        )
    subscribed = sorted((data / "meta").rglob("*.mlist"))
    users = (folder / "conf" / "users.auth.php").read_text(encoding="utf-8").splitlines()
    return {
        "page": pages,
        "media": [
            {"name": file.relative_to(data / "media").as_posix(), "bytes": file.stat().st_size}
            for file in sorted((data / "media").rglob("*"))
            if file.is_file()
        ],
        "subscription": [
            {
                "name": file.relative_to(data / "meta").as_posix(),
                "text": " ".join(file.read_text(encoding="utf-8").split()[:2]),
            }
            for file in subscribed
        ],
        "user": [
            dict(
                zip(
                    ("name", "password", "real_name", "email", "groups"),
                    line.split(":"),
                    strict=True,
                )
            )
            for line in users
            if line.count(":") == _COLONS and not line.startswith("#")
        ],
    }


if __name__ == "__main__":
    json.dump(read_state(Path(sys.argv[1])), sys.stdout)
