"""Whether a dataset could be published where somebody says, asked before any work."""

from pathlib import Path

from schemas.config import RunConfig
from schemas.errors import BadConfig, OtherRun
from storage.places import folder, open_store
from storage.publish.folder import Folder

_LATER = ("s3://", "hf://")
_NO_RUN = "none yet"


async def check_destination(to: str, config: RunConfig, run_id: str | None) -> None:
    """Refuse a destination that could not be published to; `run_id` is None for a new run.

    Raises:
        BadConfig: this version cannot publish there, or it lies in the run or around it.
        OtherRun: the dataset of another run lies there.
        Unwritable: nothing can be written there, or something else lies there.
    """
    if to.lower().startswith(_LATER):
        raise BadConfig(f"{to}: this version publishes to folders; give a folder or file://…")
    _refuse_nested(folder(to), folder(config.run.url), to)
    try:
        await Folder(folder(to)).stock(run_id or _NO_RUN)
    except OtherRun as error:
        if run_id is not None:
            raise
        raise OtherRun(
            f"{to}: holds the dataset of another run, and {config.run.url} is a new one; "
            "publish to another folder, or remove that one"
        ) from error
    await open_store(to, config.storage).probe()


def _refuse_nested(to: Path, run: Path, shown: str) -> None:
    to, run = to.absolute(), run.absolute()
    if to.is_relative_to(run) or run.is_relative_to(to):
        raise BadConfig(
            f"{shown}: a dataset and its run cannot lie in each other ({run}); "
            "give a folder beside it"
        )
