"""The response to a request for panels: JSON lines (NDJSON) in the order of completion:
    {"dashboard": …}                    first, if requested
    {"choices": "origin", "values": …}  the choices of a control, if a query returns them
    {"panel": "1-1", "columns": …}      rows or an error
    {"changed": ["1-1"]}                which shown panels have changed, if requested
    {"end": true}                       complete; a response without it was cut off

After the line ``end``, a ``live`` response stays open and sends:
    {"changed": ["1-1"]}                the rows of these panels have changed
    {"revision": "5f3a"}                with `tenantry dashboards serve`, at the beginning and when a file changes: the
                                        page reloads if the revision is new

The last line of any response may be:
    {"token": "ended"}                  the token of the request is no longer valid
    {"group": "changed"}                the group's properties, name, mapping or data source changed: the page loads
                                        everything again
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing, nullcontext
from typing import Any, Final

from starlette.requests import Request

from tenantry.dashboards.definition.model import Panel
from tenantry.dashboards.folder import SavedDashboard
from tenantry.dashboards.panels.description import describe
from tenantry.dashboards.panels.panel_runner import PanelRunner
from tenantry.dashboards.preview.guard import preview_mark
from tenantry.dashboards.protocol.answer_budget import HeldLine, OpenAnswer
from tenantry.dashboards.protocol.line_stream import KEEP_ALIVE, Line, LineStream
from tenantry.dashboards.protocol.panel_lines import line
from tenantry.dashboards.protocol.panel_request import PanelsRequest, WantedPanel
from tenantry.dashboards.refresh import ChangedPanels
from tenantry.errors import InvalidBody

AT_ONCE: Final = 50
"""Maximum number of panels of a request that run at the same time."""

Task = Callable[[OpenAnswer], Awaitable[HeldLine]]
ChangedSince = Callable[[Mapping[str, float]], Awaitable[list[str]]]
"""Gets the ``as_of`` of the shown rows, by panel id, and returns the ids of the panels whose rows may be outdated."""


class PanelStream(LineStream):
    """A response with the requested panels and choices. Raises InvalidBody if the request names an unknown or repeated
    panel, or a control whose choices do not come from a query."""

    def __init__(
        self,
        request: Request,
        saved: SavedDashboard,
        runner: PanelRunner,
        wanted: PanelsRequest,
        changes: ChangedPanels | None,
        changed_since: ChangedSince,
    ) -> None:
        super().__init__(request)
        self._tasks = [*_choices(saved, runner, wanted), *_panels(saved, runner, wanted)]
        if wanted.shown:
            self._tasks.insert(0, lambda _: _changed(changed_since, wanted.shown))
        self._describe: Callable[[], Mapping[str, Any]] | None = None
        if wanted.definition:
            self._describe = lambda: describe(saved, runner.variables) | preview_mark(request.scope)
        self._changes = changes if wanted.live else None

    async def lines(self, answer: OpenAnswer) -> AsyncGenerator[Line]:
        async with self._changes or nullcontext() as changes:  # entered first, to report changes while the panels run
            if changes is not None and changes.first:
                yield line(changes.first)
            if self._describe is not None:
                yield line({"dashboard": self._describe()})
            async with aclosing(in_order_of_completion(self._tasks, answer)) as made:
                async for pieces, size in made:
                    yield pieces
                    answer.release(size)
            yield line({"end": True})
            if changes is not None:
                async for message in changes:
                    yield line(message) if message else KEEP_ALIVE


async def _changed(changed_since: ChangedSince, shown: Mapping[str, float]) -> HeldLine:
    panels = await changed_since(shown)
    return HeldLine(deque([line({"changed": panels})] if panels else []), 0)


def _choices(saved: SavedDashboard, runner: PanelRunner, wanted: PanelsRequest) -> list[Task]:
    filled = saved.filled
    names = list(filled) if wanted.choices is None and wanted.definition else wanted.choices or []
    for number, name in enumerate(names):
        if name not in filled:
            raise InvalidBody(
                "this dashboard has no such control, or its choices do not come from a query",
                field=f"/choices/{number}",
            )
    return [_bound(runner.choices, name) for name in names]


def _panels(saved: SavedDashboard, runner: PanelRunner, wanted: PanelsRequest) -> list[Task]:
    dashboard = saved.dashboard
    if wanted.panels is None:
        return [
            _bound(runner.panel, each, WantedPanel(id=each.id, width=wanted.width))
            for each in dashboard.panels
            if _is_asked(each)
        ]
    tasks: dict[str, Task] = {}
    for number, each in enumerate(wanted.panels):
        panel = dashboard.panel(each.id)
        if panel is None:
            raise InvalidBody("this dashboard has no such panel", field=f"/panels/{number}/id")
        if each.id in tasks:  # otherwise one request could run a query for each page of a large table
            raise InvalidBody("this panel is in the request twice", field=f"/panels/{number}/id")
        tasks[each.id] = _bound(runner.panel, panel, each)
    return list(tasks.values())


def _is_asked(panel: Panel) -> bool:
    return panel.query is not None or bool(panel.view.paths)


def _bound(function: Callable[..., Awaitable[HeldLine]], *arguments: Any) -> Task:
    return lambda answer: function(*arguments, answer)


async def in_order_of_completion(tasks: list[Task], answer: OpenAnswer) -> AsyncGenerator[HeldLine]:
    """Run the tasks. Closing the generator cancels them."""
    slots = asyncio.Semaphore(AT_ONCE)

    async def run(task: Task) -> HeldLine:
        async with slots:
            return await task(answer)

    running = [asyncio.ensure_future(run(task)) for task in tasks]
    try:
        for done in asyncio.as_completed(running):
            yield await done
    finally:
        for each in running:
            each.cancel()
        await asyncio.gather(*running, return_exceptions=True)
