"""Parses JSON into values that know their positions in the file.

Comments and trailing commas are accepted with a warning. A missing comma is an error, but parsing continues, to find
further errors. Any other syntax error ends parsing with an explanation (``syntax_errors``).
"""

from __future__ import annotations

import json
import re
from typing import Any

from tenantry_site.config.diagnostics import ConfigDiagnostics
from tenantry_site.config.source import END, JsonArray, JsonObject, JsonPath, SyntaxProblem, quoted
from tenantry_site.config.syntax_errors import SyntaxErrors

DEEPEST = 64
"""Maximum nesting of brackets; real files have at most 13."""

_SPACE = re.compile(r"[ \t\n\r]*")
# For speed, two common cases are matched at once: a plain string with its comma, and a plain key with its colon.
_ITEM = re.compile(r'"([^"\\\x00-\x1f]*)"[ \t\n\r]*,[ \t\n\r]*(?=["{\[])')
_KEY = re.compile(r'"([^"\\\x00-\x1f]*)"[ \t\n\r]*:[ \t\n\r]*(?![ \t\n\r/,}])')
_PLAIN = re.compile(r'"[^"\\\x00-\x1f]*')
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?(?![\w.+-])")
_WORD = re.compile(r"(true|false|null)(?!\w)")
_BEGINNING = re.compile(r'["{\[\d-]|(?:true|false|null)\b')
_WORDS = {"true": True, "false": False, "null": None}
_HALF = re.compile("[\ud800-\udfff]")


def read_json(diagnostics: ConfigDiagnostics) -> Any:
    """The JSON value of the text; None if it is ``null`` or has an error, which is reported."""
    if diagnostics.source.problem is not None:
        diagnostics.add_syntax_error(diagnostics.source.problem)
        return None
    reader = _Reader(diagnostics)
    try:
        value = reader.document()
    except SyntaxProblem as problem:
        diagnostics.add_syntax_error(problem)
        return None
    return None if diagnostics.has_error() else value


