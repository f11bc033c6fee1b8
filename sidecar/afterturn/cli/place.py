"""The store as the settings have it, for commands that read it without a server."""

import sys
from collections.abc import Mapping

from afterturn.replay.wording import complaint
from afterturn.settings import file_layers, resolve
from afterturn.storage import configured_store
from afterturn.store.sqlite.store import SqliteStore
from afterturn_protocol.settings import Settings, StoreSettings


def file_settings(environment: Mapping[str, str]) -> Settings:
    """The settings in force without a client."""
    layers, _ = file_layers(environment)
    return resolve(layers)[0]


def told_settings(environment: Mapping[str, str]) -> Settings:
    """The same; what could not be used is said on stderr, since what a person set may be what keeps a secret out."""
    layers, unread = file_layers(environment)
    settings, unused = resolve(layers)
    for each in (*unread, *unused):
        sys.stderr.write(complaint(f"settings: {each.problem}"))
    return settings


def store_settings(environment: Mapping[str, str]) -> StoreSettings:
    """The settings `store.*` in force without a client."""
    return file_settings(environment).store


def user_store(environment: Mapping[str, str]) -> SqliteStore:
    """The store; its file is opened by the first thing that is asked of it. Bad settings are said on stderr."""
    return configured_store(told_settings(environment).store, environment)
