"""The golden vectors: every exported type has good and bad examples, and the types agree with both."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from afterturn.schema import schema, wire_types
from afterturn_protocol.blocks import Block, check_block
from afterturn_protocol.settings import Settings

VECTORS = Path(__file__).parents[2] / "spec" / "vectors"
TYPES: dict[str, Any] = {**wire_types(), "Block": Block}
SETTINGS = {"Settings", *(field.type.__name__ for field in msgspec.structs.fields(Settings))}
SCHEMA = schema()

VALID = sorted(VECTORS.glob("valid/*/*.json"))
INVALID = sorted(VECTORS.glob("invalid/*/*.json"))


def name_of(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def decode(value: Any, type_name: str) -> Any:
    """As the server does it for a message that msgspec alone cannot read (lone surrogates)."""
    decoded = msgspec.convert(value, TYPES[type_name])
    if type_name == "Block":
        check_block(decoded)
    return decoded


def encode(value: Any) -> Any:
    """What is sent, as plain JSON values; lone surrogates come through as escapes."""
    return json.loads(json.dumps(msgspec.to_builtins(value)))


def check_schema(value: Any, type_name: str) -> bool:
    validator = jsonschema.Draft202012Validator({"$ref": f"#/$defs/{type_name}", "$defs": SCHEMA["$defs"]})
    return validator.is_valid(value)


def problem_of(value: Any, type_name: str) -> tuple[str, str]:
    """Path and, for a missing field, its name, of the one error that decoding must raise."""
    with pytest.raises(msgspec.ValidationError) as caught:
        decode(value, type_name)
    text, at, path = str(caught.value).partition(" - at `")
    missing = text.partition("missing required field `")[2].rstrip("`")
    return (path.rstrip("`") if at else "$"), missing


@pytest.mark.req("spec.vectors")
def test_every_type_has_good_and_bad_examples() -> None:
    for kind, least in (("valid", 2), ("invalid", 2)):
        counts = {folder.name: len(list(folder.glob("*.json"))) for folder in (VECTORS / kind).iterdir()}
        assert counts.keys() == TYPES.keys()
        assert {name: count for name, count in counts.items() if count < least} == {}


@pytest.mark.parametrize("path", VALID, ids=name_of)
def test_valid_examples_decode_and_survive_a_round_trip(path: Path) -> None:
    type_name, value = path.parent.name, read(path)
    decoded = decode(value, type_name)
    assert decode(encode(decoded), type_name) == decoded
    assert check_schema(value, type_name)
    assert check_schema(encode(decoded), type_name)


@pytest.mark.parametrize("path", [path for path in VALID if path.stem != "lone-surrogate"], ids=name_of)
def test_the_json_decoder_reads_what_the_slow_path_reads(path: Path) -> None:
    decoded = msgspec.json.decode(path.read_bytes(), type=TYPES[path.parent.name])
    assert decoded == decode(read(path), path.parent.name)
    assert json.loads(msgspec.json.encode(decoded)) == encode(decoded)


@pytest.mark.parametrize("path", [path for path in VALID if path.stem == "full"], ids=name_of)
def test_no_field_of_a_full_example_is_lost_or_unknown(path: Path) -> None:
    value = read(path)
    assert encode(decode(value, path.parent.name)) == value
    assert set(value) == set(SCHEMA["$defs"][path.parent.name]["properties"])


@pytest.mark.parametrize("type_name", [name for name in TYPES if name not in {*SETTINGS, "Block"}])
def test_required_fields_are_exactly_those_of_the_minimal_example(type_name: str) -> None:
    folder = VECTORS / "valid" / type_name
    minimal_path = folder / "minimal.json"
    minimal = read(minimal_path if minimal_path.exists() else folder / "full.json")
    assert encode(decode(minimal, type_name)) == minimal
    assert set(minimal) == set(SCHEMA["$defs"][type_name].get("required", []))
    for field in set(minimal) - {"type"}:
        rest = {key: value for key, value in minimal.items() if key != field}
        assert problem_of(rest, type_name) == ("$", field)


@pytest.mark.parametrize("path", [p for p in VALID if p.stem in ("nulls", "unknown-field")], ids=name_of)
def test_nulls_and_unknown_fields_mean_the_minimal_example(path: Path) -> None:
    if path.parent.name == "Block":
        assert encode(decode(read(path), "Block")) == read(path)
        return
    minimal = path.with_name("minimal.json")
    same_as = read(minimal if minimal.exists() else path.with_name("full.json"))
    assert decode(read(path), path.parent.name) == decode(same_as, path.parent.name)


@pytest.mark.parametrize("path", [path for path in VALID if path.stem == "lone-surrogate"], ids=name_of)
def test_a_lone_surrogate_comes_back_as_the_same_escape(path: Path) -> None:
    text = json.dumps(encode(decode(read(path), path.parent.name)))
    assert r"cut \ud83d here \udc00" in text


@pytest.mark.parametrize("path", INVALID, ids=name_of)
def test_invalid_examples_fail_where_they_say(path: Path) -> None:
    case = read(path)
    assert problem_of(case["value"], path.parent.name) == (case["path"], case.get("expected", ""))
    assert not check_schema(case["value"], path.parent.name)
