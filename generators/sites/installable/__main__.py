"""`python -m generators.sites.installable serve NAME WORD …`: become the server of an application.

What a site's `start.command` says. The package that offers the application reads the words, makes the
instance ready and says what serves it; this program then becomes that one, so that whoever started it
stops it directly.
"""

import os
import sys
from collections.abc import Mapping, Sequence

from generators.sites.installable.registry import find_installation, not_installed
from schemas.errors import Refusal, StepmillError

USAGE = "usage: python -m generators.sites.installable serve NAME [WORD …]"


def main(  # noqa: RET503 - it ends as another program
    arguments: Sequence[str], environ: Mapping[str, str] = os.environ
) -> int:
    """Become the server that is asked for; return the exit code where there is none."""
    try:
        if len(arguments) < len(("serve", "NAME")) or arguments[0] != "serve":
            raise Refusal(USAGE)
        _, name, *words = arguments
        found = find_installation(name, environ)
        if found is None:
            raise Refusal(not_installed(name))
        command = found.serve(words)
    except StepmillError as error:
        sys.stderr.write(f"{error}\n")
        return 2 if isinstance(error, Refusal) else 1
    os.execve(command.arguments[0], command.arguments, command.environment)  # noqa: S606 - what it is for


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
