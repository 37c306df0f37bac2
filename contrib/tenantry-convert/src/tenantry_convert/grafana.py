"""Grafana's variables and macros in SQL: ``$x``, ``${x:format}``, ``[[x]]``, ``$__timeFilter(column)``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from tenantry.sql.inspect import Dialect
from tenantry_convert.conversion import Conversion, ImportedVariable, for_position
from tenantry_convert.grafana_macros import GrafanaMacros
from tenantry_convert.scanning import Region, arguments, path_name, region_at, regions

_CONSTRUCT = re.compile(
    r"\$__(?P<macro>\w+)(?=\()"
    r"|\$\{(?P<braced>\w+)(?:\.[^:}]+)?(?::(?P<format>[^}]+))?\}"
    r"|\[\[(?P<square>\w+)(?::(?P<square_format>\w+))?\]\]"
    r"|\$(?P<plain>[A-Za-z_]\w*)"
    r"|(?P<ours>\{[{%]|\[\[)"
)
_IN_BEFORE = re.compile(r"(?P<column>[\w.\"`]+)\s+in\s*\(\s*$", re.IGNORECASE)
_ARRAY_BEFORE = re.compile(r"\barray\s*\[\s*$", re.IGNORECASE)
_NAME_BEFORE = re.compile(r"(?:\b(?:from|join|as|by)\s+|[.\w])$", re.IGNORECASE)
_ALIAS_BEFORE = re.compile(r"\bas\s*$", re.IGNORECASE)
_PLAIN_KEY = re.compile(r"\w+")
_LIST_FORMATS: Final = frozenset({"csv", "singlequote", "sqlstring", "raw", "doublequote", "text"})
_OUR_SIGNS: Final = ("{{", "{%", "[[", "]]")
_TEXT: Final[Mapping[str, Any]] = {"type": "text"}


class _Use(NamedTuple):
    name: str
    form: str
    start: int
    end: int
    region: Region | None  # the string or quoted name around the variable


def convert_grafana(conversion: Conversion, dialect: Dialect) -> None:
    _GrafanaReader(conversion, dialect).read()


class _GrafanaReader:
    def __init__(self, conversion: Conversion, dialect: Dialect) -> None:
        self._conversion = conversion
        self._text = conversion.query.text
        self._regions: list[Region] = regions(self._text, dialect)
        self._macros = GrafanaMacros(conversion, self._within, self._known)
        self._built_in = _BuiltInVariables(conversion, self._macros)

    def read(self) -> None:
        position = 0
        while (match := _CONSTRUCT.search(self._text, position)) is not None:
            position = match.end()
            region = region_at(self._regions, match.start())
            if region is not None and region.quote == "-":
                position = min(position, region.end)
                if match["ours"] is None:
                    reason = "in a comment: it stays there and has no effect"
                    self._conversion.report(match.start(), match.group(), reason)
            elif region is not None and region.quote == "$" and self._is_delimiter(region, match.start()):
                position = match.end() + 1
            elif match["ours"] is not None:
                self._conversion.replace(match.start(), match.end(), "\\" + match.group())
            elif match["macro"] is not None and region is None:
                position = self._macro(match)
            elif match["macro"] is not None:
                self._conversion.leave(match.start(), match.end(), "a macro within quotes")
            else:
                position = self._variable(match, region)

    def _is_delimiter(self, region: Region, offset: int) -> bool:
        delimiter = self._text[region.start : self._text.index("$", region.start + 1) + 1]
        return self._text.startswith(delimiter, offset)

    def _within(self, text: str) -> str:
        return _CONSTRUCT.sub(lambda match: self._plain_tag(match) or match.group(), text)

    def _plain_tag(self, match: re.Match[str]) -> str | None:
        name = _name(match)
        known = self._known(name) if name else None
        if not name or name.startswith("__") or known is None or known.kind == "other":
            return None
        if known.kind == "constant":
            return str(known.definition["default"])
        return f"{{{{ {self._conversion.declare(name, path_name(name), known.definition)} }}}}"

    def _macro(self, match: re.Match[str]) -> int:
        found = arguments(self._text, match.end())
        if found is None:
            self._conversion.leave(match.start(), match.end(), "this macro has no end")
            return match.end()
        given, end = found
        text = self._macros.convert(match["macro"], given, match.start())
        if text is None:
            reason = "an unknown macro, or unknown arguments: write it in SQL"
            self._conversion.leave(match.start(), end, reason)
        else:
            self._conversion.replace(match.start(), end, text)
        return end

    def _known(self, name: str) -> ImportedVariable | None:
        variables = self._conversion.query.variables
        return ImportedVariable(definition=_TEXT) if variables is None else variables.get(name)

    def _variable(self, match: re.Match[str], region: Region | None) -> int:
        form = (match["format"] or match["square_format"] or "").lower()
        use = _Use(_name(match), form, match.start(), match.end(), region)
        if use.name.startswith("__"):
            self._built_in.convert(use.name, form, use.start, use.end)
            return use.end
        known = self._known(use.name)
        if known is None:
            return self._leave(use, "the dashboard has no variable of this name")
        for rule in (self._no_value, self._in_list, self._array, self._formatted, self._chosen_name):
            end = rule(use, known)
            if end is not None:
                return end
        definition = for_position(known.definition, self._text, use.start)
        path = self._conversion.declare(use.name, path_name(use.name), definition)
        if self._conversion.query.variables is None:
            self._conversion.assume(use.start, use.name)
        return self._replace(use.start, use.end, f"{{{{ {path} }}}}")

    def _replace(self, start: int, end: int, text: str) -> int:
        self._conversion.replace(start, end, text)
        return end

    def _leave(self, use: _Use, reason: str) -> int:
        self._conversion.leave(use.start, use.end, reason)
        return use.end

    def _no_value(self, use: _Use, known: ImportedVariable) -> int | None:
        if known.kind == "other":
            return self._leave(use, known.reason)
        if known.kind != "constant":
            return None
        text = str(known.definition["default"])
        if any(sign in text for sign in _OUR_SIGNS):
            return self._leave(use, "a constant that contains template syntax: write it out")
        self._conversion.report(use.start, use.name, "a constant of the dashboard: replaced by its value")
        return self._replace(use.start, use.end, text)

    def _in_list(self, use: _Use, known: ImportedVariable) -> int | None:
        before, close = _IN_BEFORE.search(self._text, 0, use.start), self._after(use.end, ")")
        if before is None or close is None:
            return None
        path = self._declare_list(use, known)
        negated = before["column"].lower() == "not"
        if known.all_values and not negated:
            return self._replace(before.start(), close, f"{{{{ {path} | matches({before['column']}) }}}}")
        if known.all_values:
            reason = "in Grafana, All excludes every value; here no value is sent, which is an error"
            self._conversion.report(use.start, use.name, reason)
        return self._replace(use.start, use.end, f"{{{{ {path} }}}}")

    def _array(self, use: _Use, known: ImportedVariable) -> int | None:
        before, close = _ARRAY_BEFORE.search(self._text, 0, use.start), self._after(use.end, "]")
        if before is None or close is None:
            return None
        return self._replace(before.start(), close, f"{{{{ {self._declare_list(use, known)} | array }}}}")

    def _declare_list(self, use: _Use, known: ImportedVariable) -> str:
        definition = {**known.definition, "type": f"list of {known.definition['type']}"}
        path = self._conversion.declare(use.name, path_name(use.name), definition)
        if self._conversion.query.variables is None:
            self._conversion.assume(use.start, use.name)
        return path

    def _formatted(self, use: _Use, known: ImportedVariable) -> int | None:
        if use.form and use.form not in _LIST_FORMATS:
            return self._leave(use, f"the format {use.form}: a value is bound and never formatted into a string")
        if known.many:
            return self._leave(use, "several values: write column in {{ params.x }}, or = any({{ params.x | array }})")
        return None

    def _chosen_name(self, use: _Use, known: ImportedVariable) -> int | None:
        if not known.choices or not self._is_name(use):
            return None
        start, end = use.region[1:] if use.region is not None else self._word_around(use)
        written = self._text[start:end]
        texts = {choice: _CONSTRUCT.sub(_always(choice), written) for choice in known.choices}
        definition = {key: value for key, value in known.definition.items() if key in {"default", "label"}}
        definition = {"type": "choice", "choices": list(texts), **definition}
        path = self._conversion.declare(use.name, path_name(use.name), definition)
        if not all(_PLAIN_KEY.fullmatch(choice) for choice in texts):
            return self._leave(use, "a choice of names, one of which is not a word: write {{ params.x | one_of(…) }}")
        pairs = ", ".join(f"{choice}: {text}" for choice, text in texts.items())
        return self._replace(start, end, f"{{{{ {path} | one_of({pairs}) }}}}")

    def _is_name(self, use: _Use) -> bool:
        if use.region is not None:
            before = self._text[: use.region.start]
            return use.region.quote in {'"', "`"} or _ALIAS_BEFORE.search(before) is not None
        return _NAME_BEFORE.search(self._text[: use.start]) is not None or self._after(use.end, "(") is not None

    def _word_around(self, use: _Use) -> tuple[int, int]:
        start, end = use.start, use.end
        while start > 0 and (self._text[start - 1].isalnum() or self._text[start - 1] in "_."):
            start -= 1
        while end < len(self._text) and (self._text[end].isalnum() or self._text[end] in "_."):
            end += 1
        return start, end

    def _after(self, offset: int, sign: str) -> int | None:
        while self._text[offset : offset + 1].isspace():
            offset += 1
        return offset + 1 if self._text.startswith(sign, offset) else None


def _name(match: re.Match[str]) -> str:
    return match["braced"] or match["square"] or match["plain"] or ""


def _always(text: str) -> Any:
    return lambda _: text


# --- built-in variables: ``$__from``, ``$__interval``, ``${__user.login}`` and others ---------------------------------


_NOT_OF_A_VIEWER: Final = {"__user": "the user of Grafana", "__org": "the organisation", "__dashboard": "the dashboard"}
_TIME_FORMATS: Final = frozenset({"date", "date:iso"})
_TYPE_BEFORE = re.compile(r"\b(?:interval|timestamp|timestamptz|date)\s*$", re.IGNORECASE)
_CAST_AFTER = re.compile(r"\s*::\s*timestamp(?:tz)?\b", re.IGNORECASE)
_MILLISECONDS: Final[Mapping[str, Any]] = {"type": "integer", "min": 1, "default": 3_600_000}


class _BuiltInVariables:
    def __init__(self, conversion: Conversion, macros: GrafanaMacros) -> None:
        self._conversion = conversion
        self._macros = macros
        self._source = conversion.query.text

    def convert(self, name: str, form: str, start: int, end: int) -> None:
        text = self._text(name, form, start)
        if text is not None:
            if name == "__interval" or form in _TIME_FORMATS:
                start, end = self._unquoted(start, end)
            self._conversion.replace(start, end, text)
            return
        if name in {"__from", "__to"}:
            self._conversion.leave(
                start, end, "a time in a custom format: write {{ params.period.start }}, which is a value"
            )
            return
        what = next((word for prefix, word in _NOT_OF_A_VIEWER.items() if name.startswith(prefix)), None)
        reason = f"{what} is not chosen by a viewer: use a property of the group, as {{{{ user_group.id }}}}"
        self._conversion.leave(start, end, reason if what else "this built-in variable of Grafana has no counterpart")

    def _text(self, name: str, form: str, offset: int) -> str | None:
        if name in {"__from", "__to"}:
            return self._end("start" if name == "__from" else "end", form, offset)
        if name == "__interval":
            reason = "Grafana computes it from the width of the panel; here it is a parameter"
            self._conversion.report(offset, "$__interval", reason)
            definition = {"type": "interval", "default": "1 hour"}
            return f"{{{{ {self._conversion.declare('__interval', 'interval', definition)} }}}}"
        if name == "__interval_ms":
            return f"{{{{ {self._conversion.declare(name, 'interval_ms', _MILLISECONDS)} }}}}"
        if name in {"__range_s", "__range_ms"}:
            start, end = (self._macros.end_epoch(which, offset) for which in ("start", "end"))
            length = f"({end} - {start})"
            return length if name == "__range_s" else f"{length} * 1000"
        return None

    def _end(self, which: str, form: str, offset: int) -> str | None:
        if form in _TIME_FORMATS:
            return self._macros.end(which, offset)
        if form == "date:seconds":
            return self._macros.end_epoch(which, offset)
        return None if form else f"{self._macros.end_epoch(which, offset)} * 1000"

    def _unquoted(self, start: int, end: int) -> tuple[int, int]:
        # `timestamp '…'` is replaced as a whole: the parameter is an instant already, and a cast could drop its zone.
        if self._source[start - 1 : start] == "'" and self._source[end : end + 1] == "'":
            start, end = start - 1, end + 1
            word = _TYPE_BEFORE.search(self._source[:start])
            if word is not None:
                start = word.start()
            cast = _CAST_AFTER.match(self._source, end)
            if cast is not None:
                end = cast.end()
        return start, end
