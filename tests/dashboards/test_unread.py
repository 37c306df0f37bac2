"""A hundred and more answers that nobody reads, from a real server over real sockets: its memory stays, and another
group is served. Rows S28 and S29 of the scorecard are the same with more connections, and measure.

Red for panels and live answers when ``has_capacity`` is always true: 64 MB are passed within seconds."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.acceptance.checks.unread import GROWTH, KINDS, attack, attacked

pytestmark = pytest.mark.slow

CONNECTIONS = 80


@pytest.mark.parametrize("kind", KINDS)
def test_answers_that_nobody_reads_take_no_memory(tmp_path: Path, kind: str) -> None:
    """The reported attack: 60 connections took 530 MB more."""
    with attacked(tmp_path) as server:
        outcome = attack(server, KINDS[kind], CONNECTIONS, seconds=2.5)
    assert outcome.wrong == 0
    assert outcome.growth <= 1.5 * GROWTH


def test_a_group_keeps_twenty_codes_of_downloads(tmp_path: Path) -> None:
    """In the file of the store; the newest code works. Red when codes are added without their share."""
    with attacked(tmp_path) as server:
        addresses = [server.download_address("attacker", number) for number in range(40)]
        assert server.codes_kept() == 20
        assert [server.ask("GET", each, {})[0] for each in (addresses[0], addresses[-1])] == [410, 200]
