"""Writes a value and its bound with enough digits that the two differ, since a message compares them.

A share of 0.0104 % beside a bound of 0.01 % would otherwise read as if the bound were kept.
"""

MAX_DIGITS = 17
"""Largest number of digits written; what still reads alike is as good as equal."""


def write_apart(value: float, bound: float, form: str) -> tuple[str, str]:
    """Return two numbers in a format such as `.2%`, with more digits than it has where they would read alike.

    Numbers that no digit tells apart are written as the format says.
    """
    first, kind = int(form[1:-1]), form[-1]
    written = [
        (f"{value:.{digits}{kind}}", f"{bound:.{digits}{kind}}")
        for digits in range(first, MAX_DIGITS + 1)
    ]
    return next((pair for pair in written if pair[0] != pair[1]), written[0])
