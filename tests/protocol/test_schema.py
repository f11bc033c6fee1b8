"""schema.json and meta.json: committed, regenerated here and compared byte for byte, and true to the types."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from afterturn.schema import (
    TABLE_BEGIN,
    TABLE_END,
    field_docs,
    meta,
    meta_text,
    schema,
    schema_text,
    wire_types,
    with_table,
    write,
)
from afterturn_protocol.table import EVENTS, METHODS, SERVER_REQUESTS

SPEC = Path(__file__).parents[2] / "spec"
DEFS = schema()["$defs"]


@pytest.mark.req("spec.schema-generated")
@pytest.mark.parametrize(("name", "text"), [("schema.json", schema_text()), ("meta.json", meta_text())])
def test_the_committed_file_is_what_the_types_say(name: str, text: str) -> None:
    assert (SPEC / name).read_text(encoding="utf-8") == text, "run: python -m afterturn.schema --write spec"


def test_the_committed_method_table_is_what_the_table_says() -> None:
    readme = (SPEC / "README.md").read_text(encoding="utf-8")
    assert with_table(readme) == readme, "run: python -m afterturn.schema --write spec"


def test_writing_twice_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text(f"a\n{TABLE_BEGIN}old{TABLE_END}\nb\n", encoding="utf-8")
    write(tmp_path)
    first = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    write(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == first
    assert first.keys() == {"README.md", "schema.json", "meta.json"}
    assert first["README.md"].startswith(b"a\n" + TABLE_BEGIN.encode())


@pytest.mark.parametrize("readme", ["", TABLE_BEGIN, TABLE_END])
def test_a_readme_without_marks_is_refused(readme: str) -> None:
    with pytest.raises(ValueError, match="lacks"):
        with_table(readme)


def test_it_is_a_json_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())


def references(value: Any) -> set[str]:
    if isinstance(value, list):
        return set().union(*map(references, value))
    if isinstance(value, dict):
        own = {value["$ref"]} if isinstance(value.get("$ref"), str) else set[str]()
        return own.union(*map(references, value.values()))
    return set()


def test_every_reference_resolves() -> None:
    assert {ref.removeprefix("#/$defs/") for ref in references(schema())} <= DEFS.keys()


@pytest.mark.parametrize("name", wire_types())
def test_every_type_and_field_is_described(name: str) -> None:
    type_ = wire_types()[name]
    description, docs = field_docs(type_)
    assert description
    assert set(docs) == set(type_.__struct_fields__)
    assert all(docs.values())
    described = {key for key, value in DEFS[name]["properties"].items() if "description" in value}
    assert described == set(type_.__struct_encode_fields__)


def test_every_type_is_reachable() -> None:
    """A type that no call or event carries is dead, but for the settings tree and the error."""
    roots = {"Settings", "ErrorObject"}
    for entry in [*meta()["methods"], *meta()["events"], *meta()["serverRequests"]]:
        roots |= {entry["params"], entry.get("result")} - {None}
    seen: set[str] = set()
    while roots - seen:
        name = (roots - seen).pop()
        seen.add(name)
        roots |= {ref.removeprefix("#/$defs/") for ref in references(DEFS[name])}
    assert seen == DEFS.keys()


def test_meta_names_only_known_types() -> None:
    found = meta()
    for section, table in (("methods", METHODS), ("events", EVENTS), ("serverRequests", SERVER_REQUESTS)):
        assert [entry["name"] for entry in found[section]] == list(table)
        for entry in found[section]:
            assert entry["params"] in DEFS
            assert entry.get("result") is None or entry["result"] in DEFS
    assert found["protocolVersion"] == 1


def test_the_files_are_plain_json() -> None:
    assert json.loads(schema_text()) == schema()
    assert json.loads(meta_text()) == meta()
