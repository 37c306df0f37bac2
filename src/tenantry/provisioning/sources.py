from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Final, NamedTuple, TypeAlias

from tenantry.backends import changed_source, created_source
from tenantry.errors import AlreadyExists, DataSourceNotFound, InvalidSource, SourceInUse, StoreUnavailable
from tenantry.groups import UNNAMED, Author, Environment, RegisteredSource, SourceDraft, SourceUpdate
from tenantry.ports import Store
from tenantry.provisioning.deadline import Deadline
from tenantry.tokens import KeyRing

_ATTEMPTS: Final = 10
_OWN_TABLES_SECONDS: Final = 1.0
NO_ID: Final = ""
"""The id in the result of a dry run that would register a data source."""

SourceTest: TypeAlias = Callable[[RegisteredSource], Awaitable[object]]
"""A function that connects to a data source before it is stored. If it raises an error, nothing is written."""


class CountedSource(NamedTuple):
    source: RegisteredSource
    groups: int


class UpdatedSource(NamedTuple):
    source: RegisteredSource
    before: RegisteredSource


class SourceProvisioner:
    """Writes the data sources of ``store``. With ``dry_run``, it writes nothing, but raises the same errors.

    ``keys`` is called when a password must be encrypted or decrypted. ``test`` is awaited before a source is created or
    updated. ``is_checked``: whether the caller has already checked that new URLs cannot read the store's tables. All
    methods may raise StoreUnavailable."""

    def __init__(
        self,
        store: Store,
        keys: Callable[[], KeyRing],
        *,
        test: SourceTest | None = None,
        deadline: Deadline | None = None,
        author: Author = UNNAMED,
        dry_run: bool = False,
        is_checked: bool = False,
    ) -> None:
        self._sources = store.sources
        self._keys = keys
        self._test = test
        self._deadline = deadline or Deadline()
        self._author = author
        self._dry_run = dry_run
        self._is_checked = is_checked

    async def create(
        self, environment: Environment, draft: SourceDraft, *, password: str | None = None
    ) -> RegisteredSource:
        """Register a data source. ``password`` replaces the password in the URL. Raises InvalidSource, AlreadyExists
        and the errors of ``test``."""
        from tenantry.datasources import resolve_url

        name = draft.provided_id
        _check_name(name, "/name")
        url = resolve_url(_checked_url(draft.url, password, draft.trusted))
        made = created_source(environment, f"ds_{secrets.token_hex(8)}", replace(draft, url=url))
        stored = self._encrypted(made)
        await self._check_free(environment, name, "/name")
        if self._test is not None:
            await self._test(replace(made, id=name))  # its errors name the source by its id
        if self._dry_run:
            return replace(made, id=NO_ID, url=stored)
        creation = self._sources.create(environment, made.id, replace(draft, url=stored), author=self._author)
        return await self._deadline.write(creation)

    async def update(
        self, environment: Environment, reference: str, changes: SourceUpdate, *, password: str | None = None
    ) -> UpdatedSource:
        """Change the data source with the id or name ``reference``. ``password`` replaces the password in the URL.
        Raises DataSourceNotFound, InvalidSource, SecretUnavailable and the errors of ``test``. Raises AlreadyExists if
        the new name is taken, and SourceInUse if groups are mapped to the old name."""
        for _ in range(_ATTEMPTS):
            before = await self.find(environment, reference)
            planned = self._planned(before, changes, password)
            if planned.provided_id != before.provided_id:
                await self._check_rename(before, planned.provided_id)
            url = None if planned.url == before.url else self._encrypted(planned)
            if changes.url is not None and not self._is_checked:
                from tenantry.database import check_source

                await check_source(planned.provided_id, planned.url, _OWN_TABLES_SECONDS)
            if self._test is not None:
                await self._test(planned)
            if self._dry_run:
                return UpdatedSource(planned if url is None else replace(planned, url=url), before)
            update = self._sources.update(before, replace(changes, url=url), author=self._author)
            written = await self._deadline.write(update)
            if written is not None:  # None: another writer changed the source, so read it again
                return UpdatedSource(written, before)
        raise StoreUnavailable("other writers keep changing this data source: try again")

    async def list(self, environment: Environment) -> list[CountedSource]:
        sources = await self._deadline.read(self._sources.list(environment))
        ids = {each.provided_id: each.id for each in sources} | {each.id: each.id for each in sources}
        groups = Counter[str]()
        if sources:
            for references, count in (await self._deadline.read(self._sources.count_mapped(environment))).items():
                groups.update(dict.fromkeys({ids[each] for each in references if each in ids}, count))
        return [CountedSource(each, groups[each.id]) for each in sources]

    async def find(self, environment: Environment, reference: str) -> RegisteredSource:
        """Return the data source with the id or name ``reference``. Raises DataSourceNotFound."""
        source = await self._deadline.read(self._sources.get(environment, reference))
        if source is None:
            raise DataSourceNotFound(
                f"environment {environment.name!r} has no data source {reference!r}", field="/name"
            )
        return source

    async def count(self, source: RegisteredSource) -> CountedSource:
        counts = await self._deadline.read(self._sources.count_mapped(source.environment))
        own = {source.id, source.provided_id}
        return CountedSource(source, sum(count for references, count in counts.items() if references & own))

    async def delete(self, environment: Environment, reference: str, *, force: bool = False) -> CountedSource:
        """Delete the data source and return it. Raises DataSourceNotFound, or UnknownDataSource if another writer
        deletes the source during this call. If groups are mapped to the source, raises SourceInUse unless ``force`` is
        true."""
        found = await self.count(await self.find(environment, reference))
        if found.groups and not force:
            raise SourceInUse(in_use(found))
        if not self._dry_run:
            await self._deadline.write(self._sources.delete(environment, found.source.id, author=self._author))
        return found

    def _planned(self, source: RegisteredSource, changes: SourceUpdate, password: str | None) -> RegisteredSource:
        from tenantry.datasources import decrypt_url, is_encrypted, resolve_url

        url = source.url
        trusted = source.trusted if changes.trusted is None else changes.trusted
        if changes.url is not None:
            url = resolve_url(_checked_url(changes.url, password, trusted))
        elif password is not None or trusted != source.trusted:
            plain = decrypt_url(source, self._keys()) if is_encrypted(url) else url
            checked = _checked_url(plain, password, trusted)
            url = url if checked == plain else checked
        return changed_source(source, replace(changes, url=url))

    async def _check_free(self, environment: Environment, name: str, field: str) -> None:
        if await self._deadline.read(self._sources.get(environment, name)) is not None:
            taken = f"environment {environment.name!r} already has a data source {name!r}: choose another name"
            raise AlreadyExists(taken, field=field)

    async def _check_rename(self, source: RegisteredSource, name: str) -> None:
        _check_name(name, "/new_name")
        await self._check_free(source.environment, name, "/new_name")
        counts = await self._deadline.read(self._sources.count_mapped(source.environment))
        groups = sum(count for references, count in counts.items() if source.provided_id in references)
        if groups:
            raise SourceInUse(
                f"{_groups_map(groups)} to the old name {source.provided_id!r}: change "
                f"{'its mapping' if groups == 1 else 'their mappings'} to the id {source.id!r} before you rename "
                "it, or register a second data source under the new name",
                field="/new_name",
            )

    def _encrypted(self, source: RegisteredSource) -> str:
        from tenantry.datasources import encrypt_url, secret_state

        if secret_state(source.url) != "plain":
            return source.url
        return encrypt_url(source.url, self._keys(), source.environment, source.id)


def _checked_url(url: str, password: str | None, trusted: bool) -> str:
    from tenantry.datasources import registration_notes, with_password

    registration_notes(url, trusted=trusted)  # raises InvalidSource
    if password is None:
        return url
    url = with_password(url, password)
    registration_notes(url, trusted=trusted)
    return url


def in_use(found: CountedSource) -> str:
    source = f"data source {found.source.provided_id!r}"
    return f"{_groups_map(found.groups)} to {source}: their queries fail when it is deleted"


def _groups_map(count: int) -> str:
    return "1 user group maps" if count == 1 else f"{count:,} user groups map"


def _check_name(name: str, field: str) -> None:
    if name.startswith("ds_"):
        raise InvalidSource("NAME must not start with ds_, which is the prefix of Tenantry's ids", field=field)


def describe_source(source: RegisteredSource) -> dict[str, Any]:
    from tenantry.datasources import display_url, secret_state

    url = display_url(source.url)
    return {
        "id": source.id,
        "name": source.provided_id,
        "environment": source.environment.name,
        "engine": url.partition(":")[0].partition("+")[0],
        "url": url,
        "secrets": secret_state(source.url),
        "trusted": source.trusted,
        "session": dict(source.session),
        "guarded": bool(source.tables),
    }
