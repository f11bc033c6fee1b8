"""Loading litellm, quietly and offline, or saying what to install."""

import gc
from typing import Any

COMPROMISED = ("1.82.7", "1.82.8")
"""Releases that carried malware (case S07)."""
INSTALL = "install it with: pip install 'litellm>=1.83,<2'"


class Unusable(Exception):
    """litellm is missing or broken; the text says what to do."""


def load_litellm() -> tuple[Any, str]:
    """The module, set up, and its version. Takes seconds. Raises Unusable."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        found = version("litellm")
    except PackageNotFoundError:
        raise Unusable(f"litellm is not installed; {INSTALL}") from None
    if found in COMPROMISED:
        raise Unusable(f"litellm {found} is a compromised release and was not loaded; {INSTALL}")
    # The import makes millions of objects that all stay: no collection, now or later, finds anything in them.
    gc.disable()
    try:
        import litellm

        from afterturn.models.worker.exchange import watch_http

        _set_up(litellm)
        watch_http()
    except Exception as problem:  # a broken install fails in any way
        missing = getattr(problem, "name", None) if isinstance(problem, ImportError) else None
        detail = f" at {missing}" if isinstance(missing, str) and missing.replace(".", "").isidentifier() else ""
        raise Unusable(f"litellm {found} does not load ({type(problem).__name__}{detail}); {INSTALL}") from None
    gc.freeze()
    gc.enable()
    return litellm, found


def _set_up(litellm: Any) -> None:
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    litellm.drop_params = True
    litellm.num_retries = 0
    litellm.disable_aiohttp_transport = True
    litellm.disable_token_counter = True  # tokens are the provider's word or unknown, never a guess
    litellm.disable_streaming_logging = True
