from __future__ import annotations

import re
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Final

from tenantry.errors import InvalidKeys
from tenantry.tokens import SigningKey
from tenantry.tokens.keys.private_file import create_private, locked, read_private, replace_private

DEFAULT_PATH: Final = "tenantry.keys"

_SECRET_BYTES: Final = 32

HEADER: Final = """\
# Signing keys of Tenantry. SECRET: with this file anyone can sign user group tokens, and decrypt the passwords of data
# sources in the store.
# Keep it out of version control and images, keep a safe copy, and leave its mode at 0600.
#
# One key per line: id, time of creation (UTC), state, secret (base64url).
# Exactly one key is active and signs; verify-only keys verify the tokens that they signed. An audit-only line is
# what remains of a removed key: it verifies entries of the audit trail, but no token.
# Change it with `tenantry keys rotate`, view it with `tenantry keys list`. Running programs read it once a second.
"""

# k0  2026-07-31T09:00:00Z  audit-only   <audit key, base64url>
# k1  2026-01-31T09:00:00Z  verify-only  <secret, base64url>
# k2  2026-07-31T09:00:00Z  active       <secret, base64url>
_ACTIVE: Final = "active"
_VERIFY_ONLY: Final = "verify-only"
_AUDIT_ONLY: Final = "audit-only"
_STATES: Final = (_ACTIVE, _VERIFY_ONLY, _AUDIT_ONLY)
_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
_TIME: Final = "%Y-%m-%dT%H:%M:%SZ"


@dataclass(frozen=True, slots=True)
class KeyEntry:
    key: SigningKey
    created_at: datetime
    active: bool

    def line(self) -> str:
        return _line(self.key.id, self.created_at, _ACTIVE if self.active else _VERIFY_ONLY, self.key.secret)


@dataclass(frozen=True, slots=True)
class AuditKey:
    id: str
    created_at: datetime
    secret: bytes = field(repr=False)

    def line(self) -> str:
        return _line(self.id, self.created_at, _AUDIT_ONLY, self.secret)


def _line(key_id: str, created_at: datetime, state: str, secret: bytes) -> str:
    return f"{key_id}  {created_at.strftime(_TIME)}  {state:<11}  {_encode_secret(secret)}"


@dataclass(frozen=True, slots=True)
class KeyFile:
    lines: tuple[str | KeyEntry | AuditKey, ...]

    @property
    def entries(self) -> tuple[KeyEntry, ...]:
        return tuple(line for line in self.lines if isinstance(line, KeyEntry))

    @property
    def audit_keys(self) -> dict[str, bytes]:
        return {line.id: line.secret for line in self.lines if isinstance(line, AuditKey)}

    @property
    def active(self) -> KeyEntry:
        return next(entry for entry in self.entries if entry.active)

    def text(self) -> str:
        return "".join(f"{line if isinstance(line, str) else line.line()}\n" for line in self.lines)

    def rotated(self, secret: bytes, now: datetime) -> KeyFile:
        """Return the file with a new active key. The former active key becomes verify-only. Raises InvalidKeys if
        ``secret`` is weak or all key ids are taken."""
        entry = new_entry(self._next_id(), secret, now)
        retired = (replace(line, active=False) if isinstance(line, KeyEntry) else line for line in self.lines)
        return KeyFile((*retired, entry))

    def without(self, key_id: str) -> KeyFile:
        """Return the file without the signing key ``key_id``, but with its audit key. Raises InvalidKeys if the signing
        key is active or unknown."""
        if self.active.key.id == key_id:
            raise InvalidKeys(f"{key_id} is the active signing key: run `tenantry keys rotate` before you remove it")
        gone = next((entry for entry in self.entries if entry.key.id == key_id), None)
        if gone is None:
            raise InvalidKeys(f"no signing key has this id; the ids are {', '.join(e.key.id for e in self.entries)}")
        stays = AuditKey(key_id, gone.created_at, gone.key.audit_key)
        return KeyFile(tuple(stays if line is gone else line for line in self.lines))

    def _next_id(self) -> str:
        # Continue counting from the active id, so that ids of removed keys are not reused soon.
        taken = {entry.key.id for entry in self.entries} | {*self.audit_keys}
        high, low = (_DIGITS.index(digit) for digit in self.active.key.id)
        for step in range(1, len(_DIGITS) ** 2):
            tens, ones = divmod((high * len(_DIGITS) + low + step) % len(_DIGITS) ** 2, len(_DIGITS))
            if (key_id := _DIGITS[tens] + _DIGITS[ones]) not in taken:
                return key_id
        raise InvalidKeys(
            "all 1,296 key ids are taken: remove old keys with `tenantry keys remove`, then delete their audit-only "
            "lines from the file"
        )


