"""Wrong command lines: commands, flags, numbers, names, and files to write a picture to."""

from support.inputs.bad_input import BadInput, Inputs, usage

_LONG = "9" * 5_000
EXPORT = ("export", "nowhere", "--to", "out", "--format")

USAGE: Inputs = {
    "nothing": usage("required: COMMAND"),
    "a command misspelt": usage("did you mean 'generate'?", "generat"),
    "an empty command": usage("there is no command ''", ""),
    "a command of controls": usage("there is no command", "\x1b]0;x\x07"),
    "a command of two lines": usage("there is no command", "a\nstepmill: done"),
    "a command that is long": usage("there is no command", "a" * 100_000),
    "a flag misspelt": usage("did you mean '--config'?", "generate", "--confg", "x"),
    "a flag of controls": usage("has no flag", "generate", "--\x1b[31m"),
    "a flag of two lines": usage("has no flag", "generate", "--a\nb"),
    "an argument too many": usage("has no argument 'extra'", "generate", "extra"),
    "a flag without its value": usage("expected one argument", "generate", "--config"),
    "a setting without its value": usage("expected one argument", "generate", "--set"),
    "a switch with a value": usage("--json", "doctor", "--json=yes"),
    "no run": usage("required: RUN", "audit"),
    "one side": usage("required: B", "diff", "runs/a"),
    "no destination": usage("required: --to", "publish", "run"),
    "no episode": usage("required: EPISODE_ID", "replay", "run"),
    "no format": usage("required: --format", "export", "run", "--to", "x"),
    "no subcommand": usage("required: COMMAND", "tasks"),
    "a subcommand misspelt": usage("'lst'", "tasks", "lst"),
    "a subcommand of two lines": usage("invalid choice", "engine", "a\nb"),
    "a version of words": usage("'one'", "publish", "run", "--to", "x", "--version", "one"),
    "a version of two lines": usage("invalid int value", "show", "run", "--version", "1\n2x"),
    "a version too long": usage("invalid int value", "show", "run", "--version", _LONG),
    "a k of nothing": usage("from 1", "show", "run", "--k", "0"),
    "a k of words": usage("a whole number", "show", "run", "--k", "many"),
    "a k too long": usage("a whole number", "show", "run", "--k", _LONG),
    "a k of another script": usage("a whole number", "show", "run", "--k", "٣"),
    "a k beside two runs": usage("--k: is for one run", "show", "a", "b", "--k", "1"),
    "a port too large": usage("a port", "engine", "serve", "--port", "65536"),
    "a seed below nothing": usage("a whole number", "tasks", "show", "click-test", "--seed=-1"),
    "a seed too large": usage("9223372036854775807", "tasks", "show", "x", "--seed", str(2**63)),
    "seeds of a half": usage("a whole number", "tasks", "check", "--seeds", "1.5"),
    "more seeds than there are": usage(
        "tasks.seeds", "tasks", "check", "--seeds", "2", "--first-seed", str(2**63 - 1)
    ),
    "no sessions": usage("from 1", "tasks", "check", "--sessions", "0"),
    "a policy that nobody knows": usage("'teachr'", "tasks", "check", "--policy", "teachr"),
    "a policy of controls": usage("policy.name", "tasks", "check", "--policy", "\x1b[31m"),
    "a glob that matches nothing": usage("clik", "tasks", "check", "--include", "clik"),
    "a glob that is no glob": usage("'['", "tasks", "list", "["),
    "a glob too long": usage("a glob of more than 200", "tasks", "list", "[" * 10_000),
    "a glob of two lines": usage("matches no template", "tasks", "list", "a\nb"),
    "a tag that nobody knows": usage("'typin'", "tasks", "list", "--tag", "typin"),
    "a tag of controls": usage("--tag", "tasks", "list", "--tag", "\x9b31m\u202e"),
    "a template that is not there": usage("'clik-test'", "tasks", "show", "clik-test"),
    "a template that is a path": usage("passwd", "tasks", "show", "../../etc/passwd"),
    "a template of two lines": usage("no template", "tasks", "show", "a\nb"),
    "an empty template": usage("no template", "tasks", "show", ""),
    "a picture of no format": usage(".png", "tasks", "show", "click-test", "--to", "x.gif"),
    "a picture nowhere": usage("no/x.png", "tasks", "show", "click-test", "--to", "no/x.png"),
    "a picture too long": usage("--to", "tasks", "show", "click-test", "--to", f"{'a' * 300}.png"),
    "a sheet nowhere": usage("no/x.png", "tasks", "check", "--sheet", "no/x.png"),
    "a world of no seed": usage("shop/7", "worlds", "show", "shop"),
    "a world of a seed too large": usage("a whole number", "worlds", "show", f"shop/{2**63}"),
    "a world of no family": usage("'shap'", "worlds", "show", "shap/1"),
    "a world that is a path": usage("a whole number", "worlds", "show", "../../../etc/passwd"),
    "a world of two lines": usage("worlds 'a b'", "worlds", "show", "a\nb/1"),
    "worlds of seeds too large": usage(
        "seed", "worlds", "check", "--worlds", "20", "--first-seed", str(2**63 - 1)
    ),
    "more worlds than anybody looks at": usage(
        "at most 2,000", "worlds", "sheet", "--to", "x.png", "--count", "2001"
    ),
    "a sheet of worlds nowhere": usage("no/x.png", "worlds", "sheet", "--to", "no/x.png"),
    "a sheet of worlds of no format": usage(".png", "worlds", "sheet", "--to", "x"),
    "an application that is not there": usage("'fosil'", "sites", "install", "fosil"),
    "an application of controls": usage("no application", "sites", "install", "\x1b[31m"),
    "a site that is not there": usage("sites.shop: there is no", "sites", "check", "shop"),
    "a site of two lines": usage("there is no such application", "sites", "check", "a\nb"),
    "a format misspelt": usage("did you mean 'chat'?", *EXPORT, "chatt"),
    "a format of controls": usage("there is no format", *EXPORT, "\x1b[31m"),
    "a format of two lines": usage("there is no format", *EXPORT, "a\nb"),
    "a shape that is not there": usage("invalid choice", *EXPORT, "chat", "--shape", "x"),
    "an option of another format": usage("--shape", *EXPORT, "atif", "--shape", "openai"),
    "a key of another command": usage(
        "does not use tasks.include", "show", "run", "--set", "tasks.include=['x']"
    ),
    "a dialect that is not there": usage("'holotrn'", "engine", "plan", "--dialect", "holotrn"),
    "a dialect of controls": usage("dialect", "engine", "plan", "--dialect", "\x1b[31m"),
    "a dialect of two lines": usage("dialect", "engine", "plan", "--dialect", "a\nb"),
    "bytes that are no text": usage("is not text in this locale", "show", "\udcff\udcfe"),
    "an argument with a NUL": BadInput(("show", "a\0b"), "'a\\x00b'"),
}
"""By what is wrong with them."""
