"""The store as the settings have it, for commands that read it without a server."""

from collections.abc import Mapping

from afterturn.settings import file_layers, resolve
from afterturn.storage import configured_store
from afterturn.store.sqlite.store import SqliteStore
from afterturn_protocol.settings import Settings, StoreSettings


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
