"""The protocol as data for other languages: schema.json and meta.json, generated from `afterturn_protocol`.

`python -m afterturn.schema --write spec` writes both files and the method table in the spec's README; the committed
files are compared with a fresh run by a test. Nothing here is loaded by a serving process.
"""

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import msgspec

from afterturn_protocol import PROTOCOL_VERSION
from afterturn_protocol.errors import CODES, KINDS
from afterturn_protocol.settings import CHOICES
from afterturn_protocol.shape import Shape
from afterturn_protocol.table import EVENTS, METHODS, SERVER_REQUESTS

Json = dict[str, Any]

NOUNS = (
    "shape",
    "errors",
    "blocks",
    "base",
    "context",
    "lifecycle",
    "session",
    "condense",
    "refs",
    "recap",
    "traces",
    "capture",
    "events",
    "service",
    "sampling",
    "settings",
)
"""The modules of `afterturn_protocol` that hold wire types, in the order of the schema."""

TABLE_BEGIN = "<!-- generated: methods -->"
TABLE_END = "<!-- end of generated -->"

_INT64_BOUNDS = (-(2**63), 2**63 - 1)


def wire_types() -> dict[str, type[Shape]]:
    """Every exported wire type by its name in the schema, in order of definition."""
    found: dict[str, type[Shape]] = {}
    for noun in NOUNS:
        module = import_module(f"afterturn_protocol.{noun}")
        for value in vars(module).values():
            if isinstance(value, type) and issubclass(value, Shape) and value.__module__ == module.__name__:
                found[value.__name__] = value
    del found["Shape"]
    return found


def schema() -> Json:
    """The JSON Schema (2020-12) of every wire type, under `$defs`."""
    types = wire_types()
    _, generated = msgspec.json.schema_components(types.values(), ref_template="#/$defs/{name}")
    defs: Json = {"Block": _block()}
    for name, type_ in types.items():
        defs[name] = _definition(generated[name], type_)
    _add_choices(defs)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:afterturn:protocol:{PROTOCOL_VERSION}",
        "title": f"afterturn protocol {PROTOCOL_VERSION}",
        "description": (
            "Generated from the wire types. A field that may be null and is not required means the same either way."
            " Fields that are not listed are ignored by the receiver."
        ),
        "$defs": defs,
    }


def meta() -> Json:
    """Methods, events and server requests with their types, error codes and kinds."""
    return {
        "protocolVersion": PROTOCOL_VERSION,
        "methods": [
            {
                "name": method.name,
                "kind": method.kind,
                "params": _type_name(method.params),
                "result": _type_name(method.result) if method.result else None,
                "stability": method.stability,
                "implemented": method.implemented,
            }
            for method in METHODS.values()
        ],
        "events": [
            {
                "name": event.name,
                "params": _type_name(event.params),
                "stability": event.stability,
                "implemented": event.implemented,
            }
            for event in EVENTS.values()
        ],
        "serverRequests": [
            {
                "name": request.name,
                "params": _type_name(request.params),
                "result": _type_name(request.result),
                "capability": request.capability,
                "stability": request.stability,
                "implemented": request.implemented,
            }
            for request in SERVER_REQUESTS.values()
        ],
        "errorCodes": CODES,
        "kinds": [{"kind": kind, "code": code, "meaning": meaning} for kind, (code, meaning) in KINDS.items()],
    }


def schema_text() -> str:
    """schema.json, byte for byte."""
    return _text(schema())


def meta_text() -> str:
    """meta.json, byte for byte."""
    return _text(meta())


def method_table() -> str:
    """The Markdown table of all calls and events, with what this version answers, for the spec's README."""
    lines = ["| name | sent as | params | result | this version |", "|---|---|---|---|---|"]
    for method in METHODS.values():
        result = _type_name(method.result) if method.result else "–"
        state = "yes" if method.implemented else "not yet: −32601"
        lines.append(f"| `{method.name}` | {method.kind} | {_type_name(method.params)} | {result} | {state} |")
    for event in EVENTS.values():
        state = "yes" if event.implemented else "not yet: never sent"
        lines.append(f"| `{event.name}` | event | {_type_name(event.params)} | – | {state} |")
    for request in SERVER_REQUESTS.values():
        state = "yes" if request.implemented else "not yet: never sent"
        params, result = _type_name(request.params), _type_name(request.result)
        lines.append(f"| `{request.name}` | server request | {params} | {result} | {state} |")
    return "\n".join(lines)


