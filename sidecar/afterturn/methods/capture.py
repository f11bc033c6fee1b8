"""capture/episodeFinalized, status, drain, retry."""

from collections.abc import Coroutine
from typing import Any

from afterturn.capture.service import CaptureService
from afterturn.rpc.call import Call
from afterturn_protocol.capture import (
    CaptureDrainParams,
    CaptureDrainResult,
    CaptureRetryParams,
    CaptureRetryResult,
    CaptureStatusParams,
    CaptureStatusResult,
    EpisodeFinalizedParams,
    EpisodeFinalizedResult,
)


def episode_finalized(
    capture: CaptureService, params: EpisodeFinalizedParams, call: Call
) -> Coroutine[Any, Any, EpisodeFinalizedResult]:
    """`capture/episodeFinalized`."""
    return capture.episode_finalized(params, arrived=call.arrived, after_reply=call.after_reply)


def status(
    capture: CaptureService, params: CaptureStatusParams, call: Call
) -> Coroutine[Any, Any, CaptureStatusResult]:
    """`capture/status`."""
    return capture.status(params)


def drain(capture: CaptureService, params: CaptureDrainParams, call: Call) -> Coroutine[Any, Any, CaptureDrainResult]:
    """`capture/drain`."""
    return capture.drain(params)


def retry(capture: CaptureService, params: CaptureRetryParams, call: Call) -> Coroutine[Any, Any, CaptureRetryResult]:
    """`capture/retry`."""
    return capture.retry(params, after_reply=call.after_reply)
