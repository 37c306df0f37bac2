"""KeySheet: the text of a key file, one line a key, and the edits that a rotation makes. Pure.

k1  2026-01-31T09:00:00Z  verify-only  <secret, base64url>
k2  2026-07-31T09:00:00Z  active       <secret, base64url>
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from tenantry.errors import InvalidKeys
from tenantry.keys.weakness import weakness
from tenantry.tokens import SigningKey

HEADER: Final = """\
# Signing keys of Tenantry. SECRET: whoever reads this file can sign user group tokens.
# Keep it out of version control and images, keep a safe copy, and leave its mode at 0600.
#
# One key a line: id, day and time of its making (UTC), state, secret (base64url).
# The active key signs; verify-only keys still verify what they signed. There is exactly one active key.
# Change it with `tenantry keys rotate`, look at it with `tenantry keys list`. Running programs read it at their start.
"""

_ACTIVE: Final = "active"
_VERIFY_ONLY: Final = "verify-only"
_STATES: Final = (_ACTIVE, _VERIFY_ONLY)
_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
_TIME: Final = "%Y-%m-%dT%H:%M:%SZ"


@dataclass(frozen=True, slots=True)
class Entry:
    """One key of the sheet. ``created_at`` is aware, UTC, whole seconds."""

    key: SigningKey
    created_at: datetime
    active: bool

    def line(self) -> str:
        """The entry as it stands in the file: the one place where a secret is written out."""
        state = _ACTIVE if self.active else _VERIFY_ONLY
        return f"{self.key.id}  {self.created_at.strftime(_TIME)}  {state:<11}  {_spell(self.key.secret)}"


@dataclass(frozen=True, slots=True)
class KeySheet:
    """The lines of a key file: a str is a comment or an empty line, and is kept as it is."""

    lines: tuple[str | Entry, ...]

    @property
    def entries(self) -> tuple[Entry, ...]:
        return tuple(line for line in self.lines if isinstance(line, Entry))

    @property
    def active(self) -> Entry:
        return next(entry for entry in self.entries if entry.active)

    def text(self) -> str:
        """What is written to the file."""
        return "".join(f"{line.line() if isinstance(line, Entry) else line}\n" for line in self.lines)

    def rotated(self, secret: bytes, now: datetime) -> KeySheet:
        """With a new active key; the one that was active verifies only. Raises InvalidKeys for a weak secret."""
        entry = new_entry(self._next_id(), secret, now)
        retired = (replace(line, active=False) if isinstance(line, Entry) else line for line in self.lines)
        return KeySheet((*retired, entry))

    def without(self, key_id: str) -> KeySheet:
        """Without this key. Raises InvalidKeys if there is none with this id, or if it is the active one."""
        if self.active.key.id == key_id:
            raise InvalidKeys(
                f"{key_id} is the active signing key: run `tenantry keys rotate` first, so that another one signs"
            )
        kept = tuple(line for line in self.lines if isinstance(line, str) or line.key.id != key_id)
        if len(kept) == len(self.lines):
            raise InvalidKeys(f"there is no such signing key; there are {', '.join(e.key.id for e in self.entries)}")
        return KeySheet(kept)

    def _next_id(self) -> str:
        """The id after the active one (k9, ka … kz, l0): an id that was removed does not come back soon."""
        taken = {entry.key.id for entry in self.entries}
        high, low = (_DIGITS.index(digit) for digit in self.active.key.id)
        for step in range(1, len(_DIGITS) ** 2):
            tens, ones = divmod((high * len(_DIGITS) + low + step) % len(_DIGITS) ** 2, len(_DIGITS))
            if (key_id := _DIGITS[tens] + _DIGITS[ones]) not in taken:
                return key_id
        raise InvalidKeys("all 1,296 key ids are taken: remove old keys with `tenantry keys remove`")


def new_entry(key_id: str, secret: bytes, now: datetime) -> Entry:
    """An active key made now. Raises InvalidKeys if the secret is weak: then the source of randomness is broken."""
    if reason := weakness(secret, _spell(secret)):
        raise InvalidKeys(f"the source of randomness gave a key that {reason}")
    return Entry(SigningKey(key_id, secret), now.astimezone(UTC).replace(microsecond=0), active=True)


def new_sheet(secret: bytes, now: datetime) -> KeySheet:
    """A first sheet, with the key ``k1``."""
    return KeySheet((*HEADER.splitlines(), new_entry("k1", secret, now)))


def parse(text: str) -> KeySheet:
    """The sheet that a file holds. Raises InvalidKeys that names the line and never shows what stands there."""
    lines: list[str | Entry] = []
    seen: dict[str | bytes, int] = {}
    active: list[int] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            lines.append(line)
            continue
        entry = _entry(line, number)
        for name, value in (("id", entry.key.id), ("secret", entry.key.secret)):
            if (first := seen.setdefault(value, number)) != number:
                raise InvalidKeys(f"line {number}: the {name} is the same as that of line {first}; remove one of them")
        active += [number] * entry.active
        lines.append(entry)
    if len(active) > 1:
        raise InvalidKeys(f"line {active[1]}: a second active key (line {active[0]} has one); make one verify-only")
    if not active:
        raise InvalidKeys("no line holds an active key; there must be exactly one")
    return KeySheet(tuple(lines))


def _entry(line: str, number: int) -> Entry:
    fields = line.split()
    if len(fields) != 4:
        raise InvalidKeys(f"line {number}: {len(fields)} fields instead of 4 (id, time, state, secret)")
    key_id, created, state, written = fields
    if state not in _STATES:
        raise InvalidKeys(f"line {number}: the third field, the state, must be {_ACTIVE} or {_VERIFY_ONLY}")
    created_at = _time(created)
    if created_at is None:
        raise InvalidKeys(f"line {number}: the second field must be a time in UTC like 2026-01-31T09:00:00Z")
    secret = _secret(written)
    if secret is None:
        raise InvalidKeys(f"line {number}: the fourth field, the secret, is not base64url without padding")
    try:
        key = SigningKey(key_id, secret)
    except InvalidKeys as error:
        raise InvalidKeys(f"line {number}: {error.message}") from None
    if reason := weakness(secret, written):
        raise InvalidKeys(
            f"line {number}: the secret of {key_id} {reason}; take the line out, or move the file away "
            "and run `tenantry keys new`"
        )
    return Entry(key, created_at, state == _ACTIVE)


def _time(text: str) -> datetime | None:
    try:
        return datetime.strptime(text, _TIME).replace(tzinfo=UTC)
    except ValueError:
        return None


def _secret(text: str) -> bytes | None:
    """The bytes; None unless this is their one canonical spelling."""
    if not re.fullmatch(r"[A-Za-z0-9_-]+", text) or len(text) % 4 == 1:
        return None
    secret = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    return secret if _spell(secret) == text else None


def _spell(secret: bytes) -> str:
    return urlsafe_b64encode(secret).rstrip(b"=").decode("ascii")
