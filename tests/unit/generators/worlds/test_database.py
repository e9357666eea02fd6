"""The databases of visits: copies of one, and the same bytes wherever they and their pages are made."""

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from support.worlds.made_world import SHOP, shop_rows

from generators.worlds.database import (
    add_row,
    change_row,
    delete_row,
    make_database,
    open_database,
    read_tables,
)

ROOT = Path(__file__).parents[4]

SCRIPT = """
import asyncio, hashlib, sys
sys.path[:0] = ["tests"]
import httpx2
from support.worlds.made_world import SHOP, shop_rows
from generators.worlds.database import make_database
from generators.worlds.server import WorldServer

async def main():
    database = make_database(SHOP, shop_rows())
    digest = hashlib.sha256(database)
    server = WorldServer("visit")
    server.open(SHOP, database, "one")
    http = httpx2.AsyncClient(
        transport=httpx2.ASGITransport(server), base_url=SHOP.origin, cookies={"visit": "one"}
    )
    for path in ("/", "/orders?status=Open", "/purchase/1", "/product/1/edit", "/_/style.css"):
        digest.update((await http.get(path)).content)
    await http.post("/product/1/edit", data={"name": "x"})
    print(digest.hexdigest())

asyncio.run(main())
"""


def test_a_database_holds_the_rows_and_a_copy_changes_alone() -> None:
    data = make_database(SHOP, shop_rows())
    product = SHOP.entity("product")
    with closing(open_database(data)) as one, closing(open_database(data)) as other:
        assert read_tables(one, SHOP) == shop_rows()
        change_row(one, product, 1, {"name": "Lamp, tiny"})
        delete_row(one, product, 12)
        assert add_row(one, product, {**shop_rows()["product"][0], "name": "Vase"}) == 12

        assert read_tables(one, SHOP) != shop_rows()
        assert read_tables(other, SHOP) == shop_rows()


def test_the_first_row_of_an_empty_table_is_the_first() -> None:
    customer = SHOP.entity("customer")
    with closing(open_database(make_database(SHOP, {**shop_rows(), "customer": []}))) as database:
        assert add_row(database, customer, shop_rows()["customer"][4]) == 1


def test_a_world_is_the_same_bytes_in_every_process() -> None:
    digests = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed, "TZ": zone},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed, zone in (("1", "UTC"), ("2", "Asia/Tokyo"))
    }

    assert len(digests) == 1
