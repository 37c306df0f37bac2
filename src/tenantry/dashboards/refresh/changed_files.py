"""What an open page is told while somebody writes the files of its dashboard: that they have changed, or are wrong."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Final

from starlette.requests import Request

from tenantry.dashboards.answer_budget import OpenAnswer
from tenantry.dashboards.protocol.line_stream import Line, LineStream
from tenantry.dashboards.protocol.panel_lines import line
from tenantry.dashboards.refresh.live import SIGN, ChangedPanels, Message
from tenantry.dashboards.refresh.reloading import ReloadingFolder
from tenantry.datasources import DataSources
from tenantry.errors import InvalidQueries
from tenantry.groups import UserGroup

_LOOK_SECONDS: Final = 0.3


class ChangedFiles(ChangedPanels):
    """ChangedPanels, and ``{"revision": …}`` of the folder at first and whenever a file has changed. ``revision`` is
    that from before the dashboard was read."""

    def __init__(
        self,
        sources: DataSources,
        group: UserGroup,
        schemas: dict[str, str],
        folder: ReloadingFolder,
        revision: str,
    ) -> None:
        super().__init__(sources, group, schemas)
        self._folder = folder
        self._revision = revision

    @property
    def first(self) -> Message:
        """The revision that is shown."""
        return {"revision": self._revision}

    def pause(self) -> float:
        """Seconds between two looks at the files."""
        return _LOOK_SECONDS

    def sign(self) -> Message:
        """The revision, if it is another one."""
        now = self._folder.revision
        if now == self._revision:
            return {}
        self._revision = now
        return self.first


class BrokenFiles(LineStream):
    """The answer for panels while the files cannot be used: ``{"broken": …}`` says where they are wrong, to their
    author alone. It stays open until they change."""

    def __init__(self, request: Request, error: InvalidQueries, changes: ChangedFiles) -> None:
        super().__init__(request)
        self._error = error
        self._changes = changes

    async def lines(self, answer: OpenAnswer) -> AsyncGenerator[Line]:
        """What is wrong; then the revisions."""
        async with self._changes as changes:
            yield line(self._changes.first)
            yield line({"broken": self._error.message})
            yield line({"end": True})
            if changes is not None:
                async for message in changes:
                    yield line(message) if message else SIGN
