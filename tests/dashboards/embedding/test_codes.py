"""Single-use codes: random, hashed at rest, for one purpose, once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenantry.backends.sql import SQLStore
from tenantry.dashboards.embedding.codes import CODE_LENGTH, SECONDS, Purpose, SingleUseCodes
from tenantry.migrations import migrate
from tenantry.testing import FrozenClock, MemoryStore


@pytest.mark.parametrize("purpose", Purpose)
async def test_a_code_lives_as_long_as_its_purpose_says(purpose: Purpose) -> None:
    """A minute, and ten for a preview. Red when every purpose has the same."""
    clock = FrozenClock()
    codes = SingleUseCodes(MemoryStore(clock=clock))
    assert SECONDS[purpose] == (600 if purpose in {Purpose.PREVIEW, Purpose.PREVIEW_SESSION} else 60)
    first, second = [await codes.issue(purpose, "x") for _ in range(2)]
    clock.advance(SECONDS[purpose] - 1)
    assert await codes.redeem(purpose, first) == "x"
    clock.advance(1)
    assert await codes.redeem(purpose, second) is None


async def test_what_is_no_code_is_nothing() -> None:
    """Other lengths and other letters never reach the store; and no two codes are alike."""
    codes = SingleUseCodes(MemoryStore())
    issued = {await codes.issue(Purpose.EMBED, "x") for _ in range(50)}
    assert {len(code) for code in issued} == {CODE_LENGTH}
    assert len(issued) == 50
    for wrong in ("", "x", "ü" * CODE_LENGTH, "x" * 10_000, next(iter(issued)) + "="):
        assert await codes.redeem(Purpose.EMBED, wrong) is None


async def test_the_code_is_not_in_the_store(tmp_path: Path) -> None:
    """Only its hash is; the payload shows that the search reads the right bytes. Red when the code is the key."""
    url = f"sqlite:///{tmp_path}/store.db"
    migrate(url)
    store = SQLStore(url)
    code = await SingleUseCodes(store).issue(Purpose.EMBED, "a payload")
    content = b"".join(each.read_bytes() for each in tmp_path.glob("store.db*"))
    await store.aclose()
    assert b"a payload" in content
    assert code.encode() not in content
