"""History: an unbroken list, bounded, and what it can and cannot tell."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tenantry.cache import History
from tenantry.cache.history import BLOCK, NOTES
from tenantry.groups import Change, Changes


def learn(history: History, *changes: Change, generation: int, since: int) -> list[Change]:
    answer = Changes("s", generation, since, changes)
    if not history.follows(answer):
        history.begin(answer)
    news = list(history.add(changes))
    history.end(answer)
    return news


def handle(number: int) -> bytes:
    return number.to_bytes(8, "big")


def test_yes_no_and_cannot_tell() -> None:
    """Written to after it; not; the list does not reach back so far. Before the first list: cannot tell."""
    history = History()
    assert history.touched(handle(1), 7) is None
    assert history.known is None
    learn(history, Change(6, handle(1)), Change(8, handle(1)), Change(9, handle(2)), generation=10, since=5)
    assert [history.touched(handle(1), number) for number in (4, 5, 7, 8, 99)] == [True, True, True, False, False]
    assert [history.touched(handle(3), number) for number in (4, 5, 10)] == [None, False, False]
    assert history.known == 10


def test_it_is_bounded_and_says_so() -> None:
    """The oldest block goes; what it held cannot be told any more. Red when ``since`` stays: it would say no."""
    history = History(blocks=3)
    for number in range(1, 5 * BLOCK + 1):
        learn(history, Change(number, handle(number)), generation=number, since=number - 1)
    assert sum(len(block.touched) for block in history._blocks) <= 3 * BLOCK
    assert history.touched(handle(1), 0) is None
    assert history.touched(handle(5 * BLOCK), 4 * BLOCK) is True
    assert history.touched(handle(1), 4 * BLOCK) is False
    assert history.since >= BLOCK


def test_a_list_that_was_learned_in_part_is_not_begun_again() -> None:
    """A poll that was stopped: the changes that it brought count at once, the next one asks from there on, and what
    comes again is no news. Red when the generation stays: polls that are stopped after a few steps each, of a list as
    long as an outage, would never come to its end."""
    history = History()
    learn(history, generation=1, since=1)
    changes = tuple(Change(number, handle(number)) for number in range(2, 12))
    steps = history.add(changes)
    for _ in range(4):
        next(steps)
    assert history.known == 4  # there may be more changes of the fifth
    assert history.touched(handle(5), 1) is True
    assert [change.generation for change in learn(history, *changes, generation=11, since=1)] == list(range(6, 12))


def test_a_store_that_went_back_while_a_list_was_learned() -> None:
    """Red when only the generation is compared: changes of the store's new life would be taken for those that were
    added of the old one, and evict nothing."""
    history = History()
    learn(history, generation=1, since=1)
    steps = history.add(tuple(Change(number, handle(number)) for number in range(2, 62)))
    for _ in range(50):
        next(steps)
    assert not history.follows(Changes("s", 50, 1, (Change(50, handle(99)),)))
    assert history.follows(Changes("s", 51, 1))


def test_a_flood_of_notes_is_bounded() -> None:
    """Whatever a bus says, no more than NOTES are remembered, the last ones."""
    history = History()
    for number in range(3 * NOTES):
        history.note(handle(number), 99)
    assert len(history._heard) == NOTES
    assert history.touched(handle(3 * NOTES - 1), 98) is True


def test_what_another_life_of_the_store_leaves_goes_block_by_block() -> None:
    """To destroy 100,000 changes at once takes too long."""
    history = History()
    for number in range(1, 3 * BLOCK + 1):
        learn(history, Change(number, handle(number)), generation=number, since=number - 1)
    learn(history, generation=5, since=5)
    assert len(history._gone) == 2
    for _ in range(2):
        learn(history, generation=5, since=5)
    assert len(history._gone) == 0
    assert history.touched(handle(1), 5) is False


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), max_size=60), st.integers(0, 5), st.integers(0, 70))
def test_it_is_right_about_every_list(polls: list[tuple[int, int]], number: int, asked: int) -> None:
    """Against the plain list of all changes, polled in pieces."""
    history, truth, generation = History(), [], 0
    learn(history, generation=0, since=0)
    for who, step in polls:
        changes = []
        for _ in range(step):
            generation += 1
            changes.append(Change(generation, handle(who)))
        truth += changes
        learn(history, *changes, generation=generation, since=history.generation)
    expected = any(change.generation > asked and change.handle == handle(number) for change in truth)
    assert history.touched(handle(number), asked) is expected
