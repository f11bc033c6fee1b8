"""`afterturn doctor`: what was found here, and the command to paste into a host's settings."""

import argparse
import importlib.metadata
import os
import platform
import sys
from pathlib import Path
from typing import Any

import anyio
import msgspec

from afterturn import PROTOCOL_VERSION, __version__
from afterturn.models.choosing import destinations
from afterturn.settings import FILE_NAME, config_folder, file_layers, resolve
from afterturn.status import EMBEDDINGS, providers
from afterturn.storage import configured_store, no_store, store_status
from afterturn.store import StoreUnavailable
from afterturn.store_error import StoreError
from afterturn_protocol.service import ProviderStatus, StoreStatus
from afterturn_protocol.settings import StoreSettings

_PACKAGES = ("msgspec", "anyio", "pygls", "lsprotocol", "litellm", "zstandard", "platformdirs")
_BAD_RELEASES = {"litellm": ("1.82.7", "1.82.8")}  # shipped with malware


def run(options: argparse.Namespace) -> int:
    """Print the findings; exit code 1 where something keeps afterturn from doing its work."""
    found = findings()
    if options.json:
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(found), indent=2).decode() + "\n")
    else:
        _print(found)
    return 1 if found["problems"] else 0


def findings() -> dict[str, Any]:
    """Everything doctor knows, as `--json` prints it."""
    layers, problems = file_layers(os.environ)
    settings, more = resolve(layers)
    store = anyio.run(_opened, settings.store)
    packages = {name: _version(name) for name in _PACKAGES}
    return {
        "version": __version__,
        "protocolVersion": PROTOCOL_VERSION,
        "command": command()[0],
        "args": [*command()[1:], "--stdio"],
        "python": {"version": platform.python_version(), "executable": sys.executable},
        "packages": packages,
        "settings": {
            "file": _settings_file(),
            "sources": [layer.source for layer in layers],
            "problems": problems + more,
        },
        "store": store,
        "providers": providers(settings, host_samples=False),
        "destinations": destinations(settings, host_samples=False),
        "problems": _problems(packages, store),
    }


def _settings_file() -> str | None:
    try:
        return str(Path(config_folder(os.environ)) / FILE_NAME)
    except LookupError:  # which is among the problems already
        return None


def command() -> list[str]:
    """The absolute command that starts this very installation, whatever PATH says: the script, else the module."""
    script = Path(sys.executable).parent / "afterturn"
    return [str(script)] if os.access(script, os.X_OK) else [sys.executable, "-I", "-m", "afterturn"]


async def _opened(settings: StoreSettings) -> StoreStatus:
    """The store's state, after opening it where it is there: a damaged file shows only then."""
    try:
        store = configured_store(settings, os.environ)
    except StoreUnavailable as problem:
        return no_store(problem)
    if store_status(store).bytes is not None:
        try:
            await store.open()
        except StoreError:
            return store_status(store)  # which says what the problem is
        finally:
            await store.close()
    return store_status(store)


def _problems(packages: dict[str, str | None], store: StoreStatus) -> list[str]:
    problems = [
        f"the package {name} is missing: reinstall afterturn" for name, version in packages.items() if not version
    ]
    problems += [
        f"{name} {version} is a compromised release: install another one"
        for name, version in packages.items()
        if version in _BAD_RELEASES.get(name, ())
    ]
    return problems + ([f"the store cannot be used: {store.problem}"] if store.problem else [])


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _models(jobs: list[ProviderStatus]) -> str:
    """Who answers which job. A host that offers its models is only known once it has connected."""
    said = {job.job: _said(job) for job in jobs if job.job != EMBEDDINGS}
    if set(said.values()) == {"none"}:
        return "the host's own, where it offers them; else none: everything works without"
    return "; ".join(f"{job}: {answer}" for job, answer in said.items())


def _vectors(jobs: list[ProviderStatus]) -> str:
    """Who makes traces searchable by meaning."""
    (job,) = (job for job in jobs if job.job == EMBEDDINGS)
    if job.model is None and job.reason is None:
        return "none: traces are searched by their words alone"
    return f"{job.model}, on this machine" if job.provider == "local" and job.reason is None else _said(job)


def _unused(file: str | None) -> str:
    """Why a settings file says nothing: it is not there, or empty, or broken, which is among the problems."""
    if file is not None and os.access(file, os.F_OK):
        return f"nothing comes from {file}"
    return f"{file or 'a settings file'} is not there"


def _said(job: ProviderStatus) -> str:
    return job.reason or (f"{job.model} by {job.provider}" if job.model else "none")


def _print(found: dict[str, Any]) -> None:
    store: StoreStatus = found["store"]
    size = "not there yet" if store.bytes is None else f"{store.bytes:,} bytes"
    sources = found["settings"]["sources"]
    rows = [
        ("afterturn", f"{found['version']}, protocol {found['protocolVersion']}"),
        ("python", f"{found['python']['version']} at {found['python']['executable']}"),
        ("packages", ", ".join(f"{name} {version or 'MISSING'}" for name, version in found["packages"].items())),
        ("settings", ", ".join(sources) or f"defaults ({_unused(found['settings']['file'])})"),
        ("store", f"{store.backend}, {store.path} ({size})"),
        ("models", _models(found["providers"])),
        ("vectors", _vectors(found["providers"])),
        ("data goes to", ", ".join(found["destinations"]) or "nowhere: nothing leaves this machine"),
    ]
    for name, value in rows:
        sys.stdout.write(f"{name:<13} {value}\n")
    for problem in found["settings"]["problems"]:
        sys.stdout.write(f"{'! settings':<13} {problem.problem}\n")
    for problem in found["problems"]:
        sys.stdout.write(f"{'! problem':<13} {problem}\n")
    pasted = msgspec.json.encode({"command": found["command"], "args": found["args"]}).decode()
    sys.stdout.write(f"\nPaste into your host's settings:\n\n  {pasted}\n")
