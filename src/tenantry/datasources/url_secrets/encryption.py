"""Encryption of data source URLs with the signing-key file (docs/decisions/0069-encrypted-urls.md)."""

# In a stored URL the secrets are masked, and the last option holds the whole URL, encrypted once with each key:
# `postgresql://reader:***@db.example.com/sales?tenantry_encrypted=v1~k1.<base64url>~k2.<base64url>`.
#
# Each encrypted copy is AES-256-GCM (NIST SP 800-38D): nonce of 12 bytes, ciphertext, tag of 16 bytes. The tag also
# covers the masked URL and the row, so a copy cannot be decrypted in another row.

from __future__ import annotations

import json
import re
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from tenantry.database import ENCRYPTED_OPTION
from tenantry.datasources.url import masked, parse_url, public_url
from tenantry.errors import DataSourceError, InvalidSource, SecretUnavailable
from tenantry.groups import UNNAMED, Author, Environment, RegisteredSource, SourceUpdate
from tenantry.ports import Store
from tenantry.tokens import KeyRing

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_FORMAT: Final = re.compile(rf"(.*)[?&]{ENCRYPTED_OPTION}=v1((?:~[a-z0-9]{{2}}\.[A-Za-z0-9_-]+)+)", re.DOTALL)
_NONCE: Final = 12


def has_plain_secrets(url: str) -> bool:
    """Whether the URL has a secret that is neither encrypted nor a reference. Raises InvalidSource."""
    parsed = parse_url(url)
    return masked(parsed) != parsed


def is_encrypted(url: str) -> bool:
    return f"{ENCRYPTED_OPTION}=" in url


def encrypting_keys(url: str) -> frozenset[str]:
    """Return the ids of the keys that can decrypt a stored URL."""
    found = _FORMAT.fullmatch(url)
    return frozenset() if found is None else frozenset(each[:2] for each in found[2].split("~")[1:])


def encrypt_url(
    url: str, keys: KeyRing, environment: Environment, source_id: str, *, without: str | None = None
) -> str:
    """Return the URL with masked secrets, and with encrypted copies of the original URL: one for each key of ``keys``
    except the key with the id ``without``. Decryption works only for the source ``source_id`` of ``environment``. A URL
    without plain secrets is returned unchanged. Raises InvalidSource for an unreadable URL, or if the package
    cryptography is missing."""
    if not has_plain_secrets(url):
        return url
    public = public_url(url)
    text = f"{public}{'&' if '?' in public else '?'}{ENCRYPTED_OPTION}=v1"
    for key_id, key in keys.url_keys.items():
        if key_id != without:
            nonce = secrets.token_bytes(_NONCE)
            sealed = _cipher(key).encrypt(nonce, url.encode(), _bound_to(key_id, environment, source_id, public))
            text += f"~{key_id}.{urlsafe_b64encode(nonce + sealed).rstrip(b'=').decode()}"
    return text


def decrypt_url(source: RegisteredSource, keys: KeyRing) -> str:
    """Return the source's URL, decrypted. Raises SecretUnavailable if it cannot be decrypted with ``keys``, and
    InvalidSource if the package cryptography is missing."""
    found = _FORMAT.fullmatch(source.url)
    if found is None:
        raise SecretUnavailable(
            f"the encrypted URL of data source {source.id} cannot be read: it was changed, or a later version of "
            "Tenantry wrote it; register the source again"
        )
    public, copies = found[1], dict(each.split(".") for each in found[2].split("~")[1:])
    known = [(key_id, key) for key_id, key in keys.url_keys.items() if key_id in copies]
    if not known:
        raise SecretUnavailable(
            f"the URL of data source {source.id} is encrypted with the keys {', '.join(copies)}, but the key file of "
            f"this process has {', '.join(keys.ids)}: use a key file that contains one of the URL's keys, or register "
            "the source again"
        )
    key_id, key = known[-1]
    opened = _open(key, copies[key_id], _bound_to(key_id, source.environment, source.id, public))
    if opened is None:
        raise SecretUnavailable(
            f"the URL of data source {source.id} cannot be decrypted with the key {key_id}: it was changed, it was "
            "copied from another row, or another key has this id; register the source again"
        )
    return opened


def _open(key: bytes, copy: str, bound_to: bytes) -> str | None:
    cipher = _cipher(key)
    from cryptography.exceptions import InvalidTag

    try:
        raw = urlsafe_b64decode(copy + "=" * (-len(copy) % 4))
        return cipher.decrypt(raw[:_NONCE], raw[_NONCE:], bound_to).decode()
    except (ValueError, InvalidTag):  # ValueError: not base64, or too short
        return None


def _bound_to(key_id: str, environment: Environment, source_id: str, public: str) -> bytes:
    parts: list[Any] = [ENCRYPTED_OPTION, "v1", key_id, environment.id, source_id, public]
    return json.dumps(parts).encode()


def _cipher(key: bytes) -> AESGCM:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ImportError:
        raise InvalidSource(
            "the encrypted URLs of data sources need the package cryptography: pip install 'tenantry[encryption]'"
        ) from None
    return AESGCM(key)


# --- stored URLs ------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Reencryption:
    written: int = 0
    """The number of URLs that were encrypted and saved."""
    failures: list[tuple[RegisteredSource, DataSourceError]] = field(default_factory=list)


async def encrypt_sources(
    store: Store, keys: KeyRing, *, without: str | None = None, author: Author = UNNAMED
) -> Reencryption:
    """Encrypt all stored URLs with each key of ``keys``, except the key with the id ``without``. That key can then be
    removed from the key file. A URL does not change if it has no secrets, has only references, or is encrypted with
    exactly these keys. The call can be interrupted and repeated. Raises StoreUnavailable."""
    done = Reencryption()
    for environment in await store.environments.list():
        for listed in await store.sources.list(environment):
            source: RegisteredSource | None = listed
            while source is not None:  # update returns None after a concurrent write: read the source again
                try:
                    url = _encrypted(source, keys, without)
                except DataSourceError as error:
                    done.failures.append((source, error))
                    break
                if url == source.url:
                    break
                if await store.sources.update(source, SourceUpdate(url), author=author) is not None:
                    done.written += 1
                    break
                source = await store.sources.get(environment, source.id)
    return done


def _encrypted(source: RegisteredSource, keys: KeyRing, without: str | None) -> str:
    wanted = frozenset(keys.ids) - {without}
    if is_encrypted(source.url):
        if encrypting_keys(source.url) == wanted:
            return source.url
        plain = decrypt_url(source, keys)
    elif has_plain_secrets(source.url):
        plain = source.url
    else:
        return source.url
    return encrypt_url(plain, keys, source.environment, source.id, without=without)
