"""The login of a task's user: what the application's file says is done, and its cookies and storage go to the session.

A failure tells which step failed and never a name, a password, a token or a cookie.
"""

from collections.abc import Iterator, Mapping
from http.cookies import Morsel
from urllib.parse import urlsplit

from generators.browser.protocol import Cookie, SignIn
from generators.sites.application.server_handle import Server
from generators.sites.application.steps import Answer, Findings
from generators.sites.application.storage_state import StorageState, read_storage_state
from generators.sites.application.values import Values
from schemas.configuration.application import Application
from schemas.configuration.application_parts import Login, Proof
from schemas.configuration.requests import Request
from schemas.errors import FailureKind, RolloutFailure
from schemas.tasks.task import Task

_DONE = 200


def user_of(application: Application, task: Task, values: Values) -> Values:
    """Return these values together with those of the task's user.

    Raises:
        RolloutFailure: the file does not describe this user, or a variable is not set.
    """
    users = application.users
    if task.user is not None and task.user not in users:
        there = ", ".join(users) or "none"
        raise RolloutFailure(
            FailureKind.SITE, f"there is no user '{task.user}' (there are: {there})"
        )
    if not users:
        return values
    return values.with_group("user", values.fill_all(users[task.user or next(iter(users))]))


async def log_in(application: Application, server: Server, values: Values) -> SignIn:
    """Log a visit's user in; return the cookies and the storage of the session.

    Raises:
        RolloutFailure: a step fails, or the login did not work.
    """
    login = application.login
    if login is None:
        return SignIn()
    state = StorageState()
    if login.storage_state is not None:
        state = read_storage_state(application, values.fill(login.storage_state))
    findings = Findings()
    if login.request is not None:
        answer = await server.ask(login.request, values, "login")
        findings.jar.take(answer.cookies)
    elif login.steps:
        answer, findings = await server.take_steps(login.steps, values, "login")
        _check_form(answer, login)
    cookies = [*state.cookies, *_cookies(application, findings)]
    stated = values.fill_all(login.cookies)
    cookies += [
        Cookie(url=application.origin, name=name, value=value) for name, value in stated.items()
    ]
    if login.proof is not None:
        await _prove(login.proof, server, values, cookies)
    storage = dict(state.storage)
    if login.storage:
        own = values.fill_all(login.storage)
        storage[application.origin] = {**storage.get(application.origin, {}), **own}
    return SignIn(cookies=tuple(cookies), storage=storage)


def _check_form(answer: Answer, login: Login) -> None:
    """Check that the last step's answer does not ask for a password again."""
    step = login.steps[-1]
    asks = step.form is not None and answer.status == _DONE
    if asks and login.proof is None and any(one.kind == "password" for one in answer.fields):
        raise RolloutFailure(
            FailureKind.SITE,
            f"login: {step.method} {step.path} answered 200 with a form that asks for a password: the user was not "
            "logged in; correct its values, or state login.proof if this page always has such a form",
        )


async def _prove(proof: Proof, server: Server, values: Values, cookies: list[Cookie]) -> None:
    """Look whether a page that only users see is there."""
    request = Request(method="GET", path=proof.path)
    header = "; ".join(f"{one.name}={one.value}" for one in cookies)
    sent: Mapping[str, str] = {"Cookie": header} if header else {}
    answer = await server.ask(request, values, "login.proof", cookies=sent)
    if answer.status != _DONE or values.fill(proof.contains) not in answer.text:
        raise RolloutFailure(
            FailureKind.SITE,
            f"login.proof: GET {proof.path} answered {answer.status} without the text of login.proof.contains: the "
            "user was not logged in",
        )


def _cookies(application: Application, findings: Findings) -> Iterator[Cookie]:
    """Yield the cookies that the server set, for the origins that they are for."""
    for one in findings.jar.cookies:
        domain = str(one["domain"]).lstrip(".").lower()
        if domain and not _is_within(urlsplit(application.origin).hostname or "", domain):
            raise RolloutFailure(
                FailureKind.SITE,
                f"login: the cookie '{one.key}' is for '{domain}', which {application.origin} is not in",
            )
        yield _cookie(application.origin, one, domain)


def _cookie(origin: str, one: Morsel[str], domain: str) -> Cookie:
    return Cookie(
        url=origin,
        name=one.key,
        value=one.coded_value,
        http_only=bool(one["httponly"]),
        domain=domain,
    )


def _is_within(host: str, domain: str) -> bool:
    return host == domain or host.endswith(f".{domain}")
