"""`stepmill init`: write a configuration that ships into a file, to begin with."""

from pathlib import Path

from flows.cli.parser import Arguments
from flows.job.shipped_configs import shipped_config
from flows.terminal import ExitCode, print_lines, print_result
from schemas.errors import BadConfig, Unwritable


def run(args: Arguments) -> int:
    """Run the command and return its exit code."""
    text = shipped_config(args.name).read_bytes()
    path = Path(args.to or f"{args.name}.toml")
    try:
        with path.open("xb") as file:
            file.write(text)
    except FileExistsError:
        raise BadConfig(
            f"{path} is there already; move it away, or name another file with --to"
        ) from None
    except OSError as error:
        raise Unwritable(f"{path}: cannot be written: {error.strerror}") from None
    if args.json:
        print_result({"name": args.name, "file": str(path)})
    else:
        print_lines([f"wrote {path}"])
    return ExitCode.DONE
