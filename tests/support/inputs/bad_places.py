"""Wrong places: of runs, destinations, buckets and repositories."""

import json

from support.inputs.bad_input import GENERATE, BadInput, Inputs, file, setting, usage

_NO_FOLDER = "give a folder"
_RUNS = {
    "that is empty": ("", "run.url = '': String should have at least 1 character"),
    "with a NUL": ("file:///a%00b", _NO_FOLDER),
    "too long": ("a" * 300, "File name too long"),
    "of too many parts": ("a/" * 3_000, "File name too long"),
    "of nobody": ("~nobodyhere/x", "no such user"),
    "on the web": ("http://x/y", "http://x/y"),
    "of another machine": ("file://host/x", "another machine"),
    "of half an address": ("file://[::1/x", "invalid URL"),
    "of no scheme that is known": ("gopher://x", "gopher://x"),
    "of two lines": ("a\nstepmill: all is well", "there is no run here"),
    "of carriage returns": ("a\rstepmill: all is well", "there is no run here"),
    "of another direction": ("\u202exfdp", "there is no run here"),
    "of a bucket without a name": ("s3://", "names no bucket"),
    "of a bucket in capitals": ("s3://Bucket_X/y", "names no bucket"),
    "of half a bucket": ("s3://[", "names no bucket"),
    "of dots in a bucket": ("s3://bucket/../x", "invalid prefix"),
    "of a question in a bucket": ("s3://bucket/x?y=1", "invalid prefix"),
    "of controls in a bucket": ("s3://bucket/\x1b[31m", "invalid prefix"),
    "of two lines in a bucket": ("s3://bucket/a\nb", "invalid prefix"),
    "of a bucket too long": (f"s3://{'a' * 70}/x", "names no bucket"),
    "of a prefix too long": (f"s3://bucket/{'a' * 2_000}", "invalid prefix"),
    "of a bucket with a password": ("s3://me:secret@bucket/x", "holds credentials"),
}
_RUNS_NOWHERE = {
    name: (url, told if told != "there is no run here" else "does not start")
    for name, (url, told) in _RUNS.items()
}

RUNS: Inputs = {
    **{f"a run to show {name}": usage(told, "show", url) for name, (url, told) in _RUNS.items()},
    **{
        f"a run to make {name}": BadInput((*GENERATE, "--run", url), told)
        for name, (url, told) in _RUNS_NOWHERE.items()
    },
    **{
        f"a run to {command} that is not there": usage(
            "nowhere: there is no run here", command, "nowhere", *more
        )
        for command, more in {
            "show": (),
            "audit": (),
            "compact": (),
            "verify": ("--no-prefect",),
            "publish": ("--to", "data", "--no-prefect"),
            "replay": ("0123456789abcdef",),
            "export": ("--format", "atif", "--to", "data"),
        }.items()
    },
    **{
        f"a side {name}": usage(
            told if told != "there is no run here" else "there is neither", "diff", url, "b"
        )
        for name, (url, told) in _RUNS.items()
        if name != "that is empty"
    },
    "a side that is empty": usage("''", "diff", "", "b"),
    "a side on the Hub of half a name": usage("write hf://", "diff", "hf://datasets/x", "b"),
    "a side that is a file": BadInput(("diff", "a", "b"), "is a file", file("a", "mine")),
    "a side that is a version of nothing": usage(
        "nowhere: expected a run", "diff", "nowhere@3", "b"
    ),
    "a run that is a file": BadInput((*GENERATE, "--run=a"), "is a file", file("a", "mine")),
    "a run below a file": BadInput((*GENERATE, "--run=a/b"), "a/b", file("a", "mine")),
    "a run in a folder of the system": BadInput((*GENERATE, "--run=/proc/1/run"), "/proc/1/run"),
    "a run that is a device": BadInput((*GENERATE, "--run=/dev/null"), "/dev/null"),
    "the second run that is a device": usage("there is no run", "show", "nowhere", "/dev/null"),
}
"""Places of runs."""

_FORMS, _NAMES = "hf://datasets/ORG/NAME", "the Hub does not allow the name"
_TO = {
    "that is empty": ("", _NO_FOLDER),
    "of nobody": ("~nobodyhere/x", "no such user"),
    "too long": ("a" * 300, "File name too long"),
    "with a NUL": ("a\0b", _NO_FOLDER),
    "on the web": ("https://x/y", "https://x/y"),
    "of one part on the Hub": ("hf://datasets/x", _FORMS),
    "of many parts on the Hub": ("hf://datasets/a/b/c/d", _FORMS),
    "of dots on the Hub": ("hf://datasets/../x", _NAMES),
    "of a model on the Hub": ("hf://models/a/b", _FORMS),
    "of a bad branch on the Hub": ("hf://datasets/a/b@../c", "a valid name of a branch"),
    "of controls on the Hub": ("hf://datasets/a/\x1b[31m", _NAMES),
    "of two lines on the Hub": ("hf://datasets/a/b\nc", _NAMES),
    "of a bucket in capitals": ("s3://Bucket_X/y", "names no bucket"),
    "of two lines in a bucket": ("s3://bucket/a\nb", "invalid prefix"),
}

DESTINATIONS: Inputs = {
    **{
        f"a destination {name}": BadInput(
            (*GENERATE, "--set", f"publish.to=[{json.dumps(url)}]"), told
        )
        for name, (url, told) in _TO.items()
    },
    "a destination that is the run": setting("publish.to=['runs/run']", "cannot contain each"),
    "a destination that holds the run": setting("publish.to=['runs']", "cannot contain each other"),
    "a destination of the system": setting("publish.to=['/proc/1/data']", "/proc/1/data"),
    "a destination that is a file": BadInput(
        (*GENERATE, "--set=publish.to=['mine']"), "mine", file("mine", "dear")
    ),
    "a destination that holds what is not ours": BadInput(
        (*GENERATE, "--set=publish.to=['mine']"), "letter.txt", file("mine/letter.txt", "dear")
    ),
    "an export to a bucket": usage(
        "is written to a folder", "export", "a", "--format", "atif", "--to", "s3://bucket/x"
    ),
    "an export to the Hub": usage(
        "is written to a folder", "export", "a", "--format", "atif", "--to", "hf://datasets/a/b"
    ),
    **{
        f"an endpoint {name}": usage(
            "is not an endpoint", "show", "s3://bucket/x", f"--set=storage.endpoint_url={url}"
        )
        for name, url in {
            "of no scheme that is known": "ftp://x",
            "with a path": "http://x/y",
            "with a password": "http://me:secret@x",
            "of half an address": "http://[::1",
            "of no port": "http://x:0",
            "of a port too large": "http://x:99999",
            "of two lines": '"http://x\\ny"',
        }.items()
    },
}
"""Where data is to go."""
