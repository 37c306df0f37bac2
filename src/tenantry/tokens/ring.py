"""KeyRing: the signing keys of one installation, which mint and read user group tokens."""

from __future__ import annotations

from collections.abc import Sequence
from hmac import compare_digest

from tenantry.errors import InvalidKeys, InvalidToken, SigningKeyMissing
from tenantry.groups import Tag, Token
from tenantry.tokens.checksum import checksum
from tenantry.tokens.shape import CHECKED, CHECKSUM, HEAD, SIGNATURE, SIGNED, TOKEN_LENGTH, decode, encode, head
from tenantry.tokens.signing_key import BODY_SALT, TOKEN_SALT, Seal, SigningKey


class KeyRing:
    """Signing keys, each looked up by the id that a token names: one is ``active``, the others only verify.

    The format is that of itsdangerous' ``Signer(secret, salt=TOKEN_SALT, key_derivation="hmac", digest_method=sha256)``
    with a checksum after it, but exactly one spelling of a token is accepted. ``active`` defaults to the last key.
    Raises InvalidKeys when there is no key, an id comes twice or the active key is not among them.
    """

    def __init__(self, keys: Sequence[SigningKey], active: str | None = None) -> None:
        ids = [key.id for key in keys]
        if not ids:
            raise InvalidKeys("there is no signing key: make one with `tenantry keys new`")
        if len(set(ids)) != len(ids):
            raise InvalidKeys("two signing keys have the same id")
        self._active = ids[-1] if active is None else active
        if self._active not in ids:
            raise InvalidKeys("the active signing key is not among the keys")
        self._ids = tuple(ids)
        seals = {key.id: Seal(key.derive(TOKEN_SALT)) for key in keys}
        self._seals = {head(tag, key_id): seal for key_id, seal in seals.items() for tag in Tag}
        newest_first = sorted(keys, key=lambda key: key.id != self._active)
        self._body_seals = tuple(Seal(key.derive(BODY_SALT)) for key in newest_first)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {', '.join(self._ids)}; active {self._active}>"

    @property
    def active_id(self) -> str:
        """The id of the key that signs new tokens."""
        return self._active

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of all keys, in the order given."""
        return self._ids

    def mint(self, token: Token) -> str:
        """The token string of these parts: always the same for the same parts. Raises SigningKeyMissing."""
        seal = self._seals.get(head(token.tag, token.key_id))
        if seal is None:
            raise SigningKeyMissing(
                f"the signing key {token.key_id} of this user group's token is not in the key file: rotate the group"
            )
        signed = encode(token)
        checked = signed + b"." + seal.signature(signed)
        return (checked + checksum(checked)).decode("ascii")

    def read(self, text: str | bytes) -> Token:
        """The parts of a token that one of these keys signed; whether it is still good only the store can tell.

        Raises InvalidToken, and nothing else whatever ``text`` is, in the same words for every cause. Nothing is parsed
        before it is known to be signed. The signature comes before the checksum, which anyone can compute: so no
        forgery costs more than one signature.
        """
        raw = text if isinstance(text, bytes) else _ascii(text)
        if len(raw) == TOKEN_LENGTH and (seal := self._seals.get(raw[HEAD])):
            # The spelling is compared, not the decoded bytes: decoding would accept more than one spelling.
            signature = seal.signature(raw[SIGNED])
            if compare_digest(signature, raw[SIGNATURE]) and checksum(raw[CHECKED]) == raw[CHECKSUM]:
                token = decode(raw)
                if token is not None:
                    return token
        raise InvalidToken(InvalidToken.MESSAGE)

    def body_hashes(self, data: bytes) -> tuple[bytes, ...]:
        """HMAC-SHA256 of ``data`` with each key (32 bytes each), the active key's first: for an Idempotency-Key.

        Derived with a salt of their own, so that a hash can never be a token's signature.
        """
        return tuple(seal.digest(data) for seal in self._body_seals)


def _ascii(text: object) -> bytes:
    """The bytes of a str that may be a token, else none. No encode() in a try: UnicodeEncodeError carries its text."""
    if isinstance(text, str) and len(text) == TOKEN_LENGTH and text.isascii():
        return text.encode("ascii")
    return b""
