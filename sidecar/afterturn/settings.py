"""The settings that are in force: layers merged key by key (protocol.md, 'Lifecycle').

The keys are in `afterturn_protocol.settings`.

Layers, each over the one before: the settings file, the environment, `initializationOptions`,
`workspace/didChangeConfiguration`. A key that cannot be used falls to its default and is reported with its path;
the rest of its layer counts.
"""

import codecs
import os
from collections.abc import Mapping
from typing import Any, cast

import msgspec
from msgspec import structs

from afterturn.misfits import split_problem
from afterturn_protocol.service import SettingsProblem
from afterturn_protocol.settings import CHOICES, Settings
from afterturn_protocol.shape import Shape

FILE_NAME = "settings.toml"
ENVIRONMENT_NAME = "AFTERTURN_SETTINGS"


class Layer(msgspec.Struct, frozen=True):
    """One source of settings: its name for messages, and its tree as it came."""

    source: str
    tree: Any


def resolve(layers: list[Layer]) -> tuple[Settings, list[SettingsProblem]]:
    """Merge the layers, lowest first, and check every key on its own.

    A null means the default. An unknown key is reported and ignored.
    """
    problems: list[SettingsProblem] = []
    values: dict[str, dict[str, Any]] = {}
    sections = {field.encode_name: field for field in structs.fields(Settings)}
    for layer in layers:
        for name, section in _mapping(layer.tree, "", layer.source, problems).items():
            if name not in sections:
                problems.append(_problem(name, "is no setting", layer.source))
                continue
            fields = {field.encode_name: field for field in structs.fields(cast(type[Shape], sections[name].type))}
            for key, value in _mapping(section, name, layer.source, problems).items():
                path = f"{name}.{key}"
                if key not in fields:
                    problems.append(_problem(path, "is no setting", layer.source))
                    continue
                target = values.setdefault(name, {})
                target.pop(fields[key].name, None)
                if value is None:
                    continue
                try:
                    if path == "redaction.extraPatterns" and isinstance(value, list):
                        usable = _usable_patterns(path, cast("list[Any]", value), layer.source, problems)
                        target[fields[key].name] = tuple(usable)
                    else:
                        target[fields[key].name] = _checked(path, value, fields[key].type)
                except ValueError as wrong:
                    problems.append(_problem(path, f"{wrong}; the default is used", layer.source))
    built: dict[str, Any] = {
        field.name: cast(type[Shape], field.type)(**values.get(name, {})) for name, field in sections.items()
    }
    return Settings(**built), problems


def _mapping(tree: Any, path: str, source: str, problems: list[SettingsProblem]) -> Mapping[str, Any]:
    if tree is None or tree == []:  # Lua writes an empty object as an empty array
        return {}
    if isinstance(tree, Mapping):
        return cast(Mapping[str, Any], tree)
    problems.append(_problem(path or "$", "must be a table", source))
    return {}


def _checked(path: str, value: Any, type_: Any) -> Any:
    try:
        checked = msgspec.convert(value, type_)
    except msgspec.ValidationError as wrong:
        _, expected = split_problem(str(wrong))
        raise ValueError(f"must be {expected}, not {_shown(value)}") from None
    except UnicodeEncodeError:  # as a number it is looked at as UTF-8
        raise ValueError(f"holds half a character: {_shown(value)}") from None
    words = CHOICES.get(path)
    if words is not None and checked not in words:
        raise ValueError(f"must be one of {', '.join(words)}, not {_shown(value)}")
    if path == "store.path" and not _can_be_path(checked):
        raise ValueError("holds a character that no path can hold")
    return checked


def _can_be_path(text: str) -> bool:
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:  # half of a surrogate pair
        return False


def _usable_patterns(path: str, patterns: list[Any], source: str, problems: list[SettingsProblem]) -> list[str]:
    """Those that are regular expressions: one bad pattern must not switch off the hiding of all others."""
    import re

    usable: list[str] = []
    for index, pattern in enumerate(patterns):
        place = f"{path}[{index}]"
        if not isinstance(pattern, str):
            problems.append(_problem(place, f"must be string, not {_shown(pattern)}, and is not used", source))
            continue
        try:
            re.compile(pattern)
        except (re.error, OverflowError, RecursionError) as wrong:
            problems.append(_problem(place, f"is no regular expression ({wrong}) and is not used", source))
        else:
            usable.append(pattern)
    return usable


def _shown(value: Any) -> str:
    """A bad value as far as it may be repeated: settings can hold headers and patterns, so strings stay out."""
    if isinstance(value, bool | int | float) or value is None:
        return msgspec.json.encode(value).decode()
    return f"this {type(value).__name__}"


def _problem(path: str, text: str, source: str) -> SettingsProblem:
    return SettingsProblem(path=path, problem=f"{path} {text} (from {source})")


# -- where layers come from -------------------------------------------------------------------------------------


def config_folder(environment: Mapping[str, str]) -> str:
    """The folder of `settings.toml`: AFTERTURN_HOME, else the platform's own place for user settings.

    Raises LookupError where neither is known.
    """
    home = environment.get("AFTERTURN_HOME")
    if home:
        return os.path.expanduser(home)  # noqa: PTH111 (pathlib is not worth its import here)
    from platformdirs import user_config_dir

    try:
        return user_config_dir("afterturn", appauthor=False)
    except RuntimeError:  # no HOME, and a user that the system does not know
        raise LookupError("this user has no home folder: set AFTERTURN_HOME") from None


def file_layers(environment: Mapping[str, str]) -> tuple[list[Layer], list[SettingsProblem]]:
    """The layers that are there before the client says anything: the settings file and AFTERTURN_SETTINGS (JSON)."""
    layers: list[Layer] = []
    problems: list[SettingsProblem] = []
    path, text = FILE_NAME, b""
    try:
        path = os.path.join(config_folder(environment), FILE_NAME)  # noqa: PTH118
        with open(path, "rb") as file:  # noqa: PTH123
            text = file.read()
    except FileNotFoundError:
        pass  # nobody has to have one
    except (LookupError, ValueError) as wrong:  # no home; a NUL in AFTERTURN_HOME
        problems.append(_problem("$", f"cannot be looked for: {wrong}", path))
    except OSError as wrong:
        problems.append(_problem("$", f"cannot be read: {wrong.strerror}", path))
    if text:
        import tomllib

        try:
            # Windows editors put a mark before UTF-8.
            layers.append(Layer(path, tomllib.loads(text.removeprefix(codecs.BOM_UTF8).decode("utf-8"))))
        except RecursionError:
            problems.append(_problem("$", "is nested too deeply", path))
        except ValueError as wrong:  # both a decoding error and a TOML error are one
            problems.append(_problem("$", f"is not TOML: {wrong}", path))
    given = environment.get(ENVIRONMENT_NAME)
    if given:
        try:
            layers.append(Layer(ENVIRONMENT_NAME, msgspec.json.decode(given)))
        except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
            problems.append(_problem("$", "is not JSON", ENVIRONMENT_NAME))
    return layers, problems
