"""The store as the settings have it, for commands that read it without a server."""

from collections.abc import Mapping

from afterturn.clock import SystemClock
from afterturn.condense.needs import Needs
from afterturn.condense.service import CondenseService
from afterturn.settings import file_layers, resolve
from afterturn.storage import configured_store
from afterturn.store.sqlite.store import SqliteStore
from afterturn_protocol.settings import CondenseSettings, Settings, StoreSettings


def file_settings(environment: Mapping[str, str]) -> Settings:
    """The settings in force without a client."""
    layers, _ = file_layers(environment)
    return resolve(layers)[0]


def store_settings(environment: Mapping[str, str]) -> StoreSettings:
    """The settings `store.*` in force without a client."""
    return file_settings(environment).store


def user_store(environment: Mapping[str, str]) -> SqliteStore:
    """The store; its file is opened by the first thing that is asked of it."""
    return configured_store(store_settings(environment), environment)


def condense_service(store: SqliteStore) -> CondenseService:
    """A service that can resolve refs and asks nobody anything."""
    needs = Needs(
        store=store,
        settings=lambda: CondenseSettings(enabled=False),
        redact=lambda text: (text, {}),
        completer=None,
        clock=SystemClock(),
        owner="cli",
        keep_raw=lambda: True,
        report=lambda text: None,
    )
    return CondenseService(needs, spawn=lambda work: None, emit=lambda method, params: None)
