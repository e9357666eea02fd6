"""A value and its bound are written alike only where no digit can tell them apart, or where they are equal."""

import pytest

from schemas.figures import write_apart

WRITTEN = {
    (0.000104, 0.0001, ".2%"): ("0.0104%", "0.0100%"),
    (0.00016, 0.0001, ".2%"): ("0.02%", "0.01%"),
    (2.04, 2.0, ".1f"): ("2.04", "2.00"),
    (0.9999999, 1.0, ".6g"): ("0.9999999", "1"),
    (0.5, 1.0, ".6g"): ("0.5", "1"),
    (1.0, 1.0, ".6g"): ("1", "1"),
    (1e-30, 0.0, ".2%"): ("0.00%", "0.00%"),
    (float("nan"), float("nan"), ".1f"): ("nan", "nan"),
}


@pytest.mark.parametrize(("numbers", "texts"), WRITTEN.items())
def test_only_numbers_that_would_read_alike_get_more_digits(
    numbers: tuple[float, float, str], texts: tuple[str, str]
) -> None:
    assert write_apart(*numbers) == texts
