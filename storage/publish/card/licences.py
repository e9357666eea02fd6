"""The licences that the Hub knows, and the refusal of any other.

A licence stands in the card's front matter by the Hub's identifier, and the Hub refuses a card with
another one. No package lists them, so they are written out here, as the Hub documents them
(https://huggingface.co/docs/hub/repositories-licenses).
"""

from schemas.errors import BadConfig
from schemas.nearest import nearest

_LISTED = """
    apache-2.0 mit openrail bigscience-openrail-m creativeml-openrail-m bigscience-bloom-rail-1.0
    bigcode-openrail-m afl-3.0 artistic-2.0 bsl-1.0 bsd bsd-2-clause bsd-3-clause bsd-3-clause-clear c-uda
    cc cc0-1.0 cc-by-2.0 cc-by-2.5 cc-by-3.0 cc-by-4.0 cc-by-sa-3.0 cc-by-sa-4.0 cc-by-nc-2.0 cc-by-nc-3.0
    cc-by-nc-4.0 cc-by-nd-4.0 cc-by-nc-nd-3.0 cc-by-nc-nd-4.0 cc-by-nc-sa-2.0 cc-by-nc-sa-3.0
    cc-by-nc-sa-4.0 cdla-sharing-1.0 cdla-permissive-1.0 cdla-permissive-2.0 wtfpl ecl-2.0 epl-1.0 epl-2.0
    etalab-2.0 eupl-1.1 eupl-1.2 agpl-3.0 gfdl gpl gpl-2.0 gpl-3.0 lgpl lgpl-2.1 lgpl-3.0 isc h-research
    intel-research lppl-1.3c ms-pl apple-ascl apple-amlr mpl-2.0 odc-by odbl openmdw-1.0 openmdw-1.1
    openrail++ osl-3.0 postgresql ofl-1.1 ncsa unlicense zlib pddl lgpl-lr deepfloyd-if-license
    fair-noncommercial-research-license llama2 llama3 llama3.1 llama3.2 llama3.3 llama4 grok2-community
    gemma unknown other
"""

LICENCES = frozenset(_LISTED.split())
"""Every licence that the Hub knows, by its identifier."""


def refuse_unknown_licence(name: str | None) -> None:
    """Refuse a licence that the Hub does not know; None states none.

    Raises:
        BadConfig: it does not; the error names the nearest ones.
    """
    if name is None or name in LICENCES:
        return
    near = nearest(name, sorted(LICENCES), count=3, cutoff=0.4)
    like = f"the nearest are {', '.join(near)}" if near else "none is like it"
    raise BadConfig(
        f"publish.license: expected a licence by the Hub's identifier, got {name!r}; {like} (all: "
        "https://huggingface.co/docs/hub/repositories-licenses). For one that is not there write other"
    )
