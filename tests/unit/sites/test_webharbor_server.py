"""The bookshop obeys WebHarbor's contract: pages behind a login, a control plane, a SQLite file."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from sites import bookshop
from sites.bookshop_site import Shop
from sites.bookshop_tasks import tasks
from sites.bookshop_visit import session_cookie
from sites.client import Customer, call
from sites.serving import Fault, Misbehaviour, Served
from sites.tasks import SiteTask, delta, judge
from sites.webharbor import SITE, Control, Files

SEED = 1
ALICE = {"Cookie": f"session={session_cookie(1)}"}


@dataclass
class Harbour:
    url: str
    control: str
    files: Files

    def reset(self) -> None:
        assert call(f"{self.control}/reset/{SITE}", "POST").status == 200


def _serve(folder: Path, fault: Fault | None = None) -> Iterator[Harbour]:
    files = Files(folder, SEED, Misbehaviour(fault))
    shop = Shop(files.instance, leaks=fault is Fault.LEAKS)
    with Served(shop.routes) as site, Served(Control(files).routes) as control:
        yield Harbour(site.url, control.url, files)


@pytest.fixture
def harbour(tmp_path: Path) -> Iterator[Harbour]:
    yield from _serve(tmp_path)


@pytest.fixture(scope="module")
def solved_on(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Harbour]:
    yield from _serve(tmp_path_factory.mktemp("solved"))


def _all_tasks(folder: Path) -> dict[str, SiteTask]:
    path = folder / "tasks.db"
    path.unlink(missing_ok=True)
    bookshop.build(path, SEED)
    return {task.template: task for task in tasks(SEED, bookshop.read(path))}


TEMPLATES = (
    *("add", "add-two", "more", "empty", "order", "order-more", "cancel"),
    *("wish", "unwish", "move", "price", "year", "review", "rename"),
)


@pytest.mark.parametrize("template", TEMPLATES)
def test_the_reference_solves_the_task_and_changes_nothing_else(
    solved_on: Harbour, tmp_path: Path, template: str
) -> None:
    task = _all_tasks(tmp_path)[template]
    solved_on.reset()
    customer = Customer(solved_on.url, task.start)

    for action in task.reference:
        customer.do(action)

    before, after = bookshop.read(solved_on.files.seed), bookshop.read(solved_on.files.instance)
    assert all(judge(task.changes, before, after).values()), list(delta(before, after))
    assert task.answer is None or task.answer in customer.text


def test_the_templates_are_all_that_there_are(tmp_path: Path) -> None:
    assert set(_all_tasks(tmp_path)) == set(TEMPLATES)


def test_a_reset_is_the_seed_byte_for_byte(harbour: Harbour) -> None:
    Customer(harbour.url, "/login").do({"do": "click", "selector": "#home"})
    call(f"{harbour.url}/basket", headers=ALICE)
    _add(harbour)
    assert harbour.files.instance.read_bytes() != harbour.files.seed.read_bytes()

    answer = call(f"{harbour.control}/reset/{SITE}", "POST")

    assert (answer.json["site"], answer.json["ready"]) == (SITE, True)
    assert harbour.files.instance.read_bytes() == harbour.files.seed.read_bytes()


def _token(html: str) -> str:
    return html.partition('name="csrf_token" value="')[2].partition('"')[0]


def _add(harbour: Harbour, book: int = 1) -> int:
    """Put a book into Alice's basket."""
    token = _token(call(f"{harbour.url}/book/{book}", headers=ALICE).text)
    path = f"{harbour.url}/book/{book}/basket"
    return call(path, "POST", body=f"csrf_token={token}".encode(), headers=ALICE).status


def test_the_seed_decides_the_bytes(tmp_path: Path) -> None:
    written = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        bookshop.build(tmp_path / name, seed)
        written.append((tmp_path / name).read_bytes())

    assert written[0] == written[1] != written[2]


