"""OneSource: what resolves every reference to the same data source, for a DataSources that is measured alone."""

from __future__ import annotations

from tenantry.groups import Environment, RegisteredSource


class OneSource:
    """A directory of one data source."""

    def __init__(self, source: RegisteredSource) -> None:
        self._source = source

    async def data_source(self, environment: Environment, reference: str) -> RegisteredSource:
        """Whatever is asked for."""
        return self._source
