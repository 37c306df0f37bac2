"""The memory of answers that wait to be read: shares of groups, waiting, readers that are cut off."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tenantry.dashboards.protocol import answer_budget as budgets
from tenantry.dashboards.protocol import paced_send
from tenantry.dashboards.protocol.answer_budget import AnswerBudget, answer_budget
from tenantry.dashboards.protocol.paced_send import LargeBodiesInPieces, PacedSend, ReadTooSlowly, in_pieces
from tenantry.errors import AnswersUnread
from tenantry.groups import Record
from tenantry.groups import Viewer as Person
from tenantry.http.accessors import LAST_PART_KEY
from tenantry.testing import make_group
from tests.dashboards.served import SOON, Site, serve

FIRST, SECOND, THIRD = (make_group(provided_id=name, handle=name.encode() * 4) for name in ("g1", "g2", "g3"))
MEGABYTE = 1024 * 1024


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A budget of 12 MiB with a short wait."""
    monkeypatch.setattr(budgets, "PROCESS_BYTES", 12 * MEGABYTE)
    monkeypatch.setattr(budgets, "WAIT_SECONDS", 0.3)


def line_of(size: int) -> Callable[[], Any]:
    async def fetch() -> Callable[[], Iterable[bytes]]:
        return lambda: [b"x" * size]

    return fetch


# --- shares -----------------------------------------------------------------------------------------------------------


async def test_a_group_holds_as_much_as_stays_free(small: None) -> None:
    """Half of the budget alone, less next to other groups; a group that holds nothing gets space. Red when a group may
    fill the budget, and when only its own bytes count."""
    budget = AnswerBudget()
    async with budget.open(FIRST) as first, budget.open(SECOND) as second, budget.open(THIRD) as third:
        await first.hold(6 * MEGABYTE)
        with pytest.raises(AnswersUnread):
            await first.hold(1)
        await second.hold(3 * MEGABYTE)
        with pytest.raises(AnswersUnread):
            await second.hold(MEGABYTE)
        await third.hold(3 * MEGABYTE)
        assert budget.held == 12 * MEGABYTE
        first.release(6 * MEGABYTE)
        await second.hold(MEGABYTE)
    assert budget.held == 0


async def test_an_answer_that_ends_gives_all_back(small: None) -> None:
    """A response releases its bytes, even when it fails. Red when a share is kept."""
    budget = AnswerBudget()

    async def fail() -> None:
        async with budget.open(FIRST) as answer:
            await answer.hold(5 * MEGABYTE)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    assert (budget.held, budget.count_open(FIRST)) == (0, 0)


