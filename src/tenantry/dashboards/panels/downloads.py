"""Downloads: a panel's rows as a CSV file, at an address that needs no token and works once, within a minute."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass
from datetime import tzinfo
from functools import partial
from typing import Any, Final, Literal

from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from tenantry.clock import monotonic_with_suspend
from tenantry.dashboards.access import Access
from tenantry.dashboards.definition.columns import named_columns
from tenantry.dashboards.definition.model import Panel
from tenantry.dashboards.definition.zones import declared_zone, zone_for
from tenantry.dashboards.folder import SavedDashboard
from tenantry.dashboards.panels.filters import read_filters
from tenantry.dashboards.preview.guard import EditorPreview
from tenantry.dashboards.protocol.answer_budget import OpenAnswer, answer_budget
from tenantry.dashboards.protocol.paced_send import PIECE_BYTES
from tenantry.dashboards.protocol.panel_errors import viewer_error
from tenantry.dashboards.single_use_codes import MAX_PAYLOAD, Purpose, SingleUseCodes
from tenantry.dashboards.source_zones import in_zone_of_source
from tenantry.datasources import DataSources, ResultStream
from tenantry.datasources.results import Format
from tenantry.errors import InvalidBody, MissingVariable, PassRevoked, TenantryError, UnbindableValue
from tenantry.groups import UserGroup, extend
from tenantry.middleware import ResponseCut
from tenantry.ports import GroupStore, MonotonicClock
from tenantry.tokens import claims_of, viewer_of

_log = logging.getLogger("tenantry.dashboards")
_HELD_BYTES: Final = 4 * PIECE_BYTES
"""Bytes reserved for each file that is being sent: one piece of rows, and the pieces in the server's buffers."""
_GONE = "This download link was already used or has expired. Please download again from the dashboard."


@dataclass(frozen=True)
class Downloads:
    # Like other streams, a file is cut off when its group loses access, or when the pass that requested it ends. In a
    # preview, it is cut off within `staleness` seconds after the preview ends or its author loses access.

    codes: SingleUseCodes
    groups: GroupStore
    access: Access
    sources: DataSources
    staleness: float
    seconds_left: Callable[[UserGroup], float]
    editor: EditorPreview | None = None
    clock: MonotonicClock = monotonic_with_suspend

    async def issue(
        self,
        group: UserGroup,
        saved: SavedDashboard,
        panel_id: str,
        filters: Mapping[str, Any],
        session: bytes | None = None,
        *,
        decimal_comma: bool = False,
    ) -> str:
        """Issue a code for downloading a panel's rows. ``session``: in a preview, the digest of the session's key.
        ``decimal_comma``: as in DownloadRequest.

        Raises:
        - StoreUnavailable, and the errors of ``read_filters``;
        - HTTPException (404) if the panel has no rows;
        - InvalidBody if the filters are too long."""
        self._find(saved, panel_id)
        read_filters(saved, filters)
        wanted = {
            "group": group.handle.hex(),
            "version": group.token_version,
            "viewer": None if group.viewer is None else claims_of(group.viewer),
            "dashboard": saved.dashboard.name,
            "panel": panel_id,
            "filters": filters,
            "session": None if session is None else session.hex(),
            "decimal_comma": decimal_comma,
        }
        return await self.codes.issue_for_viewer(Purpose.DOWNLOAD, _payload(wanted), group.handle)

    async def respond(self, code: str, scope: Scope) -> Response:
        """Return the file, or a sentence for the viewer if the query fails. Raises StoreUnavailable, and HTTPException:
        410 for a code that no longer works, 404 for a panel that has no rows."""
        good_until = self.clock() + self.staleness
        payload = await self.codes.redeem(Purpose.DOWNLOAD, code)
        wanted = {} if payload is None else json.loads(payload)
        group = await self._group(wanted) if wanted else None
        saved = None if group is None else self.access.find(wanted["dashboard"], group)
        session = None if wanted.get("session") is None else bytes.fromhex(wanted["session"])
        if saved is None or group is None or not await self._has_session(session):
            raise HTTPException(410, _GONE)
        try:
            async with AsyncExitStack() as opened:
                answer = await opened.enter_async_context(answer_budget().open(group))
                await answer.hold(_HELD_BYTES)
                pieces = partial(self._while_previewed, session=session, scope=scope, good_until=good_until)
                file = await self._stream(group, saved, wanted, pieces, answer)
                file.opened = opened.pop_all()
        except TenantryError as error:
            return PlainTextResponse(viewer_error(error)["message"], error.status)
        return file

    async def _stream(
        self,
        group: UserGroup,
        saved: SavedDashboard,
        wanted: Mapping[str, Any],
        pieces: Callable[[ResultStream], AsyncGenerator[bytes]],
        answer: OpenAnswer,
    ) -> RowsFile:
        saved = await in_zone_of_source(saved, group, self.sources)
        panel = self._find(saved, wanted["panel"])
        template = saved.queries.panels[panel.id].rows
        if template is None:
            raise HTTPException(404, "This panel has no rows.")
        variables = extend(group.variables, "params", read_filters(saved, wanted["filters"]))
        columns = named_columns(panel, variables)
        zone = zone_for(declared_zone(template, saved.dashboard.zone), variables)
        options = _for_spreadsheet(zone, decimal_comma=wanted.get("decimal_comma", False))  # missing: an older version
        stream = await self.sources.stream(
            group, panel.schema, template, variables, format="csv", options=options, formula_safe=True, columns=columns
        )
        headers = stream.headers(f"{_file_name(saved, panel, variables)}.csv") | {"Cache-Control": "private, no-store"}
        where = f"panel {panel.id} of dashboard {saved.dashboard.name}"
        return RowsFile(pieces(stream), where, answer, media_type=stream.media_type, headers=headers)

    async def _group(self, wanted: Mapping[str, Any]) -> UserGroup | None:
        issued = await self.groups.get(handle=bytes.fromhex(wanted["group"]))
        if issued is None or issued.group.token_version != wanted["version"]:
            return None
        claims, group = wanted["viewer"], issued.group
        if claims is not None:
            try:
                group = group.with_viewer(viewer_of(claims, wanted["version"]))
            except PassRevoked:
                return None
        return group if self.seconds_left(group) > 0 else None

    async def _has_session(self, session: bytes | None) -> bool:
        if session is None:
            return self.editor is None
        payload = await self.codes.read_digest(Purpose.PREVIEW_SESSION, session)
        shown_by = None if self.editor is None else self.editor.id
        return payload is not None and json.loads(payload).get("shown_by") == shown_by

    async def _while_previewed(
        self, stream: ResultStream, session: bytes | None, scope: Scope, good_until: float
    ) -> AsyncGenerator[bytes]:
        async with stream:
            async for piece in stream:
                if (now := self.clock()) >= good_until:
                    has_author = self.editor is None or await self.editor.has_author(scope)
                    if not (has_author and await self._has_session(session)):
                        raise ResponseCut("the preview has ended")
                    good_until = now + self.staleness
                yield piece

    @staticmethod
    def _find(saved: SavedDashboard, panel_id: str) -> Panel:
        panel = saved.dashboard.panel(panel_id)
        if panel is None or panel.query is None:
            raise HTTPException(404, "This dashboard has no such panel with rows.")
        return panel


