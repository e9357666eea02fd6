"""Wrong configurations: files, `--set`, variables of the environment, scripts, and files of applications."""

import json

from support.inputs.bad_input import GENERATE, BadInput, Inputs, file, setting

_DEEP = "[" * 5_000 + "]" * 5_000


def _file(text: str | bytes, told: str, *more: str) -> BadInput:
    argv = ("generate", "--no-prefect", "--config", "run.toml", *more)
    return BadInput(argv, told, file("run.toml", text))


FILES: Inputs = {
    "a configuration that is not there": BadInput(
        ("generate", "--config", "no.toml"), "no.toml: cannot be read"
    ),
    "a configuration that is a folder": BadInput(
        ("generate", "--config", "a"), "a: cannot be read", file("a/b", "")
    ),
    "a configuration too long by name": BadInput(
        ("generate", "--config", "a" * 300), "File name too long"
    ),
    "a configuration that is a device": BadInput(("generate", "--config", "/dev/zero"), "at most"),
    "a configuration of bytes": _file(bytes(range(256)), "invalid TOML"),
    "a configuration of half a character": _file(b'[run]\nname="\xff"', "is not UTF-8"),
    "a configuration of UTF-16": _file("[run]".encode("utf-16"), "is not UTF-8"),
    "a configuration that is JSON": _file('{"run": 1}', "invalid TOML"),
    "a configuration of wrong syntax": _file("a = = 1", "line 1"),
    "a configuration with a key twice": _file("[run]\n[run]", "line 2"),
    "a configuration of brackets": _file(f"a={_DEEP}", "nested too deep"),
    "a configuration of tables": _file("a=" + "{a=" * 900 + "1" + "}" * 900, "nested too deep"),
    "a configuration of dots": _file(".".join("a" * 3_000) + " = 1", "more than 16 tables"),
    "a configuration of digits": _file(f"[run]\nseed={'9' * 5_000}", "too many digits"),
    "a configuration of hexadecimal digits": _file(f"[run]\nseed=0x{'f' * 5_000}", "too many dig"),
    "a configuration of a date": _file("[run]\nname = 2020-01-01", "no key is a date"),
    "a configuration of a text too long": _file(f'[run]\nname="{"a" * 200_000}"', "characters"),
    "a configuration of a key too long": _file(f"{'a' * 200_000} = 1", "characters"),
    "a configuration of too many values": _file(
        f"[tasks]\ninclude=[{'1,' * 30_000}]", "more than 20,000 values"
    ),
    "a configuration too large": _file("#" * (4 * 2**20 + 1), "at most 4,194,304 bytes"),
    "a key of two lines": _file('"a\\nstepmill: done" = 1', "unknown key 'a stepmill: done'"),
    "a key of controls": _file('"\\u001b]0;x\\u0007" = 1', "unknown key"),
    "a key of another direction": _file('"\\u202egnp.exe" = 1', "unknown key"),
    "a section of two lines": _file('[run."a\\nb"]\nc=1', "unknown key 'run.a b'"),
    "a value of two lines": _file('[browser]\nsessions = "a\\nb"', "browser.sessions = 'a\\nb'"),
    "a section that is a list": _file("run = [1]", "should be a table"),
    "a section that nobody knows": _file("[brower]\nsessions = 1", "did you mean 'browser"),
    "a section that was": _file("[scale]\nworkers = 1", "delete it"),
    "an empty key": _file('"" = 1', "unknown key ''"),
}
"""Files of a configuration."""

