from __future__ import annotations

import logging

from tenantry.errors import UnmappedSchema, UnregisteredSource
from tenantry.groups import Environment, RegisteredSource, UserGroup
from tenantry.ports import LeasedSources, SharedSourceCache, SourceDirectory

STALENESS = 5.0
"""The staleness bound, in seconds, if the process has no Resolver of the store."""

_log = logging.getLogger(__name__)


class SourceLookup:
    def __init__(self, directory: SourceDirectory) -> None:
        self._directory = directory
        self._leased = _leased(directory)
        self._shared_cache: SharedSourceCache | None = None

    @property
    def staleness(self) -> float:
        cache = None if self._leased is None else self._leased.source_cache
        return STALENESS if cache is None else cache.staleness

    async def of_schema(
        self,
        group: UserGroup,
        schema: str,
        *,
        reread: dict[tuple[int, str], RegisteredSource | None] | None = None,
    ) -> RegisteredSource:
        """Return the data source that the group's mapping names for a schema. ``reread``, if given, replaces the cache
        of sources. Its keys are (environment id, reference). A missing source is read from the store and added. Raises
        UnmappedSchema, UnregisteredSource, StoreUnavailable."""
        environment, mapping = group.environment, group.mapping
        try:
            reference = None if mapping is None else mapping[schema]
        except KeyError:
            reference = None
        if not isinstance(reference, str) or not reference:
            raise UnmappedSchema(
                f"the mapping of user group {group.provided_id!r} has no data source for the schema {schema!r}; "
                "add one with PUT /api/user"
            )
        if reread is None:
            cache = self._shared_cache
            source = None if cache is None else cache.peek_source(environment, reference)
            if source is None:
                source = await self.of_reference(environment, reference)
        else:
            key = environment.id, reference
            if key not in reread:
                reread[key] = await self._directory.get(environment, reference)
            source = reread[key]
        if source is not None:
            theirs = source.environment
            is_same = theirs.id == environment.id and theirs.tag == environment.tag and theirs.name == environment.name
            if is_same and reference in (source.id, source.provided_id):
                return source
            # Do not trust a directory to separate environments. A source of another environment counts as not found.
            _log.error("the directory of data sources returned a source with another name or environment")
        raise UnregisteredSource(
            f"for the schema {schema!r}, the mapping of user group {group.provided_id!r} names a data source that is "
            "not registered in the group's environment: register it, or change the mapping; "
            "see: tenantry data-source list"
        )

    async def of_reference(self, environment: Environment, reference: str) -> RegisteredSource | None:
        """Return the source with this id, either Tenantry's (``ds_…``) or the operator's, or None. Raises
        StoreUnavailable."""
        directory = self._leased
        if directory is None:
            return await self._directory.get(environment, reference)
        self._shared_cache = directory.source_cache
        if self._shared_cache is None:
            return await directory.get(environment, reference)
        return await self._shared_cache.read_source(directory, environment, reference)


def _leased(directory: SourceDirectory) -> LeasedSources | None:
    if not isinstance(directory, LeasedSources):
        return None
    for defining in type(directory).__mro__:
        if "get_at_snapshot" in vars(defining):
            return directory
        if "get" in vars(defining):  # `get` is overridden and may hide sources, but cached reads would not call it
            return None
    return None
