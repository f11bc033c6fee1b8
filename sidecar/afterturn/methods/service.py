"""afterturn/status."""

from afterturn_protocol.service import StatusResult
from afterturn_protocol.shape import Empty

from afterturn.rpc.call import Call
from afterturn.status import Status


def status(status: Status, params: Empty, call: Call) -> StatusResult:
    """`afterturn/status`."""
    return status.report()
