"""Each command that takes a run says at which places it may be."""

import pytest

from flows.cli.parser import COMMANDS, build_parser

TAKE_A_RUN = ("show", "verify", "audit", "compact", "replay", "export", "publish")


@pytest.mark.parametrize("command", TAKE_A_RUN)
def test_its_help_names_the_places_of_a_run(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command in COMMANDS
    with pytest.raises(SystemExit):
        build_parser().parse_args([command, "--help"])

    said = " ".join(capsys.readouterr().out.split())
    assert "a folder, file://… or s3://…" in said
