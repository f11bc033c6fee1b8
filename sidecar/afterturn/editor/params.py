"""Params of LSP methods: from plain values to lsprotocol's types, strictly (protocol.md, 'Errors').

lsprotocol's own converter takes "9" for 9 and 3 for "3"; here that is a misfit, which is answered with its place.
"""

import re
from typing import Any, TypeVar, cast

import msgspec
from cattrs import Converter
from cattrs.errors import AttributeValidationNote, ClassValidationError, IterableValidationError
from lsprotocol import types
from pygls.protocol import default_converter

from afterturn.misfits import InvalidInputError, split_problem

T = TypeVar("T")

_PLAIN = {bool: "boolean", int: "integer", float: "number", str: "string"}


class _Expected(TypeError):
    """What belongs where something else is."""


def strict_converter() -> Converter:
    """lsprotocol's converter, without its leniency about plain values."""
    converter = default_converter()
    for type_ in _PLAIN:
        converter.register_structure_hook(type_, _strictly)
    converter.register_structure_hook(types.ProgressToken, _token)
    converter.register_structure_hook(types.ProgressToken | None, _token_or_none)
    return converter


def structured(converter: Converter, value: Any, type_: type[T]) -> T:
    """`value` as one of lsprotocol's types. Raises InvalidInputError."""
    try:
        return converter.structure(value, type_)
    except Exception as problem:  # cattrs and lsprotocol's hooks raise whatever the value makes them stumble over
        path, expected = _misfit(problem, "$")
        raise InvalidInputError(path, expected) from None


def fitted(value: Any, type_: type[T], path: str) -> T:
    """`value`, which is at `path` of the params, as a Struct; `[]` counts as an object. Raises InvalidInputError."""
    try:
        return msgspec.convert({} if value == [] else value, type_)
    except msgspec.ValidationError as problem:
        inner, expected = split_problem(str(problem))
        raise InvalidInputError(path + inner[1:], expected) from None
    except UnicodeEncodeError:  # from half a character where no text belongs
        raise InvalidInputError(path, "object") from None


def params_type(method: str) -> type[Any]:
    """The type of a method's params."""
    return cast("type[Any]", types.METHOD_TO_TYPES[method][2])


def _strictly(value: Any, type_: type[Any]) -> Any:
    """A plain value; of an enum of such values, which comes here too, the member."""
    plain = next(each for each in _PLAIN if issubclass(type_, each))
    if type(value) is plain or (plain is float and type(value) is int):
        return value if type_ is plain else type_(value)
    raise _Expected(_PLAIN[plain])


def _token(value: Any, type_: Any) -> int | str:
    if type(value) in (int, str):
        return value
    raise _Expected("integer | string")


def _token_or_none(value: Any, type_: Any) -> int | str | None:
    return None if value is None else _token(value, type_)


def _misfit(problem: BaseException, path: str) -> tuple[str, str]:
    """The place of the first misfit, and what belongs there; for a missing field its object, and its name."""
    if isinstance(problem, ClassValidationError | IterableValidationError):
        inner: BaseException = problem.exceptions[0]
        note: Any = next(iter(getattr(inner, "__notes__", ())), None)
        if isinstance(note, AttributeValidationNote):
            name = _camel(note.name)
            if isinstance(inner, KeyError) and inner.args == (name,):
                return path, name
            if isinstance(inner, TypeError) and not isinstance(inner, _Expected):
                return path, "object"
            return _misfit(inner, f"{path}.{name}")
        index = getattr(note, "index", None)
        return _misfit(inner, path if index is None else f"{path}[{index}]")
    if isinstance(problem, _Expected):
        return path, str(problem)
    if isinstance(problem, ValueError) and (enum := re.search(r"is not a valid (\w+)", str(problem))):
        return path, enum[1]
    if isinstance(problem, ValueError) and (bound := re.search(r"\.(\w+) should be in range (\[\S+\])", str(problem))):
        return f"{path}.{_camel(bound[1])}", f"integer in {bound[2]}"
    return path, "another shape"


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)