_SETTINGS = {
    "no value": ("browser.sessions", "expected KEY=VALUE"),
    "no key": ("=1", "expected a key as section.key"),
    "dots for a key": ("..=1", "expected a key as section.key"),
    "a key that nobody knows": ("browser.sesions=1", "did you mean 'browser.sessions'"),
    "a key of controls": ("\x1b]0;x\x07=1", "unknown key"),
    "a key of two lines": ("run.a\nb=1", "unknown key 'run.a b'"),
    "a key too long": ("a" * 100_000 + "=1", "known here: run, sites"),
    "a key too deep": (".".join("a" * 2_000) + "=1", "more than 16 tables"),
    "a table where a value is": ("browser.sessions.x=1", "browser.sessions"),
    "a value where a table is": ("browser=1", "should be a table"),
    "a text for a number": ("browser.sessions='5'", "integer"),
    "a truth for a number": ("browser.sessions=true", "integer"),
    "a fraction for a number": ("browser.sessions=1.5", "integer"),
    "a number below its range": ("browser.sessions=-1", "greater than or equal to 1"),
    "not a number": ("accept.min_reward=nan", "finite"),
    "infinity": ("limits.seconds=inf", "finite"),
    "a date": ("run.name=2020-01-01", "put text in quotes"),
    "brackets": ("run.name=" + "[" * 3_000 + "]" * 3_000, "nested too deep"),
    "digits": ("run.seed=" + "9" * 4_400, "too many digits"),
    "a seed too large": (f"run.seed={2**63}", "9223372036854775807"),
    "a list for a text": ("run.name=['a']", "string"),
    "a text for a list": ("tasks.include='*'", "should be a list"),
    "a list of numbers for texts": ("tasks.include=[1]", "tasks.include.0"),
    "a glob that is no glob": ("tasks.include=['[']", "'['"),
    "a glob too long": (f"tasks.include=['{'[' * 50_000}']", "a glob of more than 200"),
    "a glob of two lines": ('tasks.include=["a\\nb"]', "'a b' matches no template"),
    "a glob of controls": ('tasks.include=["\\u001b[31m"]', "matches no template"),
    "everything left out": ("tasks.exclude=['*']", "leaves no template"),
    "seeds from last to first": ("tasks.seeds=[4,0]", "should not be larger than the last"),
    "seeds of three": ("tasks.seeds=[0,1,2]", "tasks.seeds"),
    "more seeds than a run has": (f"tasks.seeds=[0,{2**63 - 1}]", "split them over several"),
    "a verifier that nobody knows": ("verify.verifiers=['outcom']", "did you mean 'outcome'"),
    "a verifier of two lines": ('verify.verifiers=["a\\nb"]', "no verifier 'a b'"),
    "a verifier twice": ("verify.verifiers=['seen','seen']", "'seen' twice"),
    "a rule of a verifier that nobody knows": ("accept.passed=['x']", "no verifier 'x'"),
    "a score beyond all": ("accept.min_scores={seen=2}", "less than or equal to 1"),
    "a licence of two lines": ('publish.license="mit\\nx: y"', "publish.license"),
    "a licence that nobody knows": ("publish={to=['d'],license='cc-by-40'}", "cc-by-4.0"),
    "a policy of controls": ('policy.name="\\u001b[31mx"', "policy.name"),
    "a policy without an engine": ("policy.name=model", "engine.kind"),
    "a script that is not stated": ("policy.name=scripted", "policy.script"),
    "a dialect that nobody knows": ("publish={to=['d'],dialect='holotrn'}", "no dialect 'holotrn'"),
    "an application that is not there": ("sites.shop=shop.toml", "shop.toml: cannot be read"),
    "an application of two lines": ('sites={"a\\nb"="x.toml"}', "x.toml: cannot be read"),
}

SETTINGS: Inputs = {
    **{f"a setting of {name}": setting(text, told) for name, (text, told) in _SETTINGS.items()},
    **{
        f"a variable of {name}": BadInput(("generate", "--no-prefect"), told, environ=environ)
        for name, (environ, told) in {
            "a key that nobody knows": ({"STEPMILL_RUN__NAEM": "x"}, "'run.naem'"),
            "no key": ({"STEPMILL___": "1"}, "STEPMILL___"),
            "a value of a wrong type": ({"STEPMILL_BROWSER__SESSIONS": "many"}, "SESSIONS"),
            "bytes": ({"STEPMILL_RUN__NAME": "\udcff"}, "valid Unicode"),
            "a key of two lines": ({"STEPMILL_RUN__A\nB": "1"}, "'run.a b'"),
            "a browser that is not there": ({"STEPMILL_CHROMIUM": "nowhere"}, "STEPMILL_CHROMIUM"),
        }.items()
    },
}
"""Values given one by one."""


