"""Whether a token may publish to a repository, by what the Hub says about its owner.

Checked before any work: a night of rollouts should not end at a token that can only read. What the
Hub does not state is taken as allowed; the commit decides in the end.
"""

from collections.abc import Iterator, Mapping

from schemas.errors import BadConfig

_WRITE = "repo.write"


def refuse_read_only(who: Mapping[str, object], repository: str, address: str) -> None:
    """Refuse a token that cannot write to `repository`.

    Raises:
        BadConfig: it cannot; the error says which token can.
    """
    owner = repository.partition("/")[0]
    name = who.get("name")
    mine = {name, *(org.get("name") for org in _tables(who.get("orgs")))}
    if who.get("type") == "user" and owner not in mine:
        raise BadConfig(
            f"{address}: the token is {name}'s, who does not belong to {owner}; "
            "give a token of somebody who does, or another name"
        )
    token = _table(_table(who.get("auth")).get("accessToken"))
    if token.get("role") == "read":
        raise BadConfig(
            f"{address}: the token can only read; set HF_TOKEN to one with write access"
        )
    grants = token.get("fineGrained")
    if token.get("role") == "fineGrained" and not _grants(_table(grants), owner, repository):
        raise BadConfig(
            f"{address}: the token may not write there; grant it write access to the contents of "
            f"{owner}'s repositories, or of {repository}"
        )


def _grants(grants: Mapping[str, object], owner: str, repository: str) -> bool:
    """Return whether a fine-grained token may write to the owner's repositories, or to this one."""
    scoped = grants.get("scoped")
    if not isinstance(scoped, list):
        return True
    entities = [
        _table(scope.get("entity"))
        for scope in _tables(scoped)
        if _WRITE in str(scope.get("permissions"))
    ]
    named = {str(entity.get("name")) for entity in entities}
    return bool(named & {owner, repository, f"datasets/{repository}"})


def _tables(value: object) -> Iterator[Mapping[str, object]]:
    for item in value if isinstance(value, list) else ():
        yield _table(item)


def _table(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}
