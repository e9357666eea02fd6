"""A page's own code is named, and nothing else."""

import base64
import hashlib

from generators.sites.own_code import own_code_policy


def named(code: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()}'"


def test_scripts_handlers_and_addresses_of_a_document_are_named() -> None:
    policy = own_code_policy(
        "<script src='a.js'></script><script>\r\nlet a = '<b>';\r\n</script>"
        '<p onclick="go(&quot;x&quot;)">say onclick="no()"</p><a href="javascript:void 0">b</a>'
        '<a href="/javascript:">c</a>'
    )

    assert policy.split()[:3] == ["script-src", "'self'", "'unsafe-hashes'"]
    pieces = ("", "\nlet a = '<b>';\n", 'go("x")', "javascript:void 0")
    assert set(policy.split()[3:]) == {named(piece) for piece in pieces}


def test_what_a_browser_runs_is_named_however_it_is_written() -> None:
    policy = own_code_policy(
        "</script><button disabled onclick='go()'>x</button>"
        "<script>a = '</b>';\rb()</script><p>c()</p>"
    )

    pieces = ("go()", "a = '</b>';\nb()")
    assert set(policy.split()[3:]) == {named(piece) for piece in pieces}


def test_what_a_site_s_scripts_write_is_named_where_the_site_says_so() -> None:
    assert own_code_policy("<p>", handlers=("a()",)) == (
        f"script-src 'self' 'unsafe-hashes' {named('a()')}"
    )
    assert "'unsafe-eval'" in own_code_policy("<p>", evaluates=True).split()
