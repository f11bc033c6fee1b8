"""The environment of the model worker: what a network client needs of the machine, and nothing that is a key."""

from collections.abc import Mapping

KEPT = (
    "PATH HOME USER LOGNAME TMPDIR LANG LC_ALL LC_CTYPE TZ SYSTEMROOT "
    # how the interpreter and its libraries find their own shared libraries (conda, nix)
    "LD_LIBRARY_PATH DYLD_LIBRARY_PATH DYLD_FALLBACK_LIBRARY_PATH NIX_LD NIX_LD_LIBRARY_PATH "
    # how a network is left, and whom it trusts
    "HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy "
    "SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE NIX_SSL_CERT_FILE"
).split()

QUIET = {
    "LITELLM_MODE": "PRODUCTION",  # no .env files (case S05)
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # no download of prices (case P01)
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_LOCAL_BLOG_POSTS": "True",
    "LITELLM_OFFLINE_MODE": "true",
    "LITELLM_TELEMETRY": "False",
    "LITELLM_LOG": "CRITICAL",
    "LITELLM_SUPPRESS_STARTUP_OUTPUT": "True",
    "LITELLM_DISABLE_LATEST_RELEASE_CHECK": "True",
    "DISABLE_ADMIN_UI": "True",
    "DISABLE_AIOHTTP_TRANSPORT": "True",  # exchange.py watches httpx
    "HF_HUB_OFFLINE": "1",
    "DO_NOT_TRACK": "1",
}
"""Set before litellm is imported; they are read then."""


def worker_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The worker's environment, from the server's. Keys travel with the call that needs them (access.py)."""
    return {name: environ[name] for name in KEPT if name in environ} | QUIET
