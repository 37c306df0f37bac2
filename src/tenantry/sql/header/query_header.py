"""The header of a query file: YAML in the file's first comment, ``/* --- … --- */``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from tenantry.errors import Edit, TemplateError, misspelt, nearest
from tenantry.sql.dialects import DIALECTS
from tenantry.sql.header.choice_sets import CHOICE_NAME, NO_CHOICES, SET_NAME, ChoiceSets, ChoiceText
from tenantry.sql.header.yaml_reader import YamlNode, read_yaml
from tenantry.sql.parameters.declared import InvalidDefinition, Parameter
from tenantry.sql.parameters.definitions import declare
from tenantry.sql.source import Source

MAX_HEADER = 64 * 1024
"""Maximum length of a header in characters."""
KEYS = ("title", "description", "params", "optional", "dialect", "choices", "tenant")

_START = re.compile(r"\ufeff?\s*/\*[ \t]*---[ \t]*\r?\n")
_FIRST_COMMENT = re.compile(r"\ufeff?(?:\s|--[^\n]*(?:\n|\Z))*(/\*.*?)(?:\*/|\Z)", re.DOTALL)
_UNMARKED_KEY = re.compile(rf"(?:/\*[ \t]*-*[ \t]*|^[ \t]*)(?P<key>{'|'.join(KEYS)})[ \t]*:", re.MULTILINE)
_END = re.compile(r"^[ \t]*---[ \t]*\*/[ \t]*(?:\r?\n)*", re.MULTILINE)
_COMMENT_SIGN = re.compile(r"/\*|\*/")
_PATH = re.compile(r"[^\W\d_]\w*(?:\.[^\W\d_]\w*)*")


@dataclass(frozen=True, slots=True)
class Header:
    end: int = 0
    """Offset of the end of the header, where the SQL begins."""
    title: str = ""
    description: str = ""
    parameters: Mapping[str, Parameter] = field(default_factory=lambda: MappingProxyType({}))
    offsets: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    """Name of a parameter → offset of its declaration."""
    optional: frozenset[str] = frozenset()
    optional_offset: int = 0
    dialect: str | None = None
    dialect_offset: int = 0
    choices: ChoiceSets = field(default_factory=lambda: NO_CHOICES)
    no_tenant: str = ""
    """The header's reason why every group may read every row of the query; empty if the header has no ``tenant``."""


NO_HEADER = Header()


def begins_header(text: str) -> bool:
    return _START.match(text) is not None


def read_header(source: Source) -> Header:
    """Return the header of a query file, or NO_HEADER if the file has none. Raises TemplateError for a malformed
    header."""
    start = _START.match(source.text)
    if start is None:
        _refuse_unmarked(source)
        return NO_HEADER
    opening = source.text.index("/*")
    end = _END.search(source.text, start.end())
    if end is None:
        raise source.error(opening, "this header has no end", "close it with a line `--- */`")
    if end.start() - start.end() > MAX_HEADER:
        raise source.error(opening, f"a header is at most {MAX_HEADER} characters long", "shorten it")
    sign = _COMMENT_SIGN.search(source.text, start.end(), end.start())
    if sign is not None:
        problem = f"a header cannot contain {sign[0]}: other tools would end the comment elsewhere"
        raise source.error(sign.start(), problem, "write it differently")
    root = read_yaml(source, start.end(), end.start())
    if root.value is None:
        return Header(end.end())
    return _HeaderReader(source).read(root, end.end())


def _refuse_unmarked(source: Source) -> None:
    # Without the `---` marks it would be an ordinary comment, and locked parameters in it would not be locked.
    comment = _FIRST_COMMENT.match(source.text)
    key = None if comment is None else _UNMARKED_KEY.search(source.text, comment.start(1), comment.end(1))
    if key is not None:
        problem = f"`{key['key']}` would not be read here, because this comment is not marked as the header of the file"
        fix = "begin the file with a line /* --- and close the header with a line --- */; or write the comment with --"
        raise source.error(key.start("key"), problem, fix)