def with_table(readme: str) -> str:
    """`readme` with the generated table between its two marks. Raises ValueError if a mark is missing."""
    head, begin, rest = readme.partition(TABLE_BEGIN)
    _, end, tail = rest.partition(TABLE_END)
    if not begin or not end:
        raise ValueError(f"the README lacks {TABLE_BEGIN} or {TABLE_END}")
    return f"{head}{begin}\n\n{method_table()}\n\n{end}{tail}"


def write(folder: Path) -> None:
    """Write schema.json and meta.json into `folder`, and the table into its README.md."""
    (folder / "schema.json").write_text(schema_text(), encoding="utf-8")
    (folder / "meta.json").write_text(meta_text(), encoding="utf-8")
    readme = folder / "README.md"
    readme.write_text(with_table(readme.read_text(encoding="utf-8")), encoding="utf-8")


def field_docs(type_: type[Shape]) -> tuple[str, dict[str, str]]:
    """A type's docstring as its description and, by Python name, the descriptions of its fields."""
    fields = type_.__struct_fields__
    summary: list[str] = []
    docs: dict[str, list[str]] = {}
    current = summary
    for line in (type_.__doc__ or "").splitlines():
        name, colon, text = line.strip().partition(": ")
        if colon and name in fields:
            current = docs[name] = [text]
        else:
            current.append(line.strip())
    return " ".join(filter(None, summary)), {name: " ".join(filter(None, lines)) for name, lines in docs.items()}


def _text(value: Json) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _type_name(name: str) -> str:
    return name.partition(":")[2]


def _block() -> Json:
    known = [{"$ref": f"#/$defs/{name}"} for name in ("TextBlock", "ImageBlock", "ThinkingBlock")]
    strict = {"enum": ["text", "image"]}
    other = {"type": "object", "properties": {"type": {"type": "string", "not": strict}}, "required": ["type"]}
    return {
        "description": "One content block. Other types, and fields that are not listed, are kept as they came.",
        "anyOf": [*known, other],
    }


def _definition(generated: Json, type_: type[Shape]) -> Json:
    description, docs = field_docs(type_)
    names = dict(zip(type_.__struct_encode_fields__, type_.__struct_fields__, strict=True))
    properties = {
        wire: _property(value, docs.get(names[wire]) if wire in names else None)
        for wire, value in cast(Json, generated["properties"]).items()
    }
    result: Json = {"description": description, "type": "object", "properties": properties}
    if generated["required"]:
        result["required"] = generated["required"]
    return result


def _property(generated: Json, doc: str | None) -> Json:
    result = cast(Json, _simplify(generated))
    if result.get("default", ...) is None or "$ref" in result:
        result.pop("default", None)
    return {"description": doc, **result} if doc else result


def _simplify(value: Any) -> Any:
    """msgspec's schema in fewer words: 64 bits as a format, null as one of two types, a tag as a constant."""
    if isinstance(value, list | tuple):
        return [_simplify(item) for item in cast(list[Any], value)]
    if not isinstance(value, dict):
        return value
    result: Json = {key: _simplify(item) for key, item in cast(Json, value).items()}
    if "$ref" in result:
        result.pop("type", None)
    if result.get("maximum") == _INT64_BOUNDS[1]:
        del result["maximum"]
        result["format"] = "int64"
    if result.get("minimum") == _INT64_BOUNDS[0]:
        del result["minimum"]
    if list(result) == ["enum"]:
        return {"type": "string", "const": result["enum"][0]}
    return _nullable(result)


def _nullable(value: Json) -> Json:
    """`anyOf` of one plain type and null as that type with `["...", "null"]`; anything else as it is."""
    members = cast(list[Json], value.get("anyOf", []))
    if len(members) != 2 or members[1] != {"type": "null"} or "type" not in members[0]:
        return value
    rest = {key: item for key, item in value.items() if key != "anyOf"}
    return {**members[0], "type": [members[0]["type"], "null"], **rest}


def _add_choices(defs: Json) -> None:
    for path, words in CHOICES.items():
        section, _, key = path.partition(".")
        holder = defs["Settings"]["properties"][section]["$ref"].rpartition("/")[2]
        defs[holder]["properties"][key]["enum"] = list(words)


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] != "--write":
        sys.exit("usage: python -m afterturn.schema --write DIR")
    write(Path(sys.argv[2]))
