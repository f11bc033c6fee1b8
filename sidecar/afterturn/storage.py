"""From settings and environment to the store: which file, and what is told of it."""

from collections.abc import Mapping

from afterturn.store import StorePlace, StoreUnavailable, open_store
from afterturn.store.paths import home_folder, store_place, user_data_folder
from afterturn.store.sqlite.store import SqliteStore
from afterturn_protocol.service import StoreStatus
from afterturn_protocol.settings import StoreSettings


def place_of(settings: StoreSettings, environment: Mapping[str, str]) -> StorePlace:
    """Where the embedded store lies."""
    return store_place(home_folder(environment, user_data_folder), settings.path, environment)


def configured_store(settings: StoreSettings, environment: Mapping[str, str]) -> SqliteStore:
    """The store; its file is opened by the first thing asked of it. Raises StoreUnavailable for a foreign url."""
    return open_store(place_of(settings, environment), url=settings.url)


def no_store(problem: StoreUnavailable) -> StoreStatus:
    """For a report: the settings name a store that this process cannot have."""
    return StoreStatus(backend="none", path=None, bytes=None, problem=str(problem))


def store_status(store: SqliteStore) -> StoreStatus:
    """The store for a report. Looks at its files, but does not open them; without a file, `bytes` is null."""
    facts = store.status()
    return StoreStatus(backend=facts.backend, path=facts.path, bytes=facts.bytes or None, problem=facts.problem)
