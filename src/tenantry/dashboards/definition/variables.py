"""Variables in JSON: chart specifications and dashboard definitions. An example:
    {"title": "Sales in {{ region }}", "limit": "{{ user_group.properties.limit }}", "regions": "{{ regions }}"}

A string that is one ``{{ path }}`` and nothing else becomes the variable's value: a number stays a number. In a longer
string, the value is inserted as text. There are no expressions and no filters. A path is ``name``, then any number of
``.name``, ``.0``, ``[0]`` and ``["any name"]``. ``\\{{`` is a literal ``{{``. Object names cannot contain variables. An
inserted value is not searched for variables.

Values are not escaped for a language inside the JSON, so use a variable only as a whole parameter of a chart
(``"value": "{{ region }}"``), never in an expression, a query, an address or HTML.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tenantry.errors import MissingVariable, TemplateError, UnbindableValue
from tenantry.groups import Record, RecordList

MAX_DEPTH = 64
"""Maximum nesting of a definition, and of a value inserted into it."""

_TOKEN = re.compile(r"\\\{\{|\{\{(.*?)\}\}|\{\{", re.DOTALL)
_STEP = re.compile(r"""\.?([^\W\d]\w*)|\.(\d{1,9})|\[\s*(\d{1,9})\s*\]|\[\s*("(?:[^"\\]|\\.)*")\s*\]""")

Step = str | int


@dataclass(frozen=True, slots=True)
class VariablePath:
    """A variable ``{{ path }}`` in a Definition."""

    text: str
    """The path as written, without the braces and the spaces around it."""
    pointer: str
    """The JSON pointer of the string that contains the variable."""
    steps: tuple[Step, ...]
    """The names and indexes of the path."""


@dataclass(frozen=True, slots=True)
class _Text:
    parts: tuple[str | VariablePath, ...]


class Definition:
    """Parsed JSON whose strings may contain variables, such as ``{{ region }}``. Raises TemplateError, with a JSON
    pointer as ``field``, for an invalid value or variable."""

    __slots__ = ("_tree", "paths")

    paths: tuple[VariablePath, ...]
    """Every ``{{ path }}``, in order."""

    def __init__(self, definition: Any) -> None:
        paths: list[VariablePath] = []
        self._tree = _read(definition, "", 0, paths)
        self.paths = tuple(paths)

    def substitute(self, variables: Mapping[str, Any] | Record) -> Any:
        """Return the JSON with all variables replaced by their values. If variables are missing, raises one
        MissingVariable for all of them. Raises UnbindableValue for a value that JSON cannot represent, or if a variable
        that is only part of a string is null, a list or an object."""
        values = {path: _look_up(variables, path.steps) for path in dict.fromkeys(self.paths)}
        missing = [path for path, value in values.items() if value is _MISSING]
        if missing:
            listed = ", ".join(f"{path.text} (at {path.pointer or 'the root'})" for path in missing)
            names = tuple(dict.fromkeys(path.text for path in missing))
            raise MissingVariable(
                f"no value for {listed}: correct the name, set the group's property, or pass the variable", names=names
            )
        return _substitute(self._tree, values)


def substitute(definition: Any, variables: Mapping[str, Any] | Record) -> Any:
    """The same as ``Definition(definition).substitute(variables)``."""
    return Definition(definition).substitute(variables)


# --- reading a definition ---------------------------------------------------------------------------------------------


def _read(node: Any, pointer: str, depth: int, paths: list[VariablePath]) -> Any:
    if isinstance(node, str):
        return _read_text(node, pointer, paths)
    if depth >= MAX_DEPTH and isinstance(node, dict | list | tuple):
        raise _error(f"nested deeper than {MAX_DEPTH} levels", pointer)
    if isinstance(node, dict):
        return {
            _read_name(name, pointer): _read(value, _child_pointer(pointer, name), depth + 1, paths)
            for name, value in node.items()
        }
    if isinstance(node, list | tuple):
        return [_read(value, _child_pointer(pointer, index), depth + 1, paths) for index, value in enumerate(node)]
    if node is None or isinstance(node, bool | int) or (isinstance(node, float) and math.isfinite(node)):
        return node
    raise _error(
        f"a value of type {type(node).__name__} cannot be written as JSON: use a string, a finite number, True, False, "
        "None, a list or a dict",
        pointer,
    )


