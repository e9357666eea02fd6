"""Which applications the tests beside this file are about: all, or the one of `--application`."""

import os

import pytest
from source_tree import ROOT

from flows.job.config_loader import Sources, load
from stepmill_applications.parts import APPLICATIONS

SHIPPED = tuple(load(Sources(config=str(ROOT / "configs" / "apps.toml")), os.environ).sites)
"""Every application of the shipped run, by its site's name."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--application", choices=SHIPPED, help="the one to test; else all are")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test each application that it takes: `shipped`, any, or `drawn`, one whose tasks are drawn."""
    asked = metafunc.config.getoption("--application")
    for fixture, names in (("shipped", SHIPPED), ("drawn", tuple(APPLICATIONS))):
        if fixture in metafunc.fixturenames:
            chosen = [name for name in names if asked in (None, name)]
            metafunc.parametrize(fixture, chosen, scope="module")
