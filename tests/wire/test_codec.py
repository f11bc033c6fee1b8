"""Bodies to envelopes, params to types, and what is said about those that do not fit."""

import json
from typing import Annotated

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Raw, Struct

from afterturn.misfits import split_problem
from afterturn.wire.codec import (
    InvalidParams,
    Malformed,
    ParamsDecoder,
    decode_envelope,
    encode,
    find_id,
    without_halves,
)

DEEP = b"[" * 200_000 + b"]" * 200_000


class Inner(Struct):
    count: int = 0


class Params(Struct, rename="camel"):
    session_id: str
    inner: Inner = msgspec.field(default_factory=Inner)
    by_name: dict[str, Inner] = msgspec.field(default_factory=dict)
    many: list[Inner] = msgspec.field(default_factory=list)
    args: object = None
    at_least_one: Annotated[int, msgspec.Meta(ge=1, le=2**63 - 1)] = 1


def test_an_envelope() -> None:
    message = decode_envelope(b'{"jsonrpc":"2.0","id":7,"method":"a/b","params":{"x":1}}')
    assert (message.id, message.method, bytes(message.params)) == (7, "a/b", b'{"x":1}')
    assert decode_envelope(b'{"id":"x"}').method is UNSET


@pytest.mark.req("framing.malformed-json")
@pytest.mark.req("framing.not-a-message")
@pytest.mark.req("framing.unreadable-with-id")
@pytest.mark.parametrize(
    ("body", "code", "id"),
    [
        pytest.param(b"", -32700, None, id="empty"),
        pytest.param(b"{", -32700, None, id="cut"),
        pytest.param(b'{"id":1,"method":"x"', -32700, None, id="cut behind the id"),
        pytest.param(b'{"id":1,"method":"x","params":{"n":NaN}}', -32700, None, id="NaN"),
        pytest.param(b'{"id":1,"method":"x","params":{"n":Infinity}}', -32700, None, id="Infinity"),
        pytest.param(b'{"id":1,"method":"x"} trailing', -32700, None, id="trailing"),
        pytest.param(b'{"id":1,"method":"\\ud8"}', -32700, None, id="bad escape"),
        pytest.param(b'{"id":1,"method":"x","params":{"s":"\\ud83d","n":NaN}}', -32700, None, id="surrogate and NaN"),
        pytest.param(b"\xef\xbb\xbf{}", -32700, None, id="byte order mark"),
        pytest.param(b"[]", -32600, None, id="empty batch"),
        pytest.param(b'[{"jsonrpc":"2.0","id":1,"method":"x"}]', -32600, None, id="batch"),
        pytest.param(b'"x"', -32600, None, id="a string"),
        pytest.param(b"null", -32600, None, id="null"),
        pytest.param(b'{"id":1.5,"method":"x"}', -32600, None, id="fractional id"),
        pytest.param(b'{"id":true,"method":"x"}', -32600, None, id="boolean id"),
        pytest.param(b'{"id":{"a":1},"method":"x"}', -32600, None, id="object id"),
        pytest.param(b'{"id":1,"method":5}', -32600, None, id="method is a number"),
        pytest.param(b'{"id":[],"method":"\\ud83d"}', -32600, None, id="bad id on the slow path"),
        pytest.param(b'{"id":3,"method":"\xff"}', -32700, 3, id="invalid utf-8, id known"),
        pytest.param(b'{"params":"\xff","method":"\xff","id":"q"}', -32700, "q", id="invalid utf-8, id last"),
        pytest.param(b'{"id":4,"method":"x","params":' + DEEP + b"}", -32700, 4, id="too deep, id first"),
        pytest.param(b'{"method":"x","params":' + DEEP + b',"id":"deep"}', -32700, "deep", id="too deep, id last"),
        pytest.param(b'{"params":{"id":9,"x":' + DEEP + b"}}", -32700, None, id="an inner id is not the id"),
        pytest.param(DEEP, -32600, None, id="a deep batch"),
        pytest.param(b"[1,", -32700, None, id="an array that does not end"),
        pytest.param(b'"a" x', -32700, None, id="something behind a string"),
        pytest.param(b'{"id":1.5,', -32700, None, id="a bad id, and no end"),
        pytest.param(b'{"id":1.5,"method":"\\ud83d"', -32700, None, id="a bad id, a surrogate, and no end"),
    ],
)
def test_what_is_no_message(body: bytes, code: int, id: int | str | None) -> None:
    with pytest.raises(Malformed) as problem:
        decode_envelope(body)
    assert (problem.value.code, problem.value.id) == (code, id)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (rb'"plain"', rb'"plain"'),
        (rb'"\ud83d"', rb'"\ufffd"'),
        (rb'"\ude00\ud83d"', rb'"\ufffd\ufffd"'),
        (rb'"\uD83D x"', rb'"\ufffd x"'),
        (rb'"\ud83d\ude00"', rb'"\ud83d\ude00"'),
        (rb'"\ud83d\ud83d\ude00"', rb'"\ufffd\ud83d\ude00"'),
        (rb'"\\ud83d"', rb'"\\ud83d"'),
        (rb'"\\\ud83d"', rb'"\\\ufffd"'),
        (rb'"\n\ud83d\n"', rb'"\n\ufffd\n"'),
    ],
)
def test_halves_of_characters_are_replaced_for_those_who_refuse_them(body: bytes, expected: bytes) -> None:
    assert without_halves(body) == expected


