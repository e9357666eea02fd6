"""The environment variables that each kind of child process inherits: those listed, no others.

The environment of a run holds the credentials of buckets, of the Hub and of engines. Its children execute
untrusted code: a browser that of its pages, a model server that of a checkpoint. So each gets only the
variables of one of the lists below, if they are set; a new kind of credential is withheld without changing
a line. A `*` stands for the rest of a name. No list has `AWS_*`, tokens of the Hub, or keys of other
people's engines.
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase

SYSTEM = (
    # The places of programs and their libraries.
    *("PATH", "LD_LIBRARY_PATH"),
    # The user, and the places of that user's files, caches and temporary files.
    *("HOME", "USER", "LOGNAME", "TMPDIR", "XDG_*"),
    # Text encoding, sorting, the time zone, and the opt-out of usage reports.
    *("LANG", "LANGUAGE", "LC_*", "TZ", "DO_NOT_TRACK"),
)
"""Variables that any program may need; tools like git get only these."""

BROWSER = (
    *SYSTEM,
    # Fonts.
    *("FONTCONFIG_FILE", "FONTCONFIG_PATH"),
    # Variables that Playwright's driver checks before it starts a browser, and its logging.
    *("PLAYWRIGHT_HOST_PLATFORM_OVERRIDE", "PLAYWRIGHT_SKIP_VALIDATE_HOST_REQUIREMENTS"),
    *("DEBUG", "DEBUG_FILE"),
)
"""For Playwright's driver and its browser; without proxies, because all connections end at the gateway."""

_PYTHON = ("PYTHON*", "VIRTUAL_ENV")
"""For a process of this program's own Python."""

PROBE = (*SYSTEM, *_PYTHON)
"""For a probe of a plug-in, which judges only its input."""

PREFECT_SERVER = (
    *SYSTEM,
    *_PYTHON,
    # The places of Prefect's files, and the active profile.
    *("PREFECT_HOME", "PREFECT_PROFILES_PATH", "PREFECT_PROFILE"),
    # A server's settings, under current and former names, its database's password among them;
    # PREFECT_API_KEY and PREFECT_API_AUTH_STRING belong to its clients.
    *("PREFECT_SERVER_*", "PREFECT_API_DATABASE_*", "PREFECT_API_SERVICES_*", "PREFECT_EVENTS_*"),
    *("PREFECT_MESSAGING_*", "PREFECT_SQLALCHEMY_*", "PREFECT_UI_*"),
    *("PREFECT_LOGGING_*", "PREFECT_DEBUG_MODE"),
)
"""For Prefect's embedded server."""

MODEL_SERVER = (
    *SYSTEM,
    # vLLM's own settings; VLLM_API_KEY is the key that its clients must send.
    "VLLM_*",
    # GPUs and cores, and settings of the libraries that compute on them and communicate.
    *("CUDA_*", "NVIDIA_*", "NCCL_*", "ROCR_*", "HIP_*", "HSA_*", "GLOO_*"),
    *("TORCH*", "PYTORCH_*", "TRITON_*", "FLASHINFER_*"),
    *("OMP_*", "KMP_*", "MKL_*", "OPENBLAS_*", "LD_PRELOAD", "TOKENIZERS_PARALLELISM"),
    # The compilers of kernels at its start.
    *("CC", "CXX", "NVCC_*", "MAX_JOBS"),
    # The sources and caches of models, without HF_TOKEN: a checkpoint's code would read it.
    *("HF_HOME", "HF_HUB_*", "HF_XET_*", "HF_ENDPOINT", "HF_MODULES_CACHE"),
    *("HUGGINGFACE_HUB_CACHE", "TRANSFORMERS_*"),
    # Access to the network.
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
    # Log lines are written at once; Python's hash seed can be fixed. Variables about this program's Python
    # (PYTHONPATH and the like) are left out, because they would slow or break another one.
    *("PYTHONUNBUFFERED", "PYTHONHASHSEED"),
)
"""For a vLLM server."""


def inherit(environ: Mapping[str, str], names: tuple[str, ...]) -> dict[str, str]:
    """Return the variables of `environ` that a list names."""
    return {
        name: text
        for name, text in environ.items()
        if any(fnmatchcase(name, listed) for listed in names)
    }
