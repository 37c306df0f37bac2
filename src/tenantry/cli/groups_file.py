"""Reads a file of user groups and of changes to data sources: YAML 1.2, JSON or NDJSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from tenantry.cli.declared_sources import KEY, DeclaredSource, declared_sources, read_declared_source
from tenantry.cli.progress import progress
from tenantry.errors import InvalidBody, InvalidGroupsFile, TemplateError, TenantryError, did_you_mean
from tenantry.groups import SETTABLE_FIELDS
from tenantry.provisioning import Upsert, check_changes, check_text
from tenantry.sql import Source
from tenantry.sql.header import YamlNode, read_yaml

if TYPE_CHECKING:
    from tenantry.provisioning.http import Line, LineSplitter

LONGEST: Final = 64 * 1024 * 1024
"""Maximum characters of a file."""

FIELDS: Final = SETTABLE_FIELDS
_KEYS: Final = ("groups", KEY)
_SHOWN: Final = 20
_PART: Final = 64 * 1024
_NO_GROUP: Final = "write one group per line; to declare no groups, write `groups: {}` in a YAML file"
_EXAMPLE: Final = "write `groups:`, and below it `acme: {name: Acme Ltd, properties: {region: eu}}`"


@dataclass(frozen=True, slots=True)
class GroupsFile:
    groups: dict[str, Upsert] = field(default_factory=dict)
    sources: list[DeclaredSource] = field(default_factory=list)


def read_groups_file(text: str, file: str) -> GroupsFile:
    """Parse ``text`` as NDJSON if the name ``file`` ends in ``.ndjson`` or ``.jsonl``, otherwise as YAML. Raises
    InvalidGroupsFile with the first 20 mistakes."""
    if len(text) > LONGEST:
        raise InvalidGroupsFile(
            f"{file}: a file of groups may have at most {LONGEST} characters, and this one has {len(text)}: "
            "split the file"
        )
    errors: list[str] = []
    wanted = GroupsFile()
    reader = _lines if file.endswith((".ndjson", ".jsonl")) else _yaml
    for found in reader(text, file):
        if isinstance(found, Upsert):
            wanted.groups[found.provided_id] = found
        elif isinstance(found, DeclaredSource):
            wanted.sources.append(found)
        else:
            errors.append(found)
    if errors:
        more = [f"… and {len(errors) - _SHOWN} more"] if len(errors) > _SHOWN else []
        raise InvalidGroupsFile("\n".join([*errors[:_SHOWN], *more]))
    return wanted


# --- lines of JSON ----------------------------------------------------------------------------------------------------


def _lines(text: str, file: str) -> Iterator[Upsert | str]:
    from tenantry.provisioning.http import (
        LineSplitter,  # imports pydantic, which other group commands do not need
        read_line,
    )

    first: dict[str, int] = {}
    splitter, read = LineSplitter(), None
    for line in _read(text, splitter):
        read = read_line(line, replace=True)
        try:
            if isinstance(read.parsed, TenantryError):
                raise read.parsed
            _check(read.parsed)
        except TenantryError as error:
            path = _path(error)
            field = f"{'.'.join(path)}: " if path else ""
            problem = _problem(path, error)
            yield f"{file}:{line.number}: {field}{problem}\n  fix: {_fix(path, problem)}"
            continue
        before = first.setdefault(read.parsed.provided_id, line.number)
        if before != line.number:
            yield f"{file}:{line.number}: user_group_id: line {before} has the same id\n  fix: remove one of the lines"
        else:
            yield read.parsed
    if read is None:  # a failed export must not delete all groups
        yield f"{file}: the file has no group\n  fix: {_NO_GROUP}"


def _read(text: str, splitter: LineSplitter) -> Iterator[Line]:
    encoded = text.encode("utf-8", "surrogatepass")
    with progress(len(encoded), "Reading") as advance:
        for start in range(0, len(encoded), _PART):
            part = encoded[start : start + _PART]
            yield from splitter.feed(part)
            advance(len(part))
        yield from splitter.end()


def _check(upsert: Upsert) -> None:
    check_text(upsert.provided_id, "/user_group_id")
    check_changes(upsert.changes)


# --- YAML -------------------------------------------------------------------------------------------------------------


def _yaml(text: str, file: str) -> Iterator[Upsert | DeclaredSource | str]:
    try:
        source = Source(text, file, longest=LONGEST)
        with progress(len(text), "Reading") as advance:
            root = read_yaml(source, 0, len(text), advance=advance)
        groups, declarations = _groups(root, source), declared_sources(root, source)
    except TemplateError as error:
        yield error.message
        return
    for provided_id, node in declarations.items():
        try:
            yield read_declared_source(provided_id, node, source)
        except TemplateError as error:
            yield error.message
    with progress(len(groups), "Checking") as advance:
        for provided_id, node in groups.items():
            try:
                yield _group(provided_id, node, source, groups)
            except TemplateError as error:
                yield error.message
            advance(1)


def _groups(root: YamlNode, source: Source) -> _Groups:
    top = root.value
    if not isinstance(top, dict) or "groups" not in top:
        raise source.error(root.offset, "a file of groups needs the key `groups`", _EXAMPLE)
    for name, offset in root.keys.items():
        if name not in _KEYS:
            fix = f"{did_you_mean(name, _KEYS)}The file has the keys {' and '.join(_KEYS)}"
            raise source.error(offset, f"there is no key {name}", fix)
    node = top["groups"]
    if not isinstance(node.value, dict):
        offset = root.keys["groups"] if node.value is None else node.offset
        raise source.error(offset, "groups must be a mapping of ids to groups", _EXAMPLE)
    return _Groups(node)


class _Groups(dict[str, YamlNode]):
    def __init__(self, node: YamlNode) -> None:
        assert isinstance(node.value, dict)  # noqa: S101 - checked by the caller
        super().__init__(node.value)
        self.offsets: Mapping[str, int] = node.keys


def _group(provided_id: str, node: YamlNode, source: Source, groups: _Groups) -> Upsert:
    from tenantry.provisioning.http import parse_line  # imports pydantic

    fields: Any = {} if node.value is None else node.plain()
    if not isinstance(fields, dict):
        raise source.error(node.offset, "a group must be a mapping of its fields", f"one of: {', '.join(FIELDS)}")
    if "user_group_id" in fields:
        raise source.error(node.keys["user_group_id"], "the key above the group is already its id", "remove this field")
    try:
        operation = parse_line({"user_group_id": provided_id, **fields}, replace=True)
        upsert = Upsert(operation.user_group_id, operation.changes())
        _check(upsert)
    except InvalidBody as error:
        path = _path(error)
        offset = groups.offsets[provided_id] if path == ["user_group_id"] else _offset(node, path)
        problem = _problem(path, error)
    else:
        return upsert
    raise source.error(offset, f"{'.'.join(path) or 'group'}: {problem}", _fix(path, problem))


def _path(error: TenantryError) -> list[str]:
    return [part.replace("~1", "/").replace("~0", "~") for part in (error.field or "").split("/")[1:]]


def _offset(node: YamlNode, path: list[str]) -> int:
    """Return the position of the value at ``path``, or else of the nearest enclosing value. For an unknown field,
    return the position of its key."""
    for part in path:
        if isinstance(node.value, dict) and part in node.value:
            inner = node.value[part]
            if part not in FIELDS and path == [part]:  # an unknown field
                return node.keys[part]
            node = inner
        elif isinstance(node.value, list) and part.isdigit() and int(part) < len(node.value):
            node = node.value[int(part)]
        else:
            break
    return node.offset


def _problem(path: list[str], error: TenantryError) -> str:
    return "there is no such field" if _is_unknown(path) else error.message


def _fix(path: list[str], problem: str) -> str:
    if _is_unknown(path):
        return f"{did_you_mean(path[0], FIELDS)}One of: {', '.join(FIELDS)}"
    return next((fix for part, fix in _FIXES if part in problem), OTHER_FIX)


def _is_unknown(path: list[str]) -> bool:
    return len(path) == 1 and path[0] not in (*FIELDS, "user_group_id")


_LINE: Final = 'write one JSON object on the line, such as {"user_group_id": "acme", "name": "Acme Ltd"}'
_FIXES: Final = (
    ("must be a string", "put it into quotes"),
    ("must be a whole number", "write a number without a fraction"),
    ("must be at least", "write a larger number"),
    ("must be at most", "write a smaller number"),
    ("true or false", "write true or false, without quotes"),
    ("must be an object", "write `name: value` below it, or null"),
    ("field is required", 'give the group its id: {"user_group_id": "acme"}'),
    ("must not be empty", "write at least one character, or remove the field"),
    ("characters", "shorten it"),
    ("entries", "remove some of the entries"),
    ("RFC 3339 time", "write a time such as 2027-01-31T23:59:59Z, or null for no end date"),
    ("cannot be stored", "remove the character"),
    ("holds a secret token", "remove the token, and rotate it if others can read this file"),
    ("number is too large", "write a smaller number, or put it into quotes"),
    ("2^53-1", "put it into quotes, which makes it a string"),
    ("nested", "move the inner values to a higher level"),
    ("names in all", "remove some of them"),
    ("larger than", "remove values that no query or dashboard uses"),
    ("property names", "put the name into quotes"),
    ("not a JSON value", "write a string, a number, true, false, null, a list or an object"),
    ("the line is longer than", "remove values that no query or dashboard uses"),
    ("the line", _LINE),
)
"""Pairs (part of an error message, fix). The first pair whose part is in the message applies."""
OTHER_FIX: Final = "remove it, or write another value"
