"""Whether a dataset could be published where somebody says, asked before any work."""

from pathlib import PurePosixPath

from schemas.config import RunConfig
from schemas.errors import BadConfig, OtherRun
from storage.objects.urls import folder
from storage.publish.publish import open_destination

_BUCKET = "s3://"
_NO_RUN = "none yet"


async def check_destination(to: str, config: RunConfig, run_id: str | None) -> None:
    """Refuse a destination that could not be published to; `run_id` is None for a new run.

    Raises:
        BadConfig: nothing can be published there, whoever asks may not, or it lies in the run or
            around it.
        OtherRun: the dataset of another run lies there.
        Unwritable: nothing can be written there, or something else lies there.
        Conflict: somebody else changed the dataset there.
    """
    destination = open_destination(to, config.publish, config.storage)
    _refuse_nested(to, config.run.url)
    try:
        await destination.stock(run_id or _NO_RUN)
    except OtherRun as error:
        if run_id is not None:
            raise
        raise OtherRun(
            f"{to}: holds the dataset of another run, and {config.run.url} is a new one; "
            "publish to another place, or remove that one"
        ) from error
    await destination.probe()


def _refuse_nested(to: str, run: str) -> None:
    mine, other = _place(to), _place(run)
    if mine.is_relative_to(other) or other.is_relative_to(mine):
        raise BadConfig(
            f"{to}: a dataset and its run cannot lie in each other ({run}); "
            "publish to a place beside it"
        )


def _place(url: str) -> PurePosixPath:
    """Return where `url` is: a path in a bucket or on the Hub, or a folder of this machine."""
    scheme, _, rest = url.partition("://")
    if rest and scheme.lower() != "file":
        return PurePosixPath(scheme.lower(), rest)
    return PurePosixPath("file", *folder(url).absolute().parts[1:])
