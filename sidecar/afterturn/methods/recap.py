"""recap/onFocus, onTurnStart, onAgentStart, onInput, onTurnEnd, now, get, dismiss."""

from collections.abc import Coroutine
from typing import Any

from afterturn.recap.service import RecapService
from afterturn.rpc.call import Call
from afterturn_protocol.recap import (
    RecapAgentStartParams,
    RecapDismissParams,
    RecapFocusParams,
    RecapGetParams,
    RecapGetResult,
    RecapInputParams,
    RecapNowParams,
    RecapNowResult,
    RecapTurnEndParams,
    RecapTurnStartParams,
)


def on_focus(recap: RecapService, params: RecapFocusParams, call: Call) -> None:
    """`recap/onFocus`."""
    recap.focus(params, call.after_reply)


def on_turn_start(recap: RecapService, params: RecapTurnStartParams, call: Call) -> None:
    """`recap/onTurnStart`."""
    recap.turn_start(params.session_id, call.after_reply)


def on_agent_start(recap: RecapService, params: RecapAgentStartParams, call: Call) -> None:
    """`recap/onAgentStart`."""
    recap.turn_start(params.session_id, call.after_reply)


def on_input(recap: RecapService, params: RecapInputParams, call: Call) -> None:
    """`recap/onInput`."""
    recap.input(params, call.after_reply)


def on_turn_end(recap: RecapService, params: RecapTurnEndParams, call: Call) -> None:
    """`recap/onTurnEnd`."""
    recap.turn_end(params, call.after_reply)


def now(recap: RecapService, params: RecapNowParams, call: Call) -> Coroutine[Any, Any, RecapNowResult]:
    """`recap/now`: takes the slot in its turn; the session does not wait for the model."""
    return recap.now(params, arrived=call.arrived)


def get(recap: RecapService, params: RecapGetParams, call: Call) -> Coroutine[Any, Any, RecapGetResult]:
    """`recap/get`."""
    return recap.get(params.session_id)


def dismiss(recap: RecapService, params: RecapDismissParams, call: Call) -> None:
    """`recap/dismiss`."""
    recap.dismiss(params.session_id, call.after_reply)