@given(st.text(st.characters(exclude_categories=())))
def test_without_halves_a_message_says_the_same_but_for_them(text: str) -> None:
    replaced = json.loads(without_halves(encode(text)))
    assert replaced == text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


@pytest.mark.req("framing.lone-surrogates")
def test_a_lone_surrogate_survives_both_ways() -> None:
    body = b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"sessionId":"cut \\ud83d here"}}'
    params = ParamsDecoder(Params).decode(decode_envelope(body).params)
    assert params.session_id == "cut \ud83d here"
    assert encode({"id": 1, "result": params}).count(b"cut \\ud83d here") == 1
    assert json.loads(encode({"method": "\udc00", "n": 2**70})) == {"method": "\udc00", "n": 2**70}


def test_an_integer_of_any_length_costs_at_most_its_own_value() -> None:
    for method in (b"x", b"\\ud83d"):
        params = b'{"sessionId":"s","args":[' + b"9" * 5000 + b"]}"
        message = decode_envelope(b'{"jsonrpc":"2.0","id":8,"method":"' + method + b'","params":' + params + b"}")
        assert message.id == 8
        assert ParamsDecoder(Params).decode(message.params).args == [float("inf")]


def test_a_lone_surrogate_in_a_name_is_kept_where_names_are_free_and_ignored_elsewhere() -> None:
    odd = "\\ud83d"
    body = (
        f'{{"jsonrpc":"2.0","id":1,"{odd}":2,"method":"x","params":{{"sessionId":"s","{odd}":1,'
        f'"inner":{{"{odd}":1,"count":4}},"many":[{{"{odd}":[]}}],"byName":{{"{odd}":{{"count":3}}}},"args":{{"{odd}":{{}}}}}}}}'
    ).encode()
    params = ParamsDecoder(Params).decode(decode_envelope(body).params)
    expected = Params("s", Inner(4), by_name={"\ud83d": Inner(3)}, many=[Inner()], args={"\ud83d": {}})
    assert params == expected


@pytest.mark.req("wire.empty-array-as-object")
@pytest.mark.parametrize(
    ("params", "expected"),
    [
        (b'{"sessionId":"s","inner":[]}', Params("s")),
        (b'{"sessionId":"s","byName":[]}', Params("s")),
        (
            b'{"sessionId":"s","byName":{"a":[],"b":{"count":2}},"many":[[],{"count":1}]}',
            Params("s", by_name={"a": Inner(), "b": Inner(2)}, many=[Inner(), Inner(1)]),
        ),
        (b'{"sessionId":"s","args":[]}', Params("s", args=[])),
        (b'{"sessionId":"s","unknown":1}', Params("s")),
        (b'{"sessionId":"s","many":[' + b"[]," * 199 + b"[]]}", Params("s", many=[Inner()] * 200)),
    ],
)
def test_an_empty_array_stands_for_an_empty_object(params: bytes, expected: Params) -> None:
    assert ParamsDecoder(Params).decode(Raw(params)) == expected


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "filler", [b'\\"' * 200_000, b'"' * 200_001, b"\\" * 200_001, b"[" * 5000 + b'"' + b'\\"' * 100_000]
)
def test_an_id_is_looked_for_in_linear_time(filler: bytes) -> None:
    body = b'{"jsonrpc":"2.0","method":"a\xff","params":{"x":"' + filler
    assert find_id(body) is None
    assert find_id(b'{"id":3,"x":"' + filler) == 3


