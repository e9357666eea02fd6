from pathlib import Path

from support.inputs.offered_parts import installed, offer

from generators.sites import miniwob, worlds
from generators.sites.gateway import Gateway
from generators.sites.registry import SITES

CODE = """
stepmill_api = 1

def shop(gateway):
    return gateway
"""


def test_a_site_that_ships_and_one_of_a_plugin_are_made_alike(tmp_path: Path) -> None:
    gateway = Gateway()
    with installed(tmp_path):
        parts = {"stepmill.sites:shop": "own_site:shop"}
        offer(tmp_path, "own-site", parts, modules={"own_site": CODE})

        assert SITES.names == (miniwob.NAME, worlds.NAME, "shop")
        assert SITES.get(miniwob.NAME)(gateway).name == miniwob.NAME
        made: object = SITES.get("shop")(gateway)
        assert made is gateway
