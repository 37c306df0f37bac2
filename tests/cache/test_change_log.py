"""ChangeLog: an unbroken list, bounded, and what it can and cannot answer."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tenantry.cache import ChangeLog
from tenantry.cache.change_log import BLOCK_SIZE, MAX_HINTS
from tenantry.groups import Change, Changes


def apply_changes(change_log: ChangeLog, *changes: Change, generation: int, since: int) -> list[Change]:
    answer = Changes("s", generation, since, changes)
    if not change_log.continues(answer):
        change_log.restart(answer)
    news = list(change_log.add(changes))
    change_log.complete(answer)
    return news


def handle(number: int) -> bytes:
    return number.to_bytes(8, "big")


def test_yes_no_and_not_known() -> None:
    """Written to after it; not; the list does not reach back so far. Before the first list: not known."""
    change_log = ChangeLog()
    assert change_log.changed_since(handle(1), 7) is None
    assert change_log.known is None
    apply_changes(change_log, Change(6, handle(1)), Change(8, handle(1)), Change(9, handle(2)), generation=10, since=5)
    assert [change_log.changed_since(handle(1), number) for number in (4, 5, 7, 8, 99)] == [
        True,
        True,
        True,
        False,
        False,
    ]
    assert [change_log.changed_since(handle(3), number) for number in (4, 5, 10)] == [None, False, False]
    assert change_log.known == 10


def test_it_is_bounded_and_says_so() -> None:
    """The oldest block goes; what it held is not known any more. Red when ``since`` stays: it would say no."""
    change_log = ChangeLog(blocks=3)
    for number in range(1, 5 * BLOCK_SIZE + 1):
        apply_changes(change_log, Change(number, handle(number)), generation=number, since=number - 1)
    assert sum(len(block.changed) for block in change_log._blocks) <= 3 * BLOCK_SIZE
    assert change_log.changed_since(handle(1), 0) is None
    assert change_log.changed_since(handle(5 * BLOCK_SIZE), 4 * BLOCK_SIZE) is True
    assert change_log.changed_since(handle(1), 4 * BLOCK_SIZE) is False
    assert change_log.since >= BLOCK_SIZE


def test_a_list_that_was_learned_in_part_is_not_begun_again() -> None:
    """A poll that was stopped: the changes that it brought count at once, the next one asks from there on, and what
    comes again is no news. Red when the generation stays: polls that are stopped after a few steps each, of a list as
    long as an outage, would never come to its end."""
    change_log = ChangeLog()
    apply_changes(change_log, generation=1, since=1)
    changes = tuple(Change(number, handle(number)) for number in range(2, 12))
    steps = change_log.add(changes)
    for _ in range(4):
        next(steps)
    assert change_log.known == 4  # there may be more changes of the fifth
    assert change_log.changed_since(handle(5), 1) is True
    assert [change.generation for change in apply_changes(change_log, *changes, generation=11, since=1)] == list(
        range(6, 12)
    )


def test_a_change_from_before_the_log_is_no_news() -> None:
    """Polls overlap: the list of an older one may begin before the log does. Red when it is added again: entries that
    were read since would go."""
    change_log = ChangeLog()
    apply_changes(change_log, generation=5, since=5)
    assert [*change_log.add([Change(4, handle(1)), Change(5, handle(2)), Change(6, handle(3))])] == [
        Change(6, handle(3))
    ]


def test_a_store_that_went_back_while_a_list_was_learned() -> None:
    """Red when only the generation is compared: changes of the store's new life would be taken for those that were
    added of the old one, and evict nothing."""
    change_log = ChangeLog()
    apply_changes(change_log, generation=1, since=1)
    steps = change_log.add(tuple(Change(number, handle(number)) for number in range(2, 62)))
    for _ in range(50):
        next(steps)
    assert not change_log.continues(Changes("s", 50, 1, (Change(50, handle(99)),)))
    assert change_log.continues(Changes("s", 51, 1))


def test_a_flood_of_notes_is_bounded() -> None:
    """Whatever a bus sends, no more than MAX_HINTS are remembered, the last ones."""
    change_log = ChangeLog()
    for number in range(3 * MAX_HINTS):
        change_log.hint(handle(number), 99)
    assert len(change_log._recent_hints) == MAX_HINTS
    assert change_log.changed_since(handle(3 * MAX_HINTS - 1), 98) is True


def test_what_another_life_of_the_store_leaves_goes_block_by_block() -> None:
    """To destroy 100,000 changes at once takes too long."""
    change_log = ChangeLog()
    for number in range(1, 3 * BLOCK_SIZE + 1):
        apply_changes(change_log, Change(number, handle(number)), generation=number, since=number - 1)
    apply_changes(change_log, generation=5, since=5)
    assert len(change_log._discarded) == 2
    for _ in range(2):
        apply_changes(change_log, generation=5, since=5)
    assert len(change_log._discarded) == 0
    assert change_log.changed_since(handle(1), 5) is False


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), max_size=60), st.integers(0, 5), st.integers(0, 70))
def test_it_is_right_about_every_list(polls: list[tuple[int, int]], number: int, asked: int) -> None:
    """Against the plain list of all changes, polled in pieces."""
    change_log, truth, generation = ChangeLog(), [], 0
    apply_changes(change_log, generation=0, since=0)
    for who, step in polls:
        changes = []
        for _ in range(step):
            generation += 1
            changes.append(Change(generation, handle(who)))
        truth += changes
        apply_changes(change_log, *changes, generation=generation, since=change_log.generation)
    expected = any(change.generation > asked and change.handle == handle(number) for change in truth)
    assert change_log.changed_since(handle(number), asked) is expected