async def test_a_line_waits_for_room_before_its_query(small: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line whose size is known waits for space before its query runs. Red when it waits only after the query."""
    monkeypatch.setattr(budgets, "WAIT_SECONDS", SOON)
    budget, asked = AnswerBudget(), 0
    fetch_large = line_of(4 * MEGABYTE)

    async def fetch() -> Any:
        nonlocal asked
        asked += 1
        return await fetch_large()

    async with budget.open(FIRST) as answer, budget.open(FIRST) as other:
        first = await answer.line(("d", "panel", "1-1"), fetch)
        assert (sum(map(len, first.pieces)), first.size, budget.held) == (4 * MEGABYTE,) * 3
        waiting = asyncio.ensure_future(other.line(("d", "panel", "1-1"), fetch))
        await asyncio.sleep(0.5)
        assert asked == 1
        answer.release(first.size)
        async with asyncio.timeout(SOON):
            assert (await waiting).size == 4 * MEGABYTE
        assert asked == 2


async def test_a_line_that_turns_out_large_is_not_kept_while_it_waits(small: None) -> None:
    """The line is made again when there is space. Red when it is kept without space, and when the attempts never
    end."""
    budget, asked = AnswerBudget(), 0

    async def fetch() -> Any:
        nonlocal asked
        asked += 1
        return lambda: [b"x" * (5 * MEGABYTE)]

    async with budget.open(FIRST) as answer:
        await answer.hold(3 * MEGABYTE)
        with pytest.raises(AnswersUnread):
            await answer.line(("d", "panel", "1-1"), fetch)
        assert (asked, budget.held) == (1, 3 * MEGABYTE)
        answer.release(3 * MEGABYTE)
        assert (await answer.line(("d", "panel", "1-1"), fetch)).size == 5 * MEGABYTE


async def test_a_line_that_is_larger_than_a_share_waits_alone(small: None) -> None:
    """The line counts as half of the budget, so it is sent at some time. Red when it counts as its size."""
    budget = AnswerBudget()
    async with budget.open(FIRST) as answer, budget.open(SECOND) as other:
        for _ in range(2):
            line = await answer.line(("d", "panel", "1-1"), line_of(20 * MEGABYTE))
            assert line.size == 6 * MEGABYTE
            assert (await other.line(("d", "panel", "2-1"), line_of(10_000))).size == 10_000
            answer.release(line.size)
            other.release(10_000)


async def test_a_failure_holds_nothing(small: None) -> None:
    """A failing query and a failing encoder release their bytes."""
    budget = AnswerBudget()

    async def fails() -> Any:
        raise ZeroDivisionError

    async def fails_later() -> Any:
        return lambda: (1 // 0 for _ in "x")

    async with budget.open(FIRST) as answer:
        for fetch in (fails, fails_later):
            with pytest.raises(ZeroDivisionError):
                await answer.line(("d", "panel", "1-1"), fetch)
            assert budget.held == 0


async def test_a_group_has_so_many_answers_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """One more response waits until another ends, and is refused later; another group's is not. Red without the
    count."""
    monkeypatch.setattr(budgets, "MAX_RESPONSES", 2)
    monkeypatch.setattr(budgets, "WAIT_SECONDS", 0.3)
    budget = AnswerBudget()
    async with AsyncExitStack() as others:
        for group in (FIRST, FIRST, SECOND):
            await others.enter_async_context(budget.open(group))
        with pytest.raises(AnswersUnread):
            await others.enter_async_context(budget.open(FIRST))
        monkeypatch.setattr(budgets, "WAIT_SECONDS", SOON)
        await others.enter_async_context(budget.open(THIRD))
    async with budget.open(FIRST):
        assert budget.count_open(FIRST) == 1


async def test_a_viewer_leaves_room_for_the_others_of_the_group(monkeypatch: pytest.MonkeyPatch) -> None:
    """Red without the count: one viewer takes all the responses of the group."""
    monkeypatch.setattr(budgets, "MAX_RESPONSES_OF_VIEWER", 2)
    monkeypatch.setattr(budgets, "WAIT_SECONDS", 0.3)
    budget = AnswerBudget()
    now = datetime.now(UTC)
    ada, bob, nobody = [
        FIRST.with_viewer(Person(name, Record({}), (), now, now + timedelta(hours=1), 1))
        for name in ("ada", "bob", None)
    ]
    async with AsyncExitStack() as others:
        for group in (ada, ada, bob, nobody, nobody, nobody, FIRST):
            await others.enter_async_context(budget.open(group))
        with pytest.raises(AnswersUnread):
            await others.enter_async_context(budget.open(ada))
        counts = [budget.count_open_of_viewer(group) for group in (ada, bob, nobody, FIRST)]
        assert (budget.count_open(ada), counts) == (7, [2, 1, 0, 0])
    async with budget.open(ada):
        assert budget.count_open_of_viewer(ada) == 1


# --- the pace of a reader ---------------------------------------------------------------------------------------------


class Viewer:
    """Takes a message whenever ``takes`` is set."""

    def __init__(self) -> None:
        self.takes = asyncio.Event()
        self.taken: list[Any] = []

    async def send(self, message: Any) -> None:
        await self.takes.wait()
        self.taken.append(message)


async def never_receive() -> Any:
    raise AssertionError


async def test_a_body_goes_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each piece is awaited; together they are the body. Red when the body is sent whole: a server buffers it at
    once."""
    monkeypatch.setattr(paced_send, "PIECE_BYTES", 10)
    viewer = Viewer()
    viewer.takes.set()
    for size in (0, 9, 10, 11, 20, 25):
        body = bytes(range(size))
        await PacedSend().send(viewer.send, {"type": "http.response.body", "body": body})
        assert b"".join(each["body"] for each in viewer.taken) == body
        assert [each.get("more_body", False) for each in viewer.taken] == [True] * ((size - 1) // 10) + [False]
        assert max(len(each["body"]) for each in viewer.taken) <= 10
        viewer.taken.clear()
        assert b"".join(in_pieces([body, b"", memoryview(body)])) == body * 2
        assert {len(each) for each in [*in_pieces([body] * 3)][:-1]} <= {10}


async def test_a_reader_that_takes_nothing_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the time limit, in any kind of response. Red without the deadline: the send waits for ever."""
    monkeypatch.setattr(paced_send, "WRITE_SECONDS", 0.1)
    message = {"type": "http.response.body", "body": b"x" * 100_000}
    async with asyncio.timeout(SOON):
        with pytest.raises(ReadTooSlowly):
            await PacedSend().send(Viewer().send, message)

        async def app(scope: Any, receive: Any, send: Any) -> None:
            await send(message)
            raise AssertionError("it was sent")

        await LargeBodiesInPieces(app)({}, never_receive, Viewer().send)


async def test_a_slow_reader_is_cut_off_for_those_who_wait(small: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The slow reader of the group that holds the most is cut off, and none of a group that holds less. Red when slow
    readers stay, and when those of every group are cut off."""
    monkeypatch.setattr(budgets, "WAIT_SECONDS", SOON)
    monkeypatch.setattr(paced_send, "SLOW_SECONDS", 0.3)
    budget = AnswerBudget()

    async def read_slowly(group: Any, size: int, held: asyncio.Event) -> str:
        async with budget.open(group) as answer:
            await answer.hold(size)
            held.set()
            try:
                await answer.paced(Viewer().send)({"type": "http.response.body", "body": b"x"})
            except ReadTooSlowly:
                return "cut off"
        return "sent"

    async with budget.open(THIRD) as most:
        await most.hold(6 * MEGABYTE)
        held = asyncio.Event()
        less = asyncio.ensure_future(read_slowly(SECOND, MEGABYTE, held))
        await held.wait()
        monkeypatch.setattr(budgets, "WAIT_SECONDS", 1.0)
        with pytest.raises(AnswersUnread):
            await most.hold(MEGABYTE)
        assert not less.done()
        less.cancel()
        await asyncio.gather(less, return_exceptions=True)
    monkeypatch.setattr(budgets, "WAIT_SECONDS", SOON)
    events = [asyncio.Event(), asyncio.Event()]
    large = asyncio.ensure_future(read_slowly(FIRST, 6 * MEGABYTE, events[0]))
    await events[0].wait()
    little = asyncio.ensure_future(read_slowly(SECOND, MEGABYTE, events[1]))
    await events[1].wait()
    async with asyncio.timeout(SOON), budget.open(THIRD) as answer:
        await answer.hold(6 * MEGABYTE)
    assert await large == "cut off"
    assert not little.done()
    little.cancel()
    await asyncio.gather(little, return_exceptions=True)
    assert budget.held == 0


async def test_a_reader_that_keeps_up_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader stays however long its source takes between two pieces. Red when that time counts as the reader's."""
    monkeypatch.setattr(paced_send, "SLOW_SECONDS", 0.3)
    viewer, pace = Viewer(), PacedSend()
    viewer.takes.set()
    for _ in range(3):
        await pace.send(viewer.send, {"type": "http.response.body", "body": b"x"})
        await asyncio.sleep(0.4)
    viewer.takes.clear()
    sending = asyncio.ensure_future(pace.send(viewer.send, {"type": "http.response.body", "body": b"x"}))
    await asyncio.sleep(0)
    assert not pace.is_slow
    async with asyncio.timeout(SOON):
        while not pace.is_slow:
            await asyncio.sleep(0.05)
    pace.cut_off()
    with pytest.raises(ReadTooSlowly):
        await sending


# --- in a mount -------------------------------------------------------------------------------------------------------

WIDE = (
    "with recursive n(i) as (select 1 union all select i + 1 from n where i < 3000) "
    "select i, printf('%0400d', i) as label from n where i > {{ params.above }}"
)
POINTS = 20_000
PLOT = f"with recursive n(i) as (select 1 union all select i + 1 from n where i < {POINTS}) select i from n"
FILES = {
    "dashboards/wide.yaml": f"""
title: Wide
controls: {{above: {{number: 0}}}}
rows:
  - [{{bar: i, by: label, query: {{sql: "{WIDE}"}}}}, {{table: {{sql: select 1 as n}}}}]
  - [{{line: i, by: i, query: {{sql: "{PLOT}"}}}}]
"""
}
LARGE = 1_200_000


class SlowServer:
    """A server, by ASGI messages, whose client takes ``left`` bytes of the body and no more."""

    def __init__(self, body: Any, left: int = 0) -> None:
        self._request = json.dumps(body).encode()
        self._left = left
        self.gone, self.sent = asyncio.Event(), b""
        self.messages: list[Any] = []
        self.waits = asyncio.Event()

    async def receive(self) -> Any:
        body, self._request = self._request, b""
        if body:
            return {"type": "http.request", "body": body, "more_body": False}
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        size = len(message.get("body", b""))
        if size > self._left:
            self.waits.set()
            await asyncio.Event().wait()
        self._left -= size
        self.messages.append(message)
        self.sent += message.get("body", b"")


@asynccontextmanager
async def reading(site: Site, server: SlowServer, carrier: str = "HA") -> AsyncIterator[asyncio.Task[None]]:
    headers = [(name.lower().encode(), value.encode()) for name, value in site.headers(carrier).items()]
    path = f"{site.prefix}/dashboards/wide/-/panels"
    scope = {
        "type": "http", "asgi": {"version": "3.0", "spec_version": "2.4"}, "http_version": "1.1", "method": "POST",
        "scheme": "http", "path": path, "raw_path": path.encode(), "query_string": b"", "root_path": "",
        "headers": headers, "client": ("127.0.0.1", 50_000), "server": ("testserver", 80),
    }  # fmt: skip
    task: asyncio.Task[None] = asyncio.ensure_future(site.app(scope, server.receive, server.send))
    try:
        yield task
    finally:
        server.gone.set()
        async with asyncio.timeout(SOON):
            await task


async def test_a_viewer_who_reads_nothing_holds_up_no_other_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next viewer of the group waits and gets an error after a time; another group is served. Red when lines do not
    count: the group's next viewers hold as much again."""
    monkeypatch.setattr(budgets, "PROCESS_BYTES", 6_000_000)
    body = {"panels": [{"id": "1-1"}]}
    async with serve(tmp_path, FILES) as site, AsyncExitStack() as unread:
        assert len((await site.post("wide/-/panels", body)).content) > LARGE
        monkeypatch.setattr(budgets, "WAIT_SECONDS", 1.0)
        servers = [SlowServer(body) for _ in range(12)]
        tasks = [await unread.enter_async_context(reading(site, each)) for each in servers]
        async with asyncio.timeout(SOON):
            await servers[0].waits.wait()
            assert len((await site.post("wide/-/panels", body, "UA")).content) > LARGE
            (line,) = await site.lines("wide", panels=[{"id": "1-1"}])
        assert line["error"]["code"] == "answers_unread"
        assert answer_budget().held <= 4_000_000
        assert not any(each.done() for each in tasks)
    assert answer_budget().held == 0


async def test_an_answer_that_is_cut_off_has_no_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A response that is cut off within a line has no last part, so its viewer sees that it is incomplete."""
    monkeypatch.setattr(paced_send, "WRITE_SECONDS", 0.5)
    async with serve(tmp_path, FILES) as site:
        server = SlowServer({"panels": [{"id": "1-1"}]}, left=200_000)
        async with reading(site, server) as task, asyncio.timeout(SOON):
            await task
        assert server.sent
        assert b"\n" not in server.sent
        assert all(each["more_body"] for each in server.messages if each["type"] == "http.response.body")


async def test_a_token_that_ends_in_the_middle_of_a_line_leaves_it_without_an_end(tmp_path: Path) -> None:
    """No line follows an incomplete one. Red when the last part is sent after it, which no page can parse."""
    async with serve(tmp_path, FILES) as site:
        server = SlowServer({"panels": [{"id": "1-1"}]}, left=200_000)
        async with reading(site, server) as task, asyncio.timeout(SOON):
            await server.waits.wait()
            handle = next(key for key, group in site.backend.groups.items() if group.provided_id == "ha")
            site.backend.table.before(handle)
            site.rotate("HA")
            site.backend.table.after(handle)
            await task
        assert b"ended" not in server.sent
        assert LAST_PART_KEY not in server.messages[-1]


async def test_open_answers_are_counted_whether_they_stay_open_or_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One more response gets 503 with Retry-After; another group's is served. Red when only live responses count."""
    body = {"panels": [{"id": "1-2"}]}
    monkeypatch.setattr(budgets, "MAX_RESPONSES", 3)
    monkeypatch.setattr(budgets, "WAIT_SECONDS", 0.5)
    async with serve(tmp_path, FILES) as site, AsyncExitStack() as unread:
        servers = [SlowServer(body | {"live": live}) for live in (True, False, False)]
        for each in servers:
            await unread.enter_async_context(reading(site, each))
            async with asyncio.timeout(SOON):
                await each.waits.wait()
        refused = await site.post("wide/-/panels", body)
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "answers_unread")
        assert refused.headers["retry-after"] == "1"
        assert (await site.post("wide/-/panels", body, "UA")).status_code == 200


async def test_no_width_is_a_way_around_the_reduction(tmp_path: Path) -> None:
    """A request without a width gets the default, and a wide plot the widest. Red when rows without a width are sent
    whole, and when the greatest width of a request is used."""

    async def count(**wanted: int) -> int:
        line = (await site.panels("wide", panels=[{"id": "2-1", **wanted}]))["2-1"]
        assert line["reduced"], wanted
        return len(line["rows"])

    async with serve(tmp_path, FILES) as site:
        assert await count() == await count(width=0) == await count(width=1_280) < 6_000
        assert await count(width=8_192) == await count(width=3_840) < POINTS
        (every,) = (each for each in await site.lines("wide") if each.get("panel") == "2-1")
        assert len(every["rows"]) < 6_000
        refused = await site.post("wide/-/panels", {"panels": [{"id": "2-1", "width": 8_193}]})
        assert refused.status_code == 422