def _script(text: str | bytes, told: str) -> BadInput:
    argv = (*GENERATE, "--set=policy.name=scripted", "--set=policy.script=script.json")
    return BadInput(argv, told, file("script.json", text))


def _action(**fields: object) -> str:
    return json.dumps({"click-test": [fields]})


SCRIPTS: Inputs = {
    "a script that is not there": setting(
        "policies=[{name='scripted', script='no.json'}]", "no.json: the script cannot be read"
    ),
    "a script that is a device": setting(
        "policies=[{name='scripted', script='/dev/zero'}]", "an ordinary file"
    ),
    "a script too long by name": setting(
        f"policies=[{{name='scripted', script='{'a' * 300}'}}]", "File name too long"
    ),
    "an empty script": _script("", "invalid JSON"),
    "a script of bytes": _script(b"\xff\xfe", "script.json"),
    "a script of wrong syntax": _script("{", "script.json:1:2"),
    "a script that is a list": _script("[]", "a script is an object"),
    "a script of brackets": _script("[" * 200_000, "nested too deep"),
    "a script of digits": _script(f'{{"click-test": [{"9" * 5_000}]}}', "too many digits"),
    "a script of a text for actions": _script('{"click-test": "x"}', "click-test: a script is"),
    "a script of half a character": _script(_action(type="type", text="\ud800"), "action 0"),
    "a script of an action of no kind": _script(_action(x=1), "action 0"),
    "a script of an action that nobody knows": _script(_action(type="clik"), "clik"),
    "a script of an action of two lines": _script(_action(type="a\nb"), "action 0"),
    "a script of a template of two lines": _script('{"a\\nb": [{}]}', "a b, action 0"),
    "a script of a point nowhere": _script('{"a":[{"type":"click","x":1e999,"y":1}]}', "finite"),
    "a script of a long wait": _script(_action(type="wait", ms=10**9), "ms"),
    "a script of a key too much": _script(_action(type="answer", text="", why="x"), "why"),
    "a script too large": _script(b" " * (64 * 2**20 + 1), "at most"),
}
"""Scripts of actions."""


def _site(text: str, told: str) -> BadInput:
    return BadInput((*GENERATE, "--set=sites.shop=shop.toml"), told, file("shop.toml", text))


_SHOP = """origin = "http://shop.localhost"
start = { command = ["true"] }
state = { request = { method = "GET", path = "/state" } }
"""

APPLICATIONS: Inputs = {
    "an application of nothing": _site(_SHOP.partition("\n")[2], "sites.shop.origin is missing"),
    "an application of wrong syntax": _site("=", "shop.toml: invalid TOML"),
    "an application of a key that nobody knows": _site(_SHOP + "orign = 1", "sites.shop.orign"),
    "an application with a home": _site('home = "/"', "unknown key 'home'"),
    "an application on an address": _site(
        _SHOP.replace("shop.localhost", "127.0.0.1"), "a name without a port"
    ),
    "an application of no origin": _site(
        _SHOP.replace("http://shop.localhost", "http://[::1"), "a name without a port"
    ),
    "an application of two lines": _site(
        _SHOP.replace("shop.localhost", "a\\nb"), "a name without a port"
    ),
    "an application that is started in no way": _site(
        _SHOP.replace('command = ["true"]', ""), "state either a command"
    ),
    "an application with a secret": _site(
        _SHOP + 'login = { cookies = { sid = "0123" } }', "is written into the file"
    ),
    "an application without a state": _site(
        _SHOP.replace('request = { method = "GET", path = "/state" }', ""), "state one of request"
    ),
}
"""Files of applications."""