class Nothing(Struct):
    a: int = 0


@pytest.mark.parametrize("params", [UNSET, None, Raw(b"[]"), Raw(b"{}"), Raw(b"null"), [], {}])
def test_params_may_be_left_out(params: object) -> None:
    assert ParamsDecoder(Nothing).decode(params) == Nothing()


@pytest.mark.req("errors.invalid-params-path")
@pytest.mark.parametrize(
    ("params", "path", "expected"),
    [
        (b"{}", "$", "sessionId"),
        (b'{"sessionId":5}', "$.sessionId", "string"),
        (b'{"sessionId":"s","inner":{"count":"x"}}', "$.inner.count", "integer"),
        (b'{"sessionId":"s","many":[{},{"count":1.5}]}', "$.many[1].count", "integer"),
        (b'{"sessionId":"s","many":{}}', "$.many", "array"),
        (b'{"sessionId":"s","inner":[1]}', "$.inner", "object"),
        (b'{"sessionId":"s","atLeastOne":0}', "$.atLeastOne", "integer >= 1"),
        (b'{"sessionId":"s","atLeastOne":' + b"9" * 30 + b"}", "$.atLeastOne", "integer <= 9223372036854775807"),
        (b'{"sessionId":"s","atLeastOne":' + b"9" * 5000 + b"}", "$.atLeastOne", "integer"),
        (b'{"sessionId":"s","args":1e400}', "$.args", "number that 64 bits can hold"),
        (b'"text"', "$", "object"),
        (b"[1]", "$", "object"),
        (b'{"sessionId":"s","inner":{"count":"\\ud83d"}}', "$.inner.count", "integer"),
        (b'{"sessionId":"\\ud83d","many":[{"count":"a \\ude00"}],"\\ud83d":1}', "$.many[0].count", "integer"),
    ],
)
def test_bad_params_are_named_by_path(params: bytes, path: str, expected: str) -> None:
    with pytest.raises(InvalidParams) as problem:
        ParamsDecoder(Params).decode(Raw(params))
    assert (problem.value.path, problem.value.expected) == (path, expected)


def test_bytes_that_are_no_text_are_malformed_not_invalid() -> None:
    for params in (b'{"sessionId":"\xff"}', b'{"sessionId":"s","args":' + DEEP + b"}"):
        with pytest.raises(Malformed):
            ParamsDecoder(Params).decode(Raw(params))


def test_a_problem_without_a_path_is_about_the_whole() -> None:
    assert split_problem("Expected `object`, got `array`") == ("$", "object")
    assert split_problem("Expected `int | null`, got `str` - at `$.a`") == ("$.a", "integer | null")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec=None), max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_whatever_json_can_say_goes_through_unchanged(value: object) -> None:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "x", "params": {"sessionId": "s", "args": value}}).encode()
    args = ParamsDecoder(Params).decode(decode_envelope(body).params).args
    # What JSON reads back: two lone halves that meet become the pair they are.
    assert args == json.loads(json.dumps(value))
    assert json.loads(encode({"result": args})) == {"result": args}


@given(
    st.one_of(st.integers(-(10**17), 10**17), st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=10)),
    JSON,
)
def test_the_id_is_found_without_decoding(id: int | str, value: object) -> None:
    for message in ({"id": id, "params": value}, {"params": value, "id": id}):
        assert find_id(json.dumps(message).encode()) == id


@given(st.binary(max_size=200))
def test_any_body_is_a_message_or_malformed(body: bytes) -> None:
    try:
        decode_envelope(body)
    except Malformed as problem:
        assert problem.code in (-32700, -32600)
