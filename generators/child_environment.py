"""Which environment variables each kind of child process inherits: those listed, no others.

The environment of a run holds the credentials of buckets, of the Hub and of engines. What the run
starts executes untrusted code: a browser that of its pages, a model server that of a checkpoint.
So each gets the variables of one of the lists below, as far as they are set, and nothing else; a
new kind of credential is kept from all of them without a line being changed. A `*` stands for the
rest of a name. In no list are `AWS_*`, tokens of the Hub, and the keys of other people's engines.
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase

SYSTEM = (
    # Where programs and their libraries are.
    *("PATH", "LD_LIBRARY_PATH"),
    # Who runs them, and where that user's files, caches and temporary files go.
    *("HOME", "USER", "LOGNAME", "TMPDIR", "XDG_*"),
    # How texts are encoded and sorted, what time it is, and that no use is reported to anybody.
    *("LANG", "LANGUAGE", "LC_*", "TZ", "DO_NOT_TRACK"),
)
"""What any program may need, and all that a tool like git gets."""

BROWSER = (
    *SYSTEM,
    # Which fonts there are.
    *("FONTCONFIG_FILE", "FONTCONFIG_PATH"),
    # What Playwright's driver checks before it starts a browser, and whether it logs what it does.
    *("PLAYWRIGHT_HOST_PLATFORM_OVERRIDE", "PLAYWRIGHT_SKIP_VALIDATE_HOST_REQUIREMENTS"),
    *("DEBUG", "DEBUG_FILE"),
)
"""For Playwright's driver and its browser: no proxy either, since all connections end at the gateway."""

_PYTHON = ("PYTHON*", "VIRTUAL_ENV")
"""For a process of this program's own Python."""

PROBE = (*SYSTEM, *_PYTHON)
"""For a probe of a plug-in, which judges what it is given and nothing else."""

PREFECT_SERVER = (
    *SYSTEM,
    *_PYTHON,
    # Where Prefect's files are, and which of the user's profiles holds.
    *("PREFECT_HOME", "PREFECT_PROFILES_PATH", "PREFECT_PROFILE"),
    # A server's settings, under the names of today and of before: its database's password is one
    # of them, and for it; PREFECT_API_KEY and PREFECT_API_AUTH_STRING are its clients'.
    *("PREFECT_SERVER_*", "PREFECT_API_DATABASE_*", "PREFECT_API_SERVICES_*", "PREFECT_EVENTS_*"),
    *("PREFECT_MESSAGING_*", "PREFECT_SQLALCHEMY_*", "PREFECT_UI_*"),
    *("PREFECT_LOGGING_*", "PREFECT_DEBUG_MODE"),
)
"""For Prefect's embedded server."""

MODEL_SERVER = (
    *SYSTEM,
    # vLLM's own settings; VLLM_API_KEY is what it must be asked with, and for it.
    "VLLM_*",
    # Which GPUs and cores it has, and how its libraries compute on them and speak to each other.
    *("CUDA_*", "NVIDIA_*", "NCCL_*", "ROCR_*", "HIP_*", "HSA_*", "GLOO_*"),
    *("TORCH*", "PYTORCH_*", "TRITON_*", "FLASHINFER_*"),
    *("OMP_*", "KMP_*", "MKL_*", "OPENBLAS_*", "LD_PRELOAD", "TOKENIZERS_PARALLELISM"),
    # What compiles kernels at its start.
    *("CC", "CXX", "NVCC_*", "MAX_JOBS"),
    # Where models are fetched from and kept, without HF_TOKEN: a checkpoint's code would read it.
    *("HF_HOME", "HF_HUB_*", "HF_XET_*", "HF_ENDPOINT", "HF_MODULES_CACHE"),
    *("HUGGINGFACE_HUB_CACHE", "TRANSFORMERS_*"),
    # How the network is reached from here.
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
    # Lines reach the log as they are written; draws of Python's hashes can be repeated. What is
    # about this program's Python (PYTHONPATH and its like) would slow or break another one.
    *("PYTHONUNBUFFERED", "PYTHONHASHSEED"),
)
"""For a vLLM."""


def inherit(environ: Mapping[str, str], names: tuple[str, ...]) -> dict[str, str]:
    """Return the variables of `environ` that are in a list."""
    return {
        name: text
        for name, text in environ.items()
        if any(fnmatchcase(name, listed) for listed in names)
    }
