"""Converts Metabase's native SQL: ``{{x}}``, ``[[ … ]]``, field filters, snippets, questions, time groups and
defaults."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from tenantry.sql.inspect import Dialect
from tenantry_convert.conversion import Conversion, ImportedVariable, for_position
from tenantry_convert.field_filters import UNITS, field_filter
from tenantry_convert.scanning import Region, balanced, path_name, quoted_name, region_at, regions

_TAG = re.compile(r"\{\{(?P<inside>.*?)\}\}|\{[{%]|\[\[|\]\]", re.DOTALL)
_DEFAULT = re.compile(r"\[\[(?P<inside>[^\[\]]*?)(?:--|#)[ \t]*\]\](?P<rest>[^\n]*)")
_LITERAL = re.compile(
    r"\s*(?:'(?P<text>(?:[^']|'')*)'|(?P<number>-?\d+(?:\.\d+)?)|(?P<boolean>true|false))\s*;?\s*", re.IGNORECASE
)
_TIME_GROUP = re.compile(r"""mb\.time_grouping\(\s*(['"])(?P<name>.*?)\1\s*,\s*(['"])(?P<column>.*?)\3\s*\)""")
_SNIPPET = re.compile(r"snippet:\s*(?P<name>.+)", re.IGNORECASE)
_CARD = re.compile(r"#(?P<id>\d+)(?:-(?P<name>.+))?")
_NAME = re.compile(r"\w[\w. -]*")
_SIMPLE_COLUMN = re.compile(r"[A-Za-z_][\w.]*")
_PREDICATE_BEFORE = re.compile(r"(?:\b(?:where|and|or|not|on|when|having)|\(|\[\[)\s*$", re.IGNORECASE)
_PREDICATE_AFTER = re.compile(
    r"\s*(?:$|;|\)|\]\]|(?:and|or|group|order|limit|having|union|then|left|join|window)\b)", re.IGNORECASE
)

_TYPES_OF_LITERALS: Final[Mapping[type, str]] = {str: "text", int: "integer", float: "decimal", bool: "boolean"}
_TEXT: Final[Mapping[str, Any]] = {"type": "text"}


def convert_metabase(conversion: Conversion, dialect: Dialect, columns: Mapping[str, str]) -> None:
    """Replace each construct of Metabase by a tag or SQL, or keep and list it. ``columns``: field filter → column."""
    _MetabaseReader(conversion, dialect, columns).read()


class _MetabaseReader:
    def __init__(self, conversion: Conversion, dialect: Dialect, columns: Mapping[str, str]) -> None:
        self._conversion = conversion
        self._text = conversion.query.text
        self._dialect = dialect
        self._columns = columns
        self._regions: list[Region] = regions(self._text, dialect)
        self._closing: dict[int, tuple[int, int]] = {}
        """The offset of each ``]]`` to remove -> the start and end of its clause."""

    def read(self) -> None:
        position = 0
        while (match := _TAG.search(self._text, position)) is not None:
            position = match.end()
            region = region_at(self._regions, match.start())
            if region is not None and region.quote == "-":
                self._in_comment(match)
                position = min(position, region.end)  # a tag that is not closed in the comment ends with the comment
            elif match["inside"] is not None:
                self._tag(match.start(), match.end(), match["inside"].strip())
            elif match.group() == "[[":
                position = self._clause(match)
            elif match.start() in self._closing:
                self._drop_bracket(match, self._closing[match.start()])
            elif match.group() != "]]":
                self._conversion.leave(
                    match.start(), match.end(), "this tag has no end, or belongs to another template language"
                )

    def _in_comment(self, match: re.Match[str]) -> None:
        if match.group() in {"[[", "]]"}:
            problem = "a bracket of an optional clause in a comment: Metabase may read it as one"
            self._conversion.report(match.start(), match.group(), problem, left=True)
        else:
            self._conversion.report(match.start(), match.group(), "in a comment: it stays there and has no effect")

    def _tag(self, start: int, end: int, inside: str) -> None:
        if (group := _TIME_GROUP.fullmatch(inside)) is not None:
            return self._time_group(start, end, group)
        if (snippet := _SNIPPET.fullmatch(inside)) is not None:
            return self._fragment(start, end, path_name(snippet["name"]), "the snippet")
        if (card := _CARD.fullmatch(inside)) is not None:
            name = path_name(card["name"] or f"question_{card['id']}")
            return self._fragment(start, end, name, f"the question {card['id']}")
        if not self._is_name(inside):
            return self._conversion.leave(start, end, "this is not understood")
        variable = self._variable(inside)
        if variable is None:
            return self._conversion.leave(start, end, "the document has no variable of this name")
        if variable.kind == "other":
            return self._conversion.leave(start, end, variable.reason)
        if self._is_field_filter(inside):
            return self._field_filter(start, end, inside, variable)
        if self._conversion.query.variables is None and self._is_predicate(start, end):
            reason = "a field filter: give the question's JSON, or its column with --column"
            return self._conversion.leave(start, end, reason)
        definition = for_position(variable.definition, self._text, start)
        path = self._conversion.declare(inside, path_name(inside), definition)
        if self._conversion.query.variables is None:
            self._conversion.assume(start, inside)
        return self._conversion.replace(start, end, f"{{{{ {path} }}}}")

    def _is_name(self, inside: str) -> bool:
        variables = self._conversion.query.variables
        return (variables is not None and inside in variables) or _NAME.fullmatch(inside) is not None

    def _variable(self, name: str) -> ImportedVariable | None:
        variables = self._conversion.query.variables
        return ImportedVariable(definition=_TEXT) if variables is None else variables.get(name)

    def _is_predicate(self, start: int, end: int) -> bool:
        before, after = _PREDICATE_BEFORE.search(self._text[:start]), _PREDICATE_AFTER.match(self._text, end)
        return before is not None and after is not None and not self._text[:start].rstrip().lower().endswith("in (")

    def _field_filter(self, start: int, end: int, name: str, variable: ImportedVariable) -> None:
        names = ".".join(quoted_name(each, self._dialect) for each in variable.column)
        column = self._columns.get(name) or variable.alias or names
        if not column:
            reason = f"the document does not name the field filter's column: give it with --column '{name}=…'"
            return self._conversion.leave(start, end, reason)
        if not balanced(column) or "{{" in column:
            return self._conversion.leave(start, end, f"the column of this field filter is not an expression: {column}")

        def declare(suffix: str, definition: Mapping[str, Any]) -> str:
            own = {**(variable.definition if not suffix else {}), **definition}
            return self._conversion.declare(name + suffix, path_name(name) + suffix, own)

        condition = field_filter(variable.widget or "category", column, self._dialect.name, declare)
        if condition is None:
            return self._conversion.leave(start, end, f"a field filter of the kind {variable.widget}")
        if self._conversion.query.variables is None:
            self._conversion.assume(start, name)
        return self._conversion.replace(start, end, condition)

    def _time_group(self, start: int, end: int, group: re.Match[str]) -> None:
        name, column = group["name"], group["column"]
        known = (self._conversion.query.variables or {}).get(name)
        definition: dict[str, Any] = {"type": "choice", "choices": list(UNITS), "default": "day"}
        if known is not None and known.definition.get("default") in UNITS:
            definition["default"] = known.definition["default"]
        else:
            self._conversion.report(
                start,
                self._text[start:end],
                "without a choice, Metabase does not group; here the rows are grouped by day",
            )
        path = self._conversion.declare(name, path_name(name), definition)
        expression = column if _SIMPLE_COLUMN.fullmatch(column) else quoted_name(column, self._dialect)
        self._conversion.replace(start, end, f"{{{{ {path} | trunc({expression}) }}}}")

    def _fragment(self, start: int, end: int, name: str, what: str) -> None:
        alone = self._text[:start].rstrip().endswith("(") and self._text[end:].lstrip().startswith(")")
        self._conversion.fragments[name] = "select 1"
        self._conversion.replace(start, end, f"{{{{> {name} }}}}" if alone else f"({{{{> {name} }}}})")
        reason = f"save {what} as {name}.sql, in the same folder: it is included from there"
        self._conversion.report(start, self._text[start:end], reason, left=True)

    def _clause(self, opening: re.Match[str]) -> int:
        default = _DEFAULT.match(self._text, opening.start())
        if default is not None:
            return self._default(default)
        names: list[str] = []
        for match in _TAG.finditer(self._text, opening.end()):
            if match.group() == "]]":
                # Without a value, a field filter is true: no clause is needed.
                if names and all(map(self._is_field_filter, names)):
                    self._closing[match.start()] = clause = opening.start(), match.end()
                    self._drop_bracket(opening, clause)
                elif any(map(self._is_field_filter, names)):
                    reason = "a field filter next to a variable: this clause also stays when nothing is chosen"
                    self._conversion.report(opening.start(), "[[", reason)
                break
            names.append((match["inside"] or "").strip())
        return opening.end()

    def _is_field_filter(self, name: str) -> bool:
        variable = (self._conversion.query.variables or {}).get(name)
        return name in self._columns or (variable is not None and variable.kind == "field filter")

    def _drop_bracket(self, match: re.Match[str], clause: tuple[int, int]) -> None:
        before, after = self._text[match.start() - 1 : match.start()], self._text[match.end() : match.end() + 1]
        apart = not before or not after or before.isspace() or after.isspace()
        self._conversion.replace(match.start(), match.end(), "" if apart else " ", around=clause)

    def _default(self, found: re.Match[str]) -> int:
        # `[[ {{x}} -- ]] 'a'` is a variable with the default 'a'.
        tag = _TAG.fullmatch(found["inside"].strip())
        # Only a literal becomes a default. Any other SQL on this line is a comment to Metabase, but not to a template.
        literal = _LITERAL.fullmatch(found["rest"])
        name = tag["inside"].strip() if tag is not None and tag["inside"] else ""
        variable = self._variable(name) if name else None
        if literal is None or variable is None or variable.kind != "value":
            reason = "a default after a comment: write {{ params.x | default(…) }}, or declare a default"
            self._conversion.leave(found.start(), found.end(), reason)
            return found.end()
        definition = {**variable.definition, "default": _literal(literal)}
        if self._conversion.query.variables is None:
            definition["type"] = _TYPES_OF_LITERALS[type(definition["default"])]
        path = self._conversion.declare(name, path_name(name), definition)
        self._conversion.params[path.removeprefix("params.")]["default"] = definition["default"]
        self._conversion.replace(found.start(), found.end(), f"{{{{ {path} }}}}")
        return found.end()


def _literal(match: re.Match[str]) -> Any:
    if match["text"] is not None:
        return match["text"].replace("''", "'")
    if match["number"] is not None:
        return float(match["number"]) if "." in match["number"] else int(match["number"])
    return match["boolean"].lower() == "true"
