"""`stepmill engine check` and `plan` as a user runs them, against an engine in its own process."""

import json

import pytest
from support.runs.commands import called
from support.servers.engine_servers import scripted_engine


def _checked(*flags: str, dialect: str = "holotron", json_too: bool = True) -> tuple[int, str, str]:
    with scripted_engine(*flags) as (_, url):
        said = called(
            *("engine", "check", url, "--dialect", dialect), *(["--json"] if json_too else [])
        )
    return said.code, said.out, said.err


def test_a_fit_endpoint_is_shown_line_by_line() -> None:
    code, out, err = _checked(json_too=False)

    assert code == 0, err
    lines = out.splitlines()
    assert lines[0].split() == ["model", "fit", "scripted", "on", "scripted", "1.1.0"]
    assert lines[-1].startswith("coordinates     fit    0-1000: 0.0% of the diagonal off")
    assert "times           poor   none in the reply" in lines
    assert any("→ " in line and "--enable-per-request-metrics" in line for line in lines)
    assert "asking: coordinates" in err
    assert "Traceback" not in err


def test_an_endpoint_of_another_convention_is_unfit_and_programs_are_told_so() -> None:
    code, out, err = _checked("--coordinates", "0-1", dialect="holo2")

    assert code == 1, err
    told = json.loads(out)
    assert told["fit"] is False
    assert told["dialect"] == "holo2"
    by_name = {line["name"]: line for line in told["lines"]}
    assert by_name["coordinates"]["fitness"] == "unfit"
    assert by_name["coordinates"]["found"].startswith("0-1: ")
    assert by_name["structure"]["fitness"] == "fit"
    assert by_name["template"]["fitness"] == "fit"
    assert "the picture stands inside the observation" in by_name["template"]["found"]


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (("http://127.0.0.1:9/v1",), "no engine answers: http://127.0.0.1:9/v1"),
        (("ftp://127.0.0.1/",), "is not an HTTP URL"),
        (("http://127.0.0.1:9/v1", "--dialect", "holotrn"), "did you mean 'holotron'?"),
        (("http://127.0.0.1:9/v1", "--dialect", "claude"), "read and written only"),
        (("http://127.0.0.1:9/v1", "--modl", "x"), "did you mean '--model'?"),
        ((), "required: URL"),
    ],
)
def test_what_cannot_be_asked_is_refused(argv: tuple[str, ...], told: str) -> None:
    said = called("engine", "check", *argv)

    assert said.code == 2
    assert told in said.err
    assert "Traceback" not in said.err
    assert said.out == ""


def test_a_model_that_is_not_served_is_refused_with_those_that_are() -> None:
    with scripted_engine("--model", "holo") as (_, url):
        said = called("engine", "check", url, "--model", "halo")

    assert said.code == 2
    assert "does not serve the model 'halo' but holo" in said.err


def test_a_plan_shows_viewports_by_tokens() -> None:
    shown = called("engine", "plan", "--dialect", "holotron")
    told = json.loads(called("engine", "plan", "--json").out)

    assert shown.code == 0, shown.err
    assert "1024×1024*=  1024×1024  1024×1024    1280     1.00" in shown.out
    assert told["dialect"] == "holotron"
    tokens = [row["image_tokens"] for row in told["rows"]]
    assert tokens == sorted(tokens)
    assert [row["width"] for row in told["rows"] if row["default"]] == [1_024]


@pytest.mark.parametrize(
    ("settings", "own"),
    [
        (("browser.picture_side=[700,896]",), (896, 896)),
        (("browser.viewport=[400,300]", "browser.device_scale_factor=2.0"), (800, 600)),
        (("policy.name=teacher",), (480, 480)),
    ],
    ids=lambda one: one[0] if isinstance(one[0], str) else "",
)
def test_a_plan_marks_the_largest_picture_of_the_configuration(
    settings: tuple[str, ...], own: tuple[int, int]
) -> None:
    said = called("engine", "plan", "--json", *(f"--set={one}" for one in settings))

    assert said.code == 0, said.err
    marked = [row for row in json.loads(said.out)["rows"] if row["default"]]
    assert [(row["width"], row["height"]) for row in marked] == [own]


def test_a_plan_for_no_dialect_is_refused() -> None:
    said = called("engine", "plan", "--dialect", "holo7")

    assert said.code == 2
    assert "there is no dialect 'holo7'" in said.err
