from __future__ import annotations

import hmac
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hmac import compare_digest
from typing import Final

from tenantry.errors import InvalidKeys, InvalidToken, SigningKeyMissing
from tenantry.groups import Tag, Token
from tenantry.tokens.authentication import MessageAuthenticator
from tenantry.tokens.formats import (
    CHECKED,
    CHECKSUM,
    HEAD,
    SIGNATURE,
    SIGNED,
    TOKEN_LENGTH,
    checksum,
    decode,
    encode,
    head,
)

KEY_ID_PATTERN: Final = re.compile(r"[a-z0-9]{2}")
SHORTEST_SECRET: Final = 32

# With this salt, ``SigningKey.derive`` returns the key that itsdangerous derives with ``Signer(secret, salt=TOKEN_SALT,
# key_derivation="hmac", digest_method=sha256)``.
TOKEN_SALT: Final = b"tenantry.user-group-token.v1"
BODY_SALT: Final = b"tenantry.idempotency-body.v1"
_URL_SALT: Final = b"tenantry.data-source-url.v1"
_AUDIT_SALT: Final = b"tenantry.audit-trail.v1"


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A secret of at least 32 random bytes, and the key's ``id``: two characters of ``[a-z0-9]``. Raises InvalidKeys
    for other values."""

    id: str
    secret: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if not KEY_ID_PATTERN.fullmatch(self.id):
            raise InvalidKeys("the id of a signing key is two characters, a to z or 0 to 9, such as k1")
        if len(self.secret) < SHORTEST_SECRET:
            raise InvalidKeys(
                f"the secret of signing key {self.id} has {len(self.secret)} bytes; use at least {SHORTEST_SECRET}"
            )

    def derive(self, salt: bytes) -> bytes:
        """Derive a key from the secret: the HMAC-SHA256 of ``salt``, which names the key's purpose."""
        return hmac.digest(self.secret, salt, "sha256")

    @property
    def audit_key(self) -> bytes:
        """The derived key that seals audit entries."""
        # A key derived by HKDF-Expand reveals no other key, so it may be kept after the signing key is removed.
        return self.derive(_AUDIT_SALT + b"\x01")


class KeyRing:
    """Signing keys. Every key verifies tokens. The key with the id ``active`` signs new tokens; by default, the last
    key does. ``audit_keys``: the ``audit_key`` of each removed signing key, by id. Raises InvalidKeys if ``keys`` is
    empty or repeats an id, or if ``active`` is unknown."""

    removals: int = 0
    """How often keys were removed; in a KeyRing, always 0. When a subclass increases this number, tokens that were
    verified earlier may have become invalid."""
    problem: str | None = None
    """Why a subclass cannot reread its keys, or None."""

    def __init__(
        self, keys: Sequence[SigningKey], active: str | None = None, *, audit_keys: Mapping[str, bytes] | None = None
    ) -> None:
        ids = [key.id for key in keys]
        if not ids:
            raise InvalidKeys("there is no signing key: make one with `tenantry keys new`")
        if len(set(ids)) != len(ids):
            raise InvalidKeys("two signing keys have the same id")
        self._active = ids[-1] if active is None else active
        if self._active not in ids:
            raise InvalidKeys(f"the active signing key {self._active} does not exist; the ids are {', '.join(ids)}")
        self._ids = tuple(ids)
        macs = {key.id: MessageAuthenticator(key.derive(TOKEN_SALT)) for key in keys}
        self._macs = {head(tag, key_id): mac for key_id, mac in macs.items() for tag in Tag}
        # HKDF-Expand (RFC 5869 section 2.3) with the salt as ``info`` and the byte 1 as counter.
        self._url_keys = {key.id: key.derive(_URL_SALT + b"\x01") for key in keys}
        self._audit_keys = {**(audit_keys or {}), **{key.id: key.audit_key for key in keys}}
        newest_first = sorted(keys, key=lambda key: key.id != self._active)
        self._body_macs = tuple(MessageAuthenticator(key.derive(BODY_SALT)) for key in newest_first)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {', '.join(self._ids)}; active {self._active}>"

    def refresh(self, *, within: float = 0.0) -> bool:
        """Reread the keys, unless they were read in the last ``within`` seconds, and return whether they changed. If
        the keys are fixed, return False."""
        return False

    def _mac_of(self, head: bytes) -> MessageAuthenticator | None:
        return self._macs.get(head)

    @property
    def active_id(self) -> str:
        """The id of the key that signs."""
        return self._active

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of all keys."""
        return self._ids

    @property
    def url_keys(self) -> dict[str, bytes]:
        """Keys (32 bytes) that encrypt data source URLs, by id."""
        return dict(self._url_keys)

    @property
    def audit_keys(self) -> dict[str, bytes]:
        """Keys (32 bytes) that seal and verify audit entries, by id, including those of removed signing keys."""
        return dict(self._audit_keys)

    def mint(self, token: Token) -> str:
        """Sign a token and return its string. Equal tokens give equal strings. Raises SigningKeyMissing if the token's
        key is unknown."""
        mac = self._mac_of(head(token.tag, token.key_id))
        if mac is None:
            raise SigningKeyMissing(
                f"the signing key {token.key_id} of this user group's token is not in the key file: rotate the group"
            )
        return _complete(encode(token), mac).decode("ascii")

    def complete(self, signed: bytes) -> bytes | None:
        """Return the token whose first 47 bytes are ``signed``, or None if its signing key is unknown."""
        mac = self._mac_of(signed[HEAD])
        return None if mac is None else _complete(signed, mac)

    def read(self, text: str | bytes) -> Token:
        """Verify the signature of a token and decode it. Only the store knows whether the token is still valid.
        Raises InvalidToken if it is malformed or forged."""
        # Verify before decoding, so a forged token costs at most one HMAC.
        raw = text if isinstance(text, bytes) else _ascii(text)
        if len(raw) == TOKEN_LENGTH and (mac := self._mac_of(raw[HEAD])):
            # Compares the characters, not the decoded bytes, because base64 can spell the same bytes in several ways.
            signature = mac.signature(raw[SIGNED])
            if compare_digest(signature, raw[SIGNATURE]) and checksum(raw[CHECKED]) == raw[CHECKSUM]:
                token = decode(raw)
                if token is not None:
                    return token
        raise InvalidToken(InvalidToken.MESSAGE)

    def body_hashes(self, data: bytes) -> tuple[bytes, ...]:
        """Return the HMAC-SHA256 of ``data`` with each signing key, beginning with the active key."""
        return tuple(mac.digest(data) for mac in self._body_macs)


def _complete(signed: bytes, mac: MessageAuthenticator) -> bytes:
    checked = signed + b"." + mac.signature(signed)
    return checked + checksum(checked)


def _ascii(text: object) -> bytes:
    # Checked before encode(), because a UnicodeEncodeError would contain the token.
    if isinstance(text, str) and len(text) == TOKEN_LENGTH and text.isascii():
        return text.encode("ascii")
    return b""
