"""Message: what a reader asks the relay to send, read strictly from the JSON of the playground."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final

from tenantry_site.relay.refused import Refused
from tenantry_site.relay.request_headers import ALWAYS, DROPPED, NAME, is_never_sent
from tenantry_site.relay.target import Target, read_target

METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY")
"""The methods that are sent, each with a body or without. TRACE echoes headers and CONNECT opens a tunnel."""

MAX_BODY: Final = 64 * 1024
"""Bytes of a body that is sent."""

MAX_HEADERS: Final = 64
MAX_HEADER_BYTES: Final = 16 * 1024
"""All names and values together."""

_KEYS = frozenset({"method", "url", "headers", "body"})
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
"""RFC 9110 section 5.5: no carriage return, no line feed, no NUL."""


@dataclass(frozen=True, slots=True)
class Message:
    """One request as it will be sent. ``headers`` hold neither Host nor anything of the connection's own."""

    method: str
    target: Target
    headers: tuple[tuple[str, str], ...]
    body: bytes | None


def read_message(raw: bytes, sendable: frozenset[str] = ALWAYS) -> Message:
    """``sendable``: the names of the headers that may be sent, in lower case (``request_headers.sendable``).

    Raises Refused: ``bad_request``, ``bad_address``, ``method_refused``, ``header_refused``, ``too_large``.
    """
    fields = _fields(raw)
    method = _text(fields, "method", "GET").upper()
    if method not in METHODS:
        raise Refused("method_refused", f"The relay sends {', '.join(METHODS)}, and no other method.")
    target = read_target(_text(fields, "url"))
    return Message(method, target, _headers(fields.get("headers"), sendable), _body(fields.get("body")))


def _fields(raw: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(raw, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        raise Refused("bad_request", "The body is not JSON, or names a field twice.") from None
    if not isinstance(fields, dict) or not fields.keys() <= _KEYS:
        raise Refused("bad_request", "The body is not an object of method, url, headers and body alone.")
    return fields


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError
    return found


def _text(fields: dict[str, Any], name: str, default: str | None = None) -> str:
    value = fields.get(name, default)
    if not isinstance(value, str):
        raise Refused("bad_request", f"{name} is missing or is not text.")
    return value


def _body(value: object) -> bytes | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise Refused("bad_request", "body is neither text nor null.")
    try:
        body = value.encode()
    except UnicodeEncodeError:
        raise Refused("bad_request", "body contains half of a character (a lone surrogate).") from None
    if len(body) > MAX_BODY:
        raise Refused("too_large", f"The body is larger than {MAX_BODY // 1024} KiB.")
    return body


def _headers(value: object, sendable: frozenset[str]) -> tuple[tuple[str, str], ...]:
    if value is None:
        return ()
    if not isinstance(value, dict):
        raise Refused("bad_request", "headers is not an object of names and texts.")
    if not all(isinstance(text, str) for text in value.values()):
        raise Refused("bad_request", "The value of a header is not text.")
    if len(value) > MAX_HEADERS or sum(len(name) + len(text) for name, text in value.items()) > MAX_HEADER_BYTES:
        raise Refused("too_large", f"There are more than {MAX_HEADERS} headers, or more than 16 KiB of them.")
    kept = [header for name, text in value.items() if (header := _header(name, text, sendable)) is not None]
    if len({name.lower() for name, _ in kept}) != len(kept):
        raise Refused("header_refused", "A header is given twice, in different spellings.")
    return tuple(kept)


def _header(name: str, text: str, sendable: frozenset[str]) -> tuple[str, str] | None:
    if not NAME.fullmatch(name) or not _VALUE.fullmatch(text):
        raise Refused("header_refused", "The name or the value of a header has a character that no header can hold.")
    plain = name.lower()
    if plain.replace("_", "-") in DROPPED:  # some servers read both as one
        return None
    if is_never_sent(name):
        raise Refused("header_refused", f"The relay does not send the header {name}: it is not the reader's to set.")
    if plain not in sendable:
        message = (
            f"The relay does not send the header {name}: no OpenAPI document of the docs, and no page, declares it. "
            "Who serves the docs can list it among the relay's headers."
        )
        raise Refused("header_refused", message)
    return name, text.strip(" \t")
