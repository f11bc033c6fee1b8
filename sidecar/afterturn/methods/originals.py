"""condense/resolveRef. Apart from the other methods of condensing, of which it needs nothing: it is often the first."""

from collections.abc import Coroutine
from typing import Any

from afterturn.condense.resolving import Originals
from afterturn.rpc.call import Call
from afterturn_protocol.refs import ResolveRefParams, ResolveRefResult


def resolve_ref(originals: Originals, params: ResolveRefParams, call: Call) -> Coroutine[Any, Any, ResolveRefResult]:
    """`condense/resolveRef`."""
    return originals.resolve_ref(params)
