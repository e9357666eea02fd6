"""The databases of visits: copies of one."""

from contextlib import closing

from support.worlds.made_world import SHOP, shop_rows

from generators.worlds.state.database import (
    add_row,
    change_row,
    delete_row,
    make_database,
    open_database,
    read_tables,
)


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
