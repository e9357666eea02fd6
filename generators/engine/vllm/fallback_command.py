"""A server that died at its start and said what it cannot take is given a command that it can.

Two things are learnt from a log: that fewer requests fit at once than the server was told, and that
this vLLM does not know a flag that Stepmill adds by itself. Either is mended once, in the command
alone; what the configuration asks for beyond that is the user's to mend.
"""

from generators.engine.vllm.command import ServeCommand, value
from generators.engine.vllm.startup_log import StartupLog


def adapted(command: ServeCommand, startup: StartupLog) -> tuple[ServeCommand, str] | None:
    """Return a command for the next start, and what is said about it; None: there is no other."""
    refused = sorted(startup.refused & set(command.argv))
    if refused:
        return command.silent_about(refused), (
            f"this vLLM does not take {' and '.join(refused)}; starting again without, so what it "
            "would say in its replies stays unknown"
        )
    if startup.sequences and _more(command, startup.sequences):
        return command.limited(startup.sequences), (
            f"the engine's memory holds {startup.sequences} requests at once, fewer than it was "
            f"told; starting again with --max-num-seqs {startup.sequences}"
        )
    return None


def _more(command: ServeCommand, sequences: int) -> bool:
    """Say whether the command asks for more requests at once than that."""
    told = value(command.argv, "--max-num-seqs")
    return told is None or not told.isdigit() or int(told) > sequences
