"""Registrations: the one data source that a group's mapping names for a schema, in the group's own environment."""

from __future__ import annotations

import logging

from tenantry.errors import UnmappedSchema, UnregisteredSource
from tenantry.groups import Environment, RegisteredSource, UserGroup
from tenantry.ports import LeasedSources, SourceDirectory, SourceLease

STALENESS = 5.0
"""The staleness bound, in seconds, where no resolver of the same store runs in this process."""

_log = logging.getLogger(__name__)


class Registrations:
    """What ``directory`` has; under the lease of the resolver of the same store, where one runs in this process."""

    def __init__(self, directory: SourceDirectory) -> None:
        self._directory = directory
        self._leased = _leased(directory)
        self._lease: SourceLease | None = None

    @property
    def staleness(self) -> float:
        """The staleness bound, in seconds: that of the resolver that shares its lease."""
        lease = None if self._leased is None else self._leased.lease
        return STALENESS if lease is None else lease.staleness

    async def of_schema(self, group: UserGroup, schema: str) -> RegisteredSource:
        """The source that the group's mapping names for a schema. Raises UnmappedSchema, UnregisteredSource,
        StoreUnavailable."""
        reference, environment = _reference(group, schema), group.environment
        lease = self._lease
        source = None if lease is None else lease.peek_source(environment, reference)
        if source is None:
            source = await self.look_up(environment, reference)
        return _checked(source, group, schema, reference)

    async def reread(
        self, group: UserGroup, schema: str, known: dict[tuple[int, str], RegisteredSource | None]
    ) -> RegisteredSource:
        """As ``of_schema``, of the directory itself and not under a lease. ``known``: its answers of this moment."""
        reference = _reference(group, schema)
        key = group.environment.id, reference
        if key not in known:
            known[key] = await self._directory.get(group.environment, reference)
        return _checked(known[key], group, schema, reference)

    async def look_up(self, environment: Environment, reference: str) -> RegisteredSource | None:
        """What the directory has: through the lease of the resolver that follows it, if one does."""
        directory = self._leased
        if directory is None:
            return await self._directory.get(environment, reference)
        self._lease = directory.lease
        if self._lease is None:
            return await directory.get(environment, reference)
        return await self._lease.read_source(directory, environment, reference)


def _leased(directory: SourceDirectory) -> LeasedSources | None:
    """The directory, if what it has may be cached. None where its class has a ``get`` of its own and not the
    read that belongs to it, as one that hides some sources of a store: then that is asked, for each query."""
    if not isinstance(directory, LeasedSources):
        return None
    for defining in type(directory).__mro__:
        if "get_at_snapshot" in vars(defining):
            return directory
        if "get" in vars(defining):
            return None
    return None


def _reference(group: UserGroup, schema: str) -> str:
    try:
        reference = None if group.mapping is None else group.mapping[schema]
    except KeyError:
        reference = None
    if not isinstance(reference, str) or not reference:
        raise UnmappedSchema(
            f"the mapping of user group {group.provided_id!r} has no data source for the schema {schema!r}; "
            "add one with PUT /api/user"
        )
    return reference


def _checked(source: RegisteredSource | None, group: UserGroup, schema: str, reference: str) -> RegisteredSource:
    if source is not None and not _matches_request(source, group, reference):
        # Never rely on a directory to separate environments: a wrong answer is no answer.
        _log.error("the directory of data sources answered with a source of another name or environment")
        source = None
    if source is None:
        raise UnregisteredSource(
            f"the mapping of user group {group.provided_id!r} names a data source for the schema {schema!r} that "
            "its environment does not have; see: tenantry data-source list"
        )
    return source


def _matches_request(source: RegisteredSource, group: UserGroup, reference: str) -> bool:
    theirs, ours = source.environment, group.environment
    same_environment = theirs.id == ours.id and theirs.tag == ours.tag and theirs.name == ours.name
    return same_environment and reference in {source.id, source.provided_id}
