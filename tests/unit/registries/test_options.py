import pytest
from pydantic import BaseModel, Field, JsonValue

from registries.options import options_of, read_options
from schemas.errors import BadConfig


class Options(BaseModel):
    clicks: int = Field(default=3, ge=1)
    word: str = ""


def read(options: dict[str, JsonValue]) -> Options:
    return read_options(Options, options, key="policy.options", name="centre")


def test_options_that_are_left_out_have_their_defaults() -> None:
    assert read({"clicks": 2}) == Options(clicks=2, word="")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"click": 2},
            "has no option 'click'; did you mean 'clicks'?; it has clicks, word",
        ),
        (
            {"clicks": 0},
            ".clicks: Input should be greater than or equal to 1, but is 0",
        ),
        ({"word": 1}, ".word: Input should be a valid string, but is 1"),
    ],
)
def test_an_option_that_the_model_does_not_take_is_refused(
    options: dict[str, JsonValue], said: str
) -> None:
    with pytest.raises(BadConfig) as refused:
        read(options)
    assert str(refused.value).startswith("policy.options")
    assert str(refused.value).endswith(said)


def test_the_model_is_the_class_inside_the_part() -> None:
    class Without:
        pass

    class With(Without):
        Options = Options

    class Wrong:
        Options = 3

    assert options_of(Without) is None
    assert options_of(With) is Options
    with pytest.raises(TypeError, match="no pydantic model"):
        options_of(Wrong)
