"""Encryption of stored URLs."""

from __future__ import annotations

from dataclasses import dataclass, field

from tenantry.datasources.url_secrets.encryption import (
    decrypt_url,
    encrypt_url,
    encrypting_keys,
    has_plain_secrets,
    is_encrypted,
)
from tenantry.errors import DataSourceError
from tenantry.groups import UNNAMED, Author, RegisteredSource
from tenantry.ports import Store
from tenantry.tokens import KeyRing


@dataclass(slots=True)
class Reencryption:
    """Number of URLs ``written``, and failed sources with their errors."""

    written: int = 0
    failures: list[tuple[RegisteredSource, DataSourceError]] = field(default_factory=list)


async def encrypt_sources(
    store: Store, keys: KeyRing, *, without: str | None = None, author: Author = UNNAMED
) -> Reencryption:
    """Rewrite URLs with plain secrets, or with other keys than ``keys`` (but ``without``). Safe to interrupt and
    repeat. Raises StoreUnavailable."""
    done = Reencryption()
    for environment in await store.environments.list():
        for listed in await store.sources.list(environment):
            source: RegisteredSource | None = listed
            while source is not None:  # until no other write came between
                try:
                    url = _encrypted(source, keys, without)
                except DataSourceError as error:
                    done.failures.append((source, error))
                    break
                if url == source.url:
                    break
                if await store.sources.set_url(source, url, author=author) is not None:
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
