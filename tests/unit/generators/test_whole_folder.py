"""Where the user's data is kept."""

from pathlib import Path

from generators.data_folder import data_folder


def test_the_folder_follows_the_users_own_choice() -> None:
    assert data_folder({"XDG_DATA_HOME": "/x", "HOME": "/h"}) == Path("/x/stepmill/applications")
    assert data_folder({"HOME": "/h"}) == Path("/h/.local/share/stepmill/applications")
