"""afterturn/status, afterturn/usage."""

from collections.abc import Coroutine
from typing import Any

from afterturn.models.report import UsageReport
from afterturn.rpc.call import Call
from afterturn.status import Status
from afterturn_protocol.service import StatusResult, UsageParams, UsageResult
from afterturn_protocol.shape import Empty


def status(status: Status, params: Empty, call: Call) -> Coroutine[Any, Any, StatusResult]:
    """`afterturn/status`."""
    return status.report()


def usage(report: UsageReport, params: UsageParams, call: Call) -> Coroutine[Any, Any, UsageResult]:
    """`afterturn/usage`."""
    return report.since(params.since)