def test_two_pages_differ_in_nothing_but_the_tokens(harbour: Harbour) -> None:
    one, other = (call(f"{harbour.url}/book/1", headers=ALICE).text for _ in range(2))
    kept = dict.fromkeys(part.partition('"')[0] for part in one.split('csrf_token" value="')[1:])
    changed = [part.partition('"')[0] for part in other.split('csrf_token" value="')[1:]]

    assert one != other
    for mine, theirs in zip(kept, changed, strict=False):
        one = one.replace(mine, "token")
        other = other.replace(theirs, "token")
    assert one == other


@pytest.mark.parametrize("token", ["", "abc.def"])
def test_a_form_without_its_token_is_refused(harbour: Harbour, token: str) -> None:
    path = f"{harbour.url}/book/1/basket"

    assert call(path, "POST", body=f"csrf_token={token}".encode(), headers=ALICE).status == 400
    assert harbour.files.instance.read_bytes() == harbour.files.seed.read_bytes()


def test_a_token_of_another_customer_is_refused(harbour: Harbour) -> None:
    token = _token(call(f"{harbour.url}/book/1").text)
    path = f"{harbour.url}/book/1/basket"

    assert call(path, "POST", body=f"csrf_token={token}".encode(), headers=ALICE).status == 400


@pytest.mark.parametrize("cookie", ["", "1", "1.forged", "2." + session_cookie(1)[2:]])
def test_nobody_sees_a_basket_without_a_genuine_cookie(harbour: Harbour, cookie: str) -> None:
    answer = call(f"{harbour.url}/basket", headers={"Cookie": f"session={cookie}"})

    assert (answer.status, answer.headers["Location"]) == (303, "/login?next=/basket")


def test_a_wrong_password_is_said_and_logs_nobody_in(harbour: Harbour) -> None:
    customer = Customer(harbour.url, "/login")
    customer.do({"do": "type", "selector": "#email", "text": "alice.j@test.com"})
    customer.do({"do": "type", "selector": "#password", "text": "wrong"})
    customer.do({"do": "click", "selector": "#enter"})

    assert "Email or password is wrong." in customer.text
    assert "login" in customer.page.elements


def test_a_stopped_process_leaves_no_folder_behind(tmp_path: Path) -> None:
    command = [sys.executable, str(Path(__file__).parents[2] / "sites"), "webharbor"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}

    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        site, control = (process.stdout.readline().strip() for _ in range(2))
        assert call(f"{site}/").status == call(f"{control}/health").status == 200
        assert [*tmp_path.iterdir()]
        process.terminate()

    assert process.returncode == 0
    assert [*tmp_path.iterdir()] == []


def test_an_unknown_site_and_a_get_are_not_reset(harbour: Harbour) -> None:
    unknown = call(f"{harbour.control}/reset/amazon", "POST")

    assert (unknown.status, unknown.json["valid_sites"]) == (404, [SITE])
    assert call(f"{harbour.control}/reset/{SITE}").status == 405


def test_the_control_plane_takes_only_its_token_if_it_has_one(harbour: Harbour) -> None:
    with Served(Control(harbour.files, "t" * 32).routes) as control:
        path = f"{control.url}/reset/{SITE}"
        given = {"Authorization": f"Bearer {'t' * 32}"}

        assert call(path, "POST").status == 401
        assert call(path, "POST", headers=given).status == 200


def test_with_leaks_a_later_visit_finds_the_basket_of_the_one_before(tmp_path: Path) -> None:
    for harbour in _serve(tmp_path, Fault.LEAKS):
        _add(harbour)
        harbour.reset()
        assert harbour.files.instance.read_bytes() == harbour.files.seed.read_bytes()

        call(f"{harbour.url}/")

        assert bookshop.read(harbour.files.instance) != bookshop.read(harbour.files.seed)


def test_half_a_reset_leaves_the_orders(tmp_path: Path) -> None:
    for harbour in _serve(tmp_path, Fault.HALF_RESET):
        token = _token(call(f"{harbour.url}/orders", headers=ALICE).text)
        path = f"{harbour.url}/orders/2/cancel"
        call(path, "POST", body=f"csrf_token={token}".encode(), headers=ALICE)

        harbour.reset()

        found = delta(bookshop.read(harbour.files.seed), bookshop.read(harbour.files.instance))
        assert [(kind, table) for kind, table, *_ in found] == [("changed", "orders")]