class RowsFile(StreamingResponse):
    """Sends a panel's rows as a file. If an error occurs, the file ends early."""

    def __init__(
        self,
        pieces: AsyncGenerator[bytes],
        where: str,
        answer: OpenAnswer,
        *,
        media_type: str,
        headers: Mapping[str, str],
    ) -> None:
        super().__init__(pieces, media_type=media_type, headers=headers)
        self.opened: AsyncExitStack = AsyncExitStack()
        self.pieces: Final[AsyncGenerator[bytes]] = pieces
        self._where = where
        self._answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with (
            self.opened,
            aclosing(self.pieces),
        ):  # closing the rows frees the database connection when the reader leaves
            await super().__call__(scope, receive, self._answer.paced(send))

    async def stream_response(self, send: Send) -> None:
        try:
            await super().stream_response(send)
        except ResponseCut as cut:
            _log.info("the file of %s was cut off: %s", self._where, cut)
        except TenantryError as error:
            _log.warning("the file of %s was cut off: %s: %s", self._where, error.code, error)


def _for_spreadsheet(zone: tzinfo | None, *, decimal_comma: bool) -> Format:
    separator: Literal[",", ";"] = ";" if decimal_comma else ","
    return Format(zone=zone, separator=separator, decimal_comma=decimal_comma, byte_order_mark=True)


def _payload(wanted: Mapping[str, Any]) -> str:
    size = len(_compact({**wanted, "viewer": None}).encode())
    if size > MAX_PAYLOAD:
        raise InvalidBody(
            f"these filters are too long for a download: with the name of the panel they take {size} bytes, and "
            f"{MAX_PAYLOAD} are allowed. Choose fewer or shorter values",
            field="/filters",
        )
    return _compact(wanted)


def _compact(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _file_name(saved: SavedDashboard, panel: Panel, variables: Any) -> str:
    try:
        title = panel.view.substitute(variables).get("title")
    except (MissingVariable, UnbindableValue):
        title = None
    return title if isinstance(title, str) and title else saved.dashboard.name.rpartition("/")[2]
