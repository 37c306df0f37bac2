from __future__ import annotations

import json
import re
from typing import Any, Final

from tenantry.errors import BadJson, InvalidBody

# An unterminated string is one token up to the end. Otherwise each quote in it would be tried as the start of another
# string, in quadratic time.
JSON_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[{}\[\],:]|-?Infinity|NaN', re.DOTALL)
_LONGEST_INT: Final = 17
"""The length of -9007199254740991. Longer integers exceed the limits. They are not parsed, because Python refuses very
long ones."""


class _Rejected(Exception):
    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def decode_json(raw: bytes, *, what: str = "body") -> dict[str, Any]:
    """Parse a JSON object strictly. ``what`` names the input in error messages, which never quote the input.

    Raises BadJson (400) for invalid JSON, invalid UTF-8, a byte order mark, NaN, Infinity and repeated names. Raises
    InvalidBody (422) for a value that is not an object, and for nesting that is too deep. Integers of more than 17
    characters become infinite floats, which the limits refuse."""
    text = _text(raw, what)
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        position, reason = error.pos, error.msg
    except _Rejected as rejected:
        position, reason = _position_of(text, rejected.reason), rejected.reason
    except RecursionError:
        raise InvalidBody(f"the {what} is nested too deeply", field="") from None
    else:
        if type(value) is dict:
            return value
        raise InvalidBody(f"the {what} must be a JSON object", field="")
    # Raise BadJson outside the handlers: inside, its __context__ would be the decoder's error, which contains the body.
    raise BadJson(f"the {what} is not JSON: {_REASONS.get(reason, 'it cannot be read')}, at character {position}")


def _text(raw: bytes, what: str) -> str:
    if not raw:
        raise BadJson(f"the {what} is empty: send a JSON object")
    if raw.startswith(b"\xef\xbb\xbf"):
        raise BadJson(f"the {what} is not JSON: it starts with a byte order mark, at character 0")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        position = error.start
    raise BadJson(f"the {what} is not JSON: it is not UTF-8, at byte {position}")


_DUPLICATE = "duplicate name"
_CONSTANT = "constant"
_REASONS: Final = {
    _DUPLICATE: "an object has the same name twice",
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
        raise _Rejected(_DUPLICATE)
    return values


def _constant(_: str) -> Any:
    raise _Rejected(_CONSTANT)


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_constant=_constant,
    parse_int=lambda digits: int(digits) if len(digits) <= _LONGEST_INT else float("inf"),
)


def _position_of(text: str, reason: str) -> int:
    names: list[set[str]] = []
    last = re.match("", text)
    for token in JSON_TOKEN.finditer(text):
        symbol = token[0]
        if symbol in ("{", "["):
            names.append(set())
        elif symbol in ("}", "]"):
            names.pop()
        elif symbol == ":" and reason is _DUPLICATE and last is not None:
            name = json.loads(last[0])
            if name in names[-1]:
                return last.start()
            names[-1].add(name)
        elif symbol[0] in "-NI" and reason is _CONSTANT:
            return token.start()
        last = token
    return 0
