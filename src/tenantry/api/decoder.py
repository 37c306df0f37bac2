"""The JSON text of a body, strictly (RFC 8259): what parsers disagree about is refused, so that nobody can hide in it.

A message gives the place of a mistake and never the text around it.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from tenantry.errors import BadJson, InvalidBody

# A string that never ends is one token, up to the end of the text. Otherwise each quote in it would be tried as the
# start of another: time that grows with the square of the size.
JSON_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[{}\[\],:]|-?Infinity|NaN', re.DOTALL)
_LONGEST_INT: Final = 17
"""Characters of -9007199254740991. A longer one is beyond any limit, and Python refuses to read very long ones."""


class _Refused(Exception):
    """Thrown by a hook of the decoder; ``what`` finds the place again in the text."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


def decode(raw: bytes) -> dict[str, Any]:
    """The JSON object of a body.

    Raises BadJson (400) for what is not one JSON text in UTF-8 without a byte order mark: empty, cut off, a name given
    twice, NaN, Infinity. Raises InvalidBody (422) for JSON that is not an object, or is nested without end; what is
    nested that deep is read to its end first, so that a text that was cut off is never called JSON.
    An integer too long to matter is read as an infinite float, which the limits refuse with its place.
    """
    text = _text(raw)
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        place, reason = error.pos, error.msg
    except _Refused as refused:
        place, reason = _find(text, refused.what), refused.what
    except RecursionError:
        found = _mistake_in_depth(text)
        if found is None:
            raise InvalidBody("the body is nested too deep", field="") from None
        place, reason = found
    else:
        if type(value) is dict:
            return value
        raise InvalidBody("the body must be a JSON object", field="")
    # Outside the handlers: an error of the decoder holds the whole text, and would go along as the context of ours.
    raise BadJson(f"the body is not JSON: {_PLAIN.get(reason, 'it cannot be read')}, at character {place}")


def _text(raw: bytes) -> str:
    if not raw:
        raise BadJson("the body is empty: a JSON object is needed")
    if raw.startswith(b"\xef\xbb\xbf"):
        raise BadJson("the body is not JSON: it starts with a byte order mark, at character 0")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        place = error.start
    raise BadJson(f"the body is not JSON: it is not UTF-8, at byte {place}")


_TWICE = "name twice"
_CONSTANT = "constant"
_PLAIN: Final = {
    _TWICE: "an object has the same name twice",
    _CONSTANT: "NaN and Infinity are not JSON",
    "Extra data": "there is more after its end",
    "Expecting value": "a value is missing",
    "Unterminated string starting at": "a string does not end",
    "Expecting property name enclosed in double quotes": "a name in double quotes is missing",
    "Expecting ':' delimiter": "a colon is missing",
    "Expecting ',' delimiter": "a comma is missing",
    "Illegal trailing comma before end of object": "a comma has nothing after it",
    "Illegal trailing comma before end of array": "a comma has nothing after it",
    "Invalid control character at": "a control character must be escaped",
    "Invalid \\escape": "an escape is not one of JSON's",
    "Invalid \\uXXXX escape": "an escape is not one of JSON's",
}


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise _Refused(_TWICE)
    return values


def _constant(_: str) -> Any:
    raise _Refused(_CONSTANT)


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= _LONGEST_INT else float("inf")


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant, parse_int=_integer)


def _find(text: str, what: str) -> int:
    """Where the first constant stands, or the first name that its object has already. Only when one is known to."""
    names: list[set[str]] = []
    last = re.match("", text)
    for token in JSON_TOKEN.finditer(text):
        symbol = token[0]
        if symbol in ("{", "["):
            names.append(set())
        elif symbol in ("}", "]"):
            names.pop()
        elif symbol == ":" and what is _TWICE and last is not None:
            name = json.loads(last[0])
            if name in names[-1]:
                return last.start()
            names[-1].add(name)
        elif symbol[0] in "-NI" and what is _CONSTANT:
            return token.start()
        last = token
    return 0


# --- a text nested deeper than the decoder goes -----------------------------------------------------------------------


_LEVELS: Final = 200
"""How many levels are decoded at once."""


class _Piece:
    """The text of a container with those in it, down to ``_LEVELS``; ``null`` stands for each that is deeper. It knows
    where its parts were."""

    __slots__ = ("_parts",)

    def __init__(self) -> None:
        self._parts: list[tuple[str, int]] = []

    def add(self, text: str, place: int) -> None:
        self._parts.append((text, place))

    @property
    def start(self) -> int:
        return self._parts[0][1]

    def mistake(self) -> tuple[int, str] | None:
        """Where in the whole text the decoder finds a mistake, and which; None if it finds none."""
        text = "".join(part for part, _ in self._parts)
        try:
            _DECODER.decode(text)
        except json.JSONDecodeError as error:
            return self._whole(error.pos), error.msg
        except _Refused as refused:
            return self._whole(_find(text, refused.what)), refused.what
        return None

    def _whole(self, place: int) -> int:
        for part, begins in self._parts:
            if place < len(part):
                return begins + place
            place -= len(part)
        part, begins = self._parts[-1]
        return begins + len(part)


def _mistake_in_depth(text: str) -> tuple[int, str] | None:
    """The same as the decoder would say of ``text``, piece by piece from the inside, so that no depth is too much."""
    pieces, done, depth = [_Piece()], 0, 0
    for token in JSON_TOKEN.finditer(text):
        symbol = token[0]
        if symbol in ("{", "["):
            depth += 1
            if depth % _LEVELS == 0:
                pieces[-1].add(text[done : token.start()], done)
                pieces.append(_Piece())
                done = token.start()
        elif symbol in ("}", "]") and depth:
            if depth % _LEVELS == 0:
                inner = pieces.pop()
                inner.add(text[done : token.end()], done)
                mistake = inner.mistake()
                if mistake is not None:
                    return mistake
                pieces[-1].add("null", inner.start)
                done = token.end()
            depth -= 1
    pieces[-1].add(text[done:], done)  # where something was not closed, the innermost piece ends too early
    return pieces[-1].mistake()
