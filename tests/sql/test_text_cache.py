"""Functions that keep their results by the text that they got."""

from __future__ import annotations

from tenantry.sql import text_cache
from tenantry.sql.text_cache import cached_by_text


def test_the_last_texts_are_kept_within_a_size() -> None:
    """Red when the number of texts is bounded instead of their size: short ones must stay, long ones must go."""
    asked: list[str] = []

    @cached_by_text
    def last(text: str, dialect: str) -> str:
        asked.append(text)
        return f"{dialect} {text[-1]}"

    short = [f"select {number}" for number in range(1_000)]
    for _ in range(2):
        assert [last(text, "sqlite") for text in short] == [f"sqlite {text[-1]}" for text in short]
    assert asked == short
    assert last("select 1", "duckdb") == "duckdb 1", "another argument has another result"
    asked.clear()
    long = ["é" * (text_cache.MAX_BYTES // 3) + str(number) for number in range(3)]
    for text in [*long, long[2], long[1], long[0], "x" * text_cache.MAX_BYTES, "x" * text_cache.MAX_BYTES]:
        last(text, "sqlite")
    assert [text[-1] for text in asked] == ["0", "1", "2", "0", "x", "x"]