def new_entry(key_id: str, secret: bytes, now: datetime) -> KeyEntry:
    """Return an active key. Raises InvalidKeys if its secret is weak."""
    if reason := entropy_problem(secret, _encode_secret(secret)):
        raise InvalidKeys(f"the new key's random secret {reason}; check this machine's random number generator")
    return KeyEntry(SigningKey(key_id, secret), now.astimezone(UTC).replace(microsecond=0), active=True)


def new_key_file(secret: bytes, now: datetime) -> KeyFile:
    return KeyFile((*HEADER.splitlines(), new_entry("k1", secret, now)))


def parse_keys(text: str) -> KeyFile:
    """Parse a key file. Raises InvalidKeys if it is malformed or has no active key. The message names the line of a
    mistake, and shows no secret."""
    lines: list[str | KeyEntry | AuditKey] = []
    seen: dict[str | bytes, int] = {}
    active: list[int] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            lines.append(line)
            continue
        entry = _parse_entry(line, number)
        key = entry.key if isinstance(entry, KeyEntry) else entry
        for name, value in (("id", key.id), ("secret", key.secret)):
            if (first := seen.setdefault(value, number)) != number:
                raise InvalidKeys(f"line {number}: has the same {name} as line {first}; remove one of them")
        active += [number] * (isinstance(entry, KeyEntry) and entry.active)
        lines.append(entry)
    if len(active) > 1:
        raise InvalidKeys(
            f"line {active[1]}: a second active key (the first is on line {active[0]}); make one of them verify-only"
        )
    if not active:
        raise InvalidKeys("no key is active; mark exactly one as active")
    return KeyFile(tuple(lines))


def _parse_entry(line: str, number: int) -> KeyEntry | AuditKey:
    fields = line.split()
    if len(fields) != 4:
        raise InvalidKeys(f"line {number}: {len(fields)} fields instead of 4 (id, time, state, secret)")
    key_id, created, state, written = fields
    if state not in _STATES:
        raise InvalidKeys(f"line {number}: the third field, the state, must be one of {', '.join(_STATES)}")
    try:
        created_at = datetime.strptime(created, _TIME).replace(tzinfo=UTC)
    except ValueError:
        raise InvalidKeys(f"line {number}: the second field must be a time in UTC like 2026-01-31T09:00:00Z") from None
    secret = _decode_secret(written)
    if secret is None:
        raise InvalidKeys(f"line {number}: the fourth field, the secret, must be base64url without trailing =")
    try:
        key = SigningKey(key_id, secret)
    except InvalidKeys as error:
        raise InvalidKeys(f"line {number}: {error.message}") from None
    if reason := entropy_problem(secret, written):
        raise InvalidKeys(
            f"line {number}: the secret of {key_id} {reason}; remove the line, or move the file away "
            "and run `tenantry keys new`"
        )
    if state == _AUDIT_ONLY:
        return AuditKey(key.id, created_at, key.secret)
    return KeyEntry(key, created_at, state == _ACTIVE)


def _decode_secret(text: str) -> bytes | None:
    if not re.fullmatch(r"[A-Za-z0-9_-]+", text) or len(text) % 4 == 1:
        return None
    secret = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    return secret if _encode_secret(secret) == text else None


def _encode_secret(secret: bytes) -> str:
    return urlsafe_b64encode(secret).rstrip(b"=").decode("ascii")


# --- the file on the disk ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class KeyInfo:
    """A signing key without its secret. ``created_at`` is in UTC."""

    id: str
    created_at: datetime
    active: bool


def create_key_file(path: str | Path) -> KeyInfo:
    """Create a key file (mode 0600) with a random key. Raises InvalidKeys if the file exists or cannot be created."""
    contents = new_key_file(secrets.token_bytes(_SECRET_BYTES), datetime.now(UTC))
    create_private(Path(path), contents.text().encode())
    return _info(contents.active)


def rotate_key_file(path: str | Path) -> KeyInfo:
    """Add a random key, make it active, and return it. Raises InvalidKeys if this fails."""
    return _info(
        _edit(path, lambda contents: contents.rotated(secrets.token_bytes(_SECRET_BYTES), datetime.now(UTC))).active
    )