def _read_name(name: Any, pointer: str) -> str:
    if not isinstance(name, str):
        raise _error("a key that is not a string", pointer)
    if any(match.group() != r"\{{" for match in _TOKEN.finditer(name)):
        problem = r"the keys of an object cannot contain variables (for two literal braces write \{{)"
        raise _error(problem, _child_pointer(pointer, name))
    return name.replace(r"\{{", "{{")


def _read_text(text: str, pointer: str, paths: list[VariablePath]) -> str | VariablePath | _Text:
    parts: list[str | VariablePath] = []
    end = 0
    for match in _TOKEN.finditer(text):
        parts.append(text[end : match.start()])
        parts.append("{{" if match.group() == r"\{{" else _read_path(match, pointer))
        end = match.end()
    parts.append(text[end:])
    found = [part for part in parts if isinstance(part, VariablePath)]
    paths += found
    if not found:
        return "".join(str(part) for part in parts)
    if "".join("x" if isinstance(part, VariablePath) else part for part in parts) == "x":
        return found[0]
    return _Text(tuple(part for part in parts if part != ""))


def _read_path(match: re.Match[str], pointer: str) -> VariablePath:
    inside = match.group(1)
    if inside is None:
        raise _error(r"{{ is never closed (for two literal braces write \{{)", pointer)
    path = inside.strip()
    steps: list[Step] = []
    end = 0
    while end < len(path):
        step = _STEP.match(path, end)
        if step is None:
            break
        name, dotted, index, quoted = step.groups()
        has_dot = step.group().startswith(".")
        if (name is None and not steps) or (name is not None and has_dot is not bool(steps)):
            break  # the first name of a path has no dot before it; all later names need one
        if quoted is None:
            steps.append(name or int(dotted or index))
        else:
            try:
                steps.append(str(json.loads(quoted)))
            except ValueError:
                raise _error(f"{quoted} is not a JSON string", pointer) from None
        end = step.end()
    if end < len(path) or not steps:
        raise _error(
            f"{{{{{inside}}}}} is not a path: write names joined by dots, as in {{{{ user_group.name }}}}; "
            "expressions and filters are not supported",
            pointer,
        )
    return VariablePath(path, pointer, tuple(steps))


def _child_pointer(pointer: str, name: object) -> str:
    return f"{pointer}/{str(name).replace('~', '~0').replace('/', '~1')}"


def _error(what: str, pointer: str) -> TemplateError:
    error = TemplateError(f"definition, at {pointer or 'the root'}: {what}", problem=what)
    error.field = pointer
    return error


# --- substituting variables -------------------------------------------------------------------------------------------

_MISSING = object()


def _look_up(value: Any, steps: tuple[Step, ...]) -> Any:
    for step in steps:
        if isinstance(step, str):
            if not isinstance(value, Record | Mapping) or step not in value:
                return _MISSING
            value = value[step]
        else:
            if not isinstance(value, RecordList | list | tuple) or step >= len(value):
                return _MISSING
            value = value[step]
    return value


def _substitute(node: Any, values: dict[VariablePath, Any]) -> Any:
    kind = type(node)
    if kind is dict:
        return {name: _substitute(value, values) for name, value in node.items()}
    if kind is list:
        return [_substitute(value, values) for value in node]
    if kind is VariablePath:
        return _plain(values[node], node, 0)
    if kind is _Text:
        return "".join(part if isinstance(part, str) else _text(values[part], part) for part in node.parts)
    return node


def _plain(value: Any, path: VariablePath, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise _unbindable(path, f"is nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, str):
        return str.__str__(value)
    if value is None or isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, Record | Mapping):
        if all(isinstance(name, str) for name in value):
            return {name: _plain(value[name], path, depth + 1) for name in value}
        raise _unbindable(path, "has a key that is not a string")
    if isinstance(value, RecordList | list | tuple):
        return [_plain(item, path, depth + 1) for item in value]
    if isinstance(value, float):
        raise _unbindable(path, "is a number that JSON does not have")
    raise _unbindable(path, f"is of type {type(value).__name__}, which JSON does not have")


def _text(value: Any, path: VariablePath) -> str:
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bool | int | float):
        return json.dumps(_plain(value, path, 0))
    kind = "null" if value is None else f"of type {type(value).__name__}"
    raise _unbindable(
        path, f"is {kind}, which cannot be part of a longer text: make {{{{ {path.text} }}}} the whole text"
    )


def _unbindable(path: VariablePath, what: str) -> UnbindableValue:
    return UnbindableValue(f"{path.text}, at {path.pointer or 'the root'}, {what}", name=path.text)