class _HeaderReader:
    def __init__(self, source: Source) -> None:
        self._source = source

    def read(self, root: YamlNode, end: int) -> Header:
        nodes = self._mapping(root, "a header", "write keys such as `title`, `description` and `params`")
        for key in nodes:
            if key not in KEYS:
                near = nearest(key, KEYS)
                fix = f"write {near}" if near else f"a header holds {', '.join(KEYS)}"
                raise self._error(root.keys[key], f"a header has no key {key}", fix, misspelt(key, KEYS))
        present = {key: node for key, node in nodes.items() if node.value is not None}
        params = present.get("params", YamlNode({}, end))
        optional = present.get("optional", YamlNode([], end))
        dialect = present.get("dialect")
        return Header(
            end,
            self._text(present.get("title"), "title"),
            self._text(present.get("description"), "description"),
            self._parameters(params),
            MappingProxyType(params.keys),
            frozenset(self._paths(optional)),
            root.keys.get("optional", end),
            self._dialect(dialect),
            dialect.offset if dialect is not None else end,
            self._choices(present.get("choices", YamlNode({}, end))),
            self._no_tenant(present.get("tenant")),
        )

    def _text(self, node: YamlNode | None, key: str) -> str:
        if node is None:
            return ""
        if not isinstance(node.value, str):
            raise self._error(node.offset, f"{key} must be a string", "put it in quotes")
        return node.value.strip()

    def _no_tenant(self, node: YamlNode | None) -> str:
        if node is None:
            return ""
        keys, reason = [*node.keys], node.plain()
        if keys != ["none"] or not isinstance(reason["none"], str) or not reason["none"].strip():
            problem = "`tenant` must give the reason why every group may read every row of this query"
            raise self._error(node.offset, problem, "write the reason, as in `tenant: {none: countries are public}`")
        return str(reason["none"]).strip()

    def _dialect(self, node: YamlNode | None) -> str | None:
        name = self._text(node, "dialect")
        if node is None or name in DIALECTS:
            return name or None
        near = nearest(name, DIALECTS)
        fix = f"write {near}" if near else f"one of {', '.join(DIALECTS)}"
        raise self._error(node.offset, f"there is no SQL dialect {name}", fix, misspelt(name, DIALECTS))

    def _paths(self, node: YamlNode) -> list[str]:
        items = node.value if isinstance(node.value, list) else [node]
        paths: list[str] = []
        for item in items:
            path = item.value
            if not isinstance(path, str) or not _PATH.fullmatch(path):
                raise self._error(
                    item.offset,
                    "optional must be a list of paths: names joined by dots",
                    "write `optional: [discount]`",
                )
            paths.append(path)
        return paths

    def _parameters(self, params: YamlNode) -> Mapping[str, Parameter]:
        self._mapping(params, "params", "write `params:`, and below it an indented line for each, as in `since: date`")
        try:
            return MappingProxyType(declare(params.plain()))
        except InvalidDefinition as error:
            path = ".".join(("params", *error.keys))
            raise self._error(params.offset_of(error.keys), f"{path}: {error.problem}", error.fix, error.edit) from None

    def _choices(self, node: YamlNode) -> ChoiceSets:
        fix = "write `choices:`, and below it an indented line for each set of choices"
        key_fix = "begin with a letter, then letters, digits and _"
        sets = self._named(node, "choices", fix, SET_NAME, key_fix)
        return MappingProxyType({name: self._choice_set(name, texts) for name, texts in sets.items()})

    def _choice_set(self, name: str, node: YamlNode) -> Mapping[str, ChoiceText]:
        what, fix = f"choices.{name}", f"{name}: {{newest: created_at desc}}"
        key_fix = "use one line without {{ and without spaces at its ends: a viewer sends it"
        texts = self._named(node, what, fix, CHOICE_NAME, key_fix)
        if not texts:
            raise self._error(node.offset, f"{what} has no choices", fix)
        return MappingProxyType({key: self._choice(f"{what}.{key}", text) for key, text in texts.items()})

    def _named(
        self, node: YamlNode, what: str, fix: str, pattern: re.Pattern[str], key_fix: str
    ) -> dict[str, YamlNode]:
        nodes = self._mapping(node, what, fix)
        for key in nodes:
            if not pattern.fullmatch(key):
                raise self._error(node.keys[key], f"{what} has a key that is not a name: {key}", key_fix)
        return nodes

    def _choice(self, what: str, node: YamlNode) -> ChoiceText:
        text = node.value
        if not isinstance(text, str) or not text.strip():
            fix = "write SQL, as in `newest: created_at desc`"
            raise self._error(node.offset, f"{what} must be SQL, as a string", fix)
        at = node.offset + (self._source.text[node.offset] in "'\"")
        return ChoiceText(text, at, self._source.text.startswith(text, at))

    def _mapping(self, node: YamlNode, what: str, fix: str) -> dict[str, YamlNode]:
        if not isinstance(node.value, dict):
            raise self._error(node.offset, f"{what} must be a mapping of keys and values", fix)
        return node.value

    def _error(self, offset: int, problem: str, fix: str, edit: Edit | None = None) -> TemplateError:
        return self._source.error(offset, problem, fix, edit=edit)
