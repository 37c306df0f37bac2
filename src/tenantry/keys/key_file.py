"""The verbs on a key file: create, read, list, rotate, remove."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from tenantry.errors import InvalidKeys
from tenantry.keys.private_file import create_private, locked, read_private, replace_private
from tenantry.keys.sheet import Entry, KeySheet, new_sheet, parse

DEFAULT_PATH: Final = "tenantry.keys"
"""Where the key file is when nothing else is said, relative to the working directory."""

_SECRET_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class KeyInfo:
    """What may be shown of a signing key. ``created_at`` is aware, UTC."""

    id: str
    created_at: datetime
    active: bool


def create_key_file(path: str | Path) -> KeyInfo:
    """Makes a key file with one fresh key, mode 0600. Never overwrites: raises InvalidKeys if anything is there."""
    sheet = new_sheet(secrets.token_bytes(_SECRET_BYTES), datetime.now(UTC))
    create_private(Path(path), sheet.text().encode())
    return _info(sheet.active)


def rotate_key_file(path: str | Path) -> KeyInfo:
    """Adds a fresh key that signs from now on; the others verify only. The new key is told; the old tokens stay good.

    The file is replaced in one step, so that a reader sees it before or after and a crash leaves it whole; of several
    rotations at once none is lost. Raises InvalidKeys.
    """
    return _info(_edit(path, lambda sheet: sheet.rotated(secrets.token_bytes(_SECRET_BYTES), datetime.now(UTC))).active)


def remove_key(path: str | Path, key_id: str) -> KeyInfo:
    """Removes a verify-only key, say because it leaked: every token that it signed dies when programs have restarted.

    Tells the key that was removed. Raises InvalidKeys for the active key and for an unknown id.
    """
    removed: list[KeyInfo] = []

    def without(sheet: KeySheet) -> KeySheet:
        removed.extend(_info(entry) for entry in sheet.entries if entry.key.id == key_id)
        return sheet.without(key_id)

    _edit(path, without)
    return removed[0]


def list_keys(path: str | Path) -> list[KeyInfo]:
    """The keys of a file in its order, without their secrets. Raises InvalidKeys."""
    return [_info(entry) for entry in read_keys(path).entries]


def read_keys(path: str | Path) -> KeySheet:
    """The checked contents of a key file. Raises InvalidKeys that names the file."""
    return _parse(path, read_private(Path(path)))


def _edit(path: str | Path, change: Callable[[KeySheet], KeySheet]) -> KeySheet:
    # A symbolic link stays one: what it points to is replaced.
    real = Path(path).resolve()
    with locked(real):
        sheet = change(read_keys(real))
        replace_private(real, sheet.text().encode())
    return sheet


def _parse(path: str | Path, raw: bytes) -> KeySheet:
    try:
        return parse(raw.decode("ascii") if raw.isascii() else _refuse_bytes(raw))
    except InvalidKeys as error:
        raise InvalidKeys(f"signing-key file {path}, {error.message}") from None


def _refuse_bytes(raw: bytes) -> str:
    number = next(number for number, line in enumerate(raw.splitlines(), start=1) if not line.isascii())
    raise InvalidKeys(f"line {number}: holds bytes that are not ASCII; this may not be a key file")


def _info(entry: Entry) -> KeyInfo:
    return KeyInfo(entry.key.id, entry.created_at, entry.active)
