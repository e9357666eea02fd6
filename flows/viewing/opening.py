"""What is to be looked at, opened by its address: a run, or a published dataset."""

from collections.abc import MutableMapping

from flows.job.config_loader import Sources, load
from flows.job.stored_run import open_stored_run
from flows.resources.authorities import trust_authorities
from storage.reading.opened import Opened, open_dataset_files, open_run_tables
from storage.reading.place import open_dataset, open_place
from storage.run_file import KEY


async def open_for_view(address: str, environ: MutableMapping[str, str]) -> Opened:
    """Return the run, dataset or collection at an address, as it is now; nothing is written.

    Raises:
        NotFound: there is neither.
        BadConfig: it is the URL of no such place, or a setting of the environment is wrong.
        Damaged: it cannot be read.
        Unwritable: access is denied.
    """
    trust_authorities(environ)
    place = open_place(address, None, load(Sources(), environ).storage)
    if await place.text(KEY) is None:
        return open_dataset_files(await open_dataset(place, None))
    stored = await open_stored_run(address, Sources(), environ)
    try:
        snapshot, _ = await stored.lake.current()
        return await open_run_tables(
            snapshot, stored.config.accept, address=address, run_id=stored.run.run_id
        )
    finally:
        await stored.lake.close()
