"""Positions in UTF-16 code units."""

from __future__ import annotations

import pytest

from tenantry.editor.offsets import Utf16Text


@pytest.mark.parametrize("text", ["", "select 1\nfrom t", "é\n\U0001f600a\U0001f600\n\nb", "\uffff\U00010000x"])
def test_offsets_count_code_units(text: str) -> None:
    """Red when offset counts characters."""
    positions = Utf16Text(text)
    for index in range(len(text) + 1):
        assert positions.offset(index) == len(text[:index].encode("utf-16-le")) // 2


def test_lines_and_columns_become_indexes() -> None:
    """Red when index does not limit the column to its line."""
    positions = Utf16Text("ab\n\ncd")
    assert [positions.index(1, 1), positions.index(1, 2), positions.index(3, 2)] == [0, 1, 5]
    assert [positions.index(1, 9), positions.index(2, 5), positions.index(3, 9)] == [2, 3, 6]
    assert [positions.index(0, 1), positions.index(9, 1), positions.index(1, 0)] == [0, 6, 0]