class _Reader:
    def __init__(self, diagnostics: ConfigDiagnostics) -> None:
        self._diagnostics = diagnostics
        self._text = diagnostics.source.text
        self._errors = SyntaxErrors(diagnostics.source)

    def document(self) -> Any:
        if self._diagnostics.source.has_bom:
            self._diagnostics.add_at(
                0, "CFG006", "the file begins with a byte order mark", "save it as UTF-8 without one"
            )
        start = self._space(0)
        if self._at_end(start):
            raise SyntaxProblem("CFG002", "the file is empty", 'write {"name": "…", "navigation": […]} into it')
        if _BEGINNING.match(self._text, start) is None:
            raise self._errors.beginning(start)
        value, end = self._value(start, JsonPath(), 1)
        end = self._space(end)
        if not self._at_end(end):
            raise self._errors.after_end(end)
        return value

    def _at_end(self, at: int) -> bool:
        return self._text[at] == END

    def _space(self, at: int) -> int:
        at = _SPACE.match(self._text, at).end()  # type: ignore[union-attr]  # it matches everywhere
        while self._text[at] == "/":
            at = _SPACE.match(self._text, self._comment(at)).end()  # type: ignore[union-attr]
        return at

    def _comment(self, at: int) -> int:
        opening = self._text[at : at + 2]
        if opening not in ("//", "/*"):
            raise self._errors.stray(at)
        stop = self._text.find("\n" if opening == "//" else "*/", at + 2)
        if stop < 0 and opening == "/*":
            raise SyntaxProblem("CFG013", "this comment has no end", "close it with */, or remove it", at)
        self._diagnostics.add_at(
            at, "CFG007", "this is a comment, which JSON does not allow", "remove it; other programs refuse the file"
        )
        return len(self._text) - 1 if stop < 0 else stop + (0 if opening == "//" else 2)

    def _value(self, at: int, location: JsonPath, depth: int) -> tuple[Any, int]:
        character = self._text[at]
        if character == '"':
            return self._string(at, location)
        if character in "{[":
            if depth > DEEPEST:
                message = f"brackets are nested more than {DEEPEST} deep"
                raise SyntaxProblem("CFG018", message, "nest fewer groups; five levels are already many", at)
            return self._object(at, location, depth) if character == "{" else self._array(at, location, depth)
        number = _NUMBER.match(self._text, at)
        if number is not None:
            whole = number[1] is None and number[2] is None and len(number[0]) < 20
            return (int(number[0]) if whole else float(number[0])), number.end()
        word = _WORD.match(self._text, at)
        if word is not None:
            return _WORDS[word[0]], word.end()
        raise self._errors.no_value(at)

    def _string(self, at: int, location: JsonPath) -> tuple[str, int]:
        text = self._text
        stop = _PLAIN.match(text, at).end()  # type: ignore[union-attr]  # the opening quote was seen
        if text[stop] == '"':
            return text[at + 1 : stop], stop + 1
        stop = _STRING.match(text, at).end()  # type: ignore[union-attr]
        if text[stop] != '"':
            raise self._errors.broken_string(at, stop)
        value: str = json.loads(text[at : stop + 1])
        if _HALF.search(value):
            fix = "write the character itself"
            self._diagnostics.add_at(
                at, "CFG024", "an escape in this string is only half of a surrogate pair", fix, location.pointer()
            )
            value = _HALF.sub("\ufffd", value)
        return value, stop + 1

    def _array(self, at: int, location: JsonPath, depth: int) -> tuple[JsonArray, int]:
        text = self._text
        result = JsonArray(at)
        offsets = result.offsets
        here = self._space(at + 1)
        while text[here] != "]":
            offsets.append(here)
            plain = _ITEM.match(text, here)
            if plain is not None:
                result.append(plain[1])
                here = plain.end()
            else:
                value, end = self._value(here, JsonPath(location, result, len(result)), depth + 1)
                result.append(value)
                here = self._next(end, "]", at)
        return result, here + 1

    def _object(self, at: int, location: JsonPath, depth: int) -> tuple[JsonObject, int]:
        text = self._text
        result = JsonObject(at)
        here = self._space(at + 1)
        while text[here] != "}":
            plain = _KEY.match(text, here)
            key, start = (plain[1], plain.end()) if plain is not None else self._key(here, location, at)
            below = JsonPath(location, result, key)
            if key in result:
                self._report_duplicate(result, key, here, below)
            result.offsets[key] = (here, start)
            value, end = self._value(start, below, depth + 1)
            result[key] = value
            here = self._next(end, "}", at)
        return result, here + 1

    def _key(self, at: int, location: JsonPath, opened: int) -> tuple[str, int]:
        if self._text[at] != '"':
            raise self._errors.no_key(at, opened)
        key, end = self._string(at, location)
        colon = self._space(end)
        if self._text[colon] != ":":
            raise self._errors.no_colon(at, end, colon, key)
        start = self._space(colon + 1)
        if self._text[start] in ",}":
            raise SyntaxProblem("CFG022", f"the key {quoted(key)} has no value", "write its value, or remove it", at)
        return key, start

    def _next(self, end: int, closing: str, opened: int) -> int:
        """Skip the comma after an item. Return the offset of the next item or of the closing bracket. ``end``: offset
        after the item. ``opened``: offset of the opening bracket."""
        text = self._text
        here = self._space(end)
        if text[here] == ",":
            comma = here
            here = self._space(comma + 1)
            if text[here] == closing:
                fix = f"remove the comma before {closing}"
                self._diagnostics.add_at(comma, "CFG008", f"a comma before {closing}: JSON allows none", fix)
            elif text[here] == ",":
                raise SyntaxProblem("CFG010", "two commas in a row", "remove one of them", here)
            elif text[here] in "]}" or text[here] == END:
                raise self._errors.mismatch(here, opened)
            return here
        if text[here] == closing:
            return here
        problem = self._errors.no_comma(end, here, opened)
        if problem.code != "CFG009":
            raise problem
        self._diagnostics.add_syntax_error(problem)
        return here

    def _report_duplicate(self, container: JsonObject, key: str, here: int, location: JsonPath) -> None:
        first = self._diagnostics.source.position(container.offsets[key][0])[0]
        message = f"the key {quoted(key)} is in this object twice; the value on line {first} is ignored"
        fix = "remove one of the two"
        if key in {"group", "pages"}:
            fix = "these look like two groups in one object: is `}, {` missing between them?"
        self._diagnostics.add_at(here, "CFG030", message, fix, location.pointer())
