"""The server that processes of tests are forked from: it has imported what they need, and read it.

There is one in a worker, whoever asks for it first, so what it imports is named in one place. It
never touches a table: a process that used `deltalake` must not fork.
"""

import multiprocessing

FORKS = multiprocessing.get_context("forkserver")
"""Makes processes that begin with what is named here imported already."""

FORKS.set_forkserver_preload(
    [
        "PIL.BmpImagePlugin",
        "PIL.GifImagePlugin",
        "PIL.JpegImagePlugin",
        "PIL.PngImagePlugin",
        "PIL.PpmImagePlugin",
        "aiohttp.web",
        "flows.cli.generate",
        "flows.cli.main",
        "generators.browser.protocol",
        "hf_xet",
        "huggingface_hub.hf_api",
        "miniwob",
        "pyarrow.acero",
        "pytest",
        "storage.audit",
        "storage.lake.lake",
        "storage.objects.s3",
        "storage.publish.destinations.hub.destination",
        "storage.publish.publish",
        "tests.support.runs.forked_from",
    ]
)
