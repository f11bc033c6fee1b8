"""One embedding call through litellm: arguments in, vectors or a failure out, and no word of the provider's."""

import math
import sys
from array import array
from collections.abc import Callable
from typing import Any

from afterturn.models.worker.completing import access_arguments, failed
from afterturn.models.worker.exchange import Exchange, current_exchange
from afterturn.models.worker.messages import Embed, Embedded, Failed
from afterturn.models.worker.spending import spent_on_vectors


async def embedded(litellm: Any, call: Embed, on_bytes: Callable[[], None]) -> Embedded | Failed:
    """Make the call. Cancelling closes its connection. on_bytes: called whenever the provider sends something."""
    exchange = Exchange(on_bytes)
    current_exchange.set(exchange)
    given = {"model": call.model, "input": call.texts, "encoding_format": "float", **access_arguments(call)}
    try:
        answer = await litellm.aembedding(**given)
        vectors = _vectors(answer.data, len(call.texts))
    except Exception as problem:  # litellm raises whatever its parts raise; each becomes a code
        return failed(call, exchange, type(problem).__name__)
    known = spent_on_vectors(litellm, call.model, getattr(answer, "usage", None))
    return Embedded(id=call.id, vectors=vectors, input_tokens=known.input_tokens, cost=known.cost)


def _vectors(data: Any, count: int) -> list[bytes]:
    """The vectors in the order of their texts, of unit length. Raises what wrong shapes raise."""
    found: dict[int, bytes] = {each["index"]: _unit(each["embedding"]) for each in data}
    if sorted(found) != list(range(count)) or len(data) != count:
        raise ValueError("not one vector for each text")
    return [found[index] for index in range(count)]


def _unit(components: Any) -> bytes:
    numbers = [float(each) for each in components]
    length = math.sqrt(math.fsum(each * each for each in numbers))
    if not 0 < length < math.inf:
        raise ValueError("a vector without a length")
    unit = array("f", (each / length for each in numbers))
    if sys.byteorder == "big":
        unit.byteswap()
    return unit.tobytes()
