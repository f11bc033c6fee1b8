"""afterturn/status."""

from afterturn.rpc.call import Call
from afterturn.status import Status
from afterturn_protocol.service import StatusResult
from afterturn_protocol.shape import Empty


def status(status: Status, params: Empty, call: Call) -> StatusResult:
    """`afterturn/status`."""
    return status.report()