def remove_key(path: str | Path, key_id: str) -> KeyInfo:
    """Remove a verify-only key. Tokens that it signed become invalid. Raises InvalidKeys if the key is active or
    unknown, or the file cannot be read or changed."""
    removed: list[KeyInfo] = []

    def without(contents: KeyFile) -> KeyFile:
        removed.extend(_info(entry) for entry in contents.entries if entry.key.id == key_id)
        return contents.without(key_id)

    _edit(path, without)
    return removed[0]


def list_keys(path: str | Path) -> list[KeyInfo]:
    """Return the signing keys in a file, without their secrets. Raises InvalidKeys if the file cannot be read."""
    return [_info(entry) for entry in read_keys(path).entries]


def read_keys(path: str | Path) -> KeyFile:
    return checked_keys(path, read_private(Path(path)))


def checked_keys(path: str | Path, raw: bytes) -> KeyFile:
    """Parse the bytes of a key file. Raises InvalidKeys, which names the file, if they are malformed."""
    for number, line in enumerate(raw.splitlines(), start=1):
        if not line.isascii():
            raise InvalidKeys(
                f"signing-key file {path}, line {number}: contains non-ASCII bytes; check that it is a key file"
            )
    try:
        return parse_keys(raw.decode("ascii"))
    except InvalidKeys as error:
        raise InvalidKeys(f"signing-key file {path}, {error.message}") from None


def _edit(path: str | Path, change: Callable[[KeyFile], KeyFile]) -> KeyFile:
    # Resolve symbolic links, to replace the link's target and not the link.
    real = Path(path).resolve()
    with locked(real):
        contents = change(read_keys(real))
        replace_private(real, contents.text().encode())
    return contents


def _info(entry: KeyEntry) -> KeyInfo:
    return KeyInfo(entry.key.id, entry.created_at, entry.active)


# --- weak secrets -----------------------------------------------------------------------------------------------------

# Placeholder words. Each is so long that at most about one in 10^9 random keys contains it by chance.
_WORDS: Final = (
    b"changeme", b"change-me", b"change_me", b"password", b"passw0rd", b"insecure", b"your-secret", b"your_secret",
    b"yoursecret", b"secret-key", b"secret_key", b"secretkey", b"tenantry", b"letmein", b"placeholder", b"replace-me",
    b"-example", b"_example", b"example-", b"example_", b"0123456789", b"abcdefghij",
)  # fmt: skip

# SHA-256 hashes of published keys, each in its encoded and its decoded form. The keys themselves would alarm secret
# scanners.
PUBLISHED: Final = frozenset(
    {
        # The hexadecimal key of Flask's configuration guide, encoded and decoded.
        "2598f7d6adc142d88161630f3db12ab2bd3403521c281811e5e1ce60d4ac5d76",
        "a5aa976fe0932dfa4e28efad79b2bdf0ab22a79a346ed3fe9e0aeda30ab3fd1d",
        # The hexadecimal key of FastAPI's OAuth2 tutorial, encoded and decoded.
        "570dad43de1af4c925f92c16a68a50936da42b7dd6fdeb24850507a1199aac89",
        "4d0f8dec4515d07a611c502f22adb95c854d943d6122fb8f96c9503b42356bac",
        # RFC 7515 appendix A.1, the HMAC key of the JWS example.
        "c8ecc9361a05e285f04c26f9572131a6deab07e9e2b865053c6f75a4d8bd2b32",
        # The two keys of Tenantry's own token vectors (tests/tokens/vectors.py).
        "e921c0909ac8c3c01df39da878fec7ef94f8ba475ee23ea2d38f972c483fb7e8",
        "4fdbe3ad6d67a086c6c6fa444b5463f86091b0fe9f0e650ac00b837816a64d14",
    }
)


def entropy_problem(secret: bytes, written: str = "") -> str | None:
    """Return why the secret is too weak to sign with, or None. ``written``: the secret as the file encodes it."""
    texts = (secret, written.encode())
    if any(sha256(text).hexdigest() in PUBLISHED for text in texts):
        return "is published"
    if any(word in text.lower() for text in texts for word in _WORDS):
        return "contains a placeholder word"
    if any(secret[period:] == secret[:-period] for period in range(1, len(secret) // 2 + 1)):  # one byte, or abcabc
        return "repeats itself"
    if len({(after - before) % 256 for before, after in pairwise(secret)}) <= 1:
        return "counts up or down"
    if len(set(secret)) < 8:
        return "has too few different bytes"
    return None
