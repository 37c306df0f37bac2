from __future__ import annotations

import json
from typing import Any, Final

from tenantry.errors import BadJson, InvalidBody
from tenantry.groups import STRICT_JSON

_LONGEST_INT: Final = 17
"""The length of -9007199254740991. Longer integers exceed the limits."""
# They are not parsed, because Python refuses very long ones.


def decode_json(raw: bytes, *, what: str = "body") -> dict[str, Any]:
    """Parse a JSON object strictly. ``what`` names the input in error messages, which never quote the input.

    Raises BadJson (400) for invalid JSON, invalid UTF-8, a byte order mark, NaN, Infinity and repeated names. Raises
    InvalidBody (422) for a value that is not an object, and for nesting that is too deep. Integers of more than 17
    characters become infinite floats, which the limits refuse."""
    text = _text(raw, what)
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        problem = error.msg.removesuffix(" at").removesuffix(" starting")
        reason = f"{problem[:1].lower()}{problem[1:]}, at character {error.pos}"
    except ValueError as error:  # a repeated name, NaN or Infinity
        reason = str(error)
    except RecursionError:
        raise InvalidBody(f"the {what} is nested too deeply", field="") from None
    else:
        if type(value) is dict:
            return value
        raise InvalidBody(f"the {what} must be a JSON object", field="")
    # Raise BadJson outside the handlers: inside, its __context__ would be the decoder's error, which contains the body.
    raise BadJson(f"the {what} is not JSON: {reason}")


def _text(raw: bytes, what: str) -> str:
    if not raw:
        raise BadJson(f"the {what} is empty: send a JSON object")
    if raw.startswith(b"\xef\xbb\xbf"):
        raise BadJson(f"the {what} is not JSON: it starts with a byte order mark, which you must leave out")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        position = error.start
    raise BadJson(f"the {what} is not JSON: it is not valid UTF-8 (at byte {position})")


_DECODER: Final = json.JSONDecoder(
    **STRICT_JSON, parse_int=lambda digits: int(digits) if len(digits) <= _LONGEST_INT else float("inf")
)
