"""traces/list, get, search, delete, updateScore; events/since."""

from collections.abc import Coroutine
from typing import Any

from afterturn.capture.recall import RecallService
from afterturn.rpc.call import Call
from afterturn_protocol.events import EventsSinceParams, EventsSinceResult
from afterturn_protocol.traces import (
    TracesDeleteParams,
    TracesDeleteResult,
    TracesGetParams,
    TracesGetResult,
    TracesListParams,
    TracesListResult,
    TracesSearchParams,
    TracesSearchResult,
    TracesUpdateScoreParams,
    TracesUpdateScoreResult,
)


def list_traces(recall: RecallService, params: TracesListParams, call: Call) -> Coroutine[Any, Any, TracesListResult]:
    """`traces/list`."""
    return recall.list(params)


def get(recall: RecallService, params: TracesGetParams, call: Call) -> Coroutine[Any, Any, TracesGetResult]:
    """`traces/get`."""
    return recall.get(params)


def search(recall: RecallService, params: TracesSearchParams, call: Call) -> Coroutine[Any, Any, TracesSearchResult]:
    """`traces/search`."""
    return recall.search(params)


def delete(recall: RecallService, params: TracesDeleteParams, call: Call) -> Coroutine[Any, Any, TracesDeleteResult]:
    """`traces/delete`."""
    return recall.delete(params, after_reply=call.after_reply)


def update_score(
    recall: RecallService, params: TracesUpdateScoreParams, call: Call
) -> Coroutine[Any, Any, TracesUpdateScoreResult]:
    """`traces/updateScore`."""
    return recall.update_score(params)


def events_since(
    recall: RecallService, params: EventsSinceParams, call: Call
) -> Coroutine[Any, Any, EventsSinceResult]:
    """`events/since`."""
    return recall.events_since(params)
