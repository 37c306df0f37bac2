"""Documents of JSON columns."""

from __future__ import annotations

import pytest

from tenantry.datasources.engines.json_columns import DEEPEST, read_document


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_a_document_is_read_up_to_a_depth_that_every_python_reads(opening: str) -> None:
    """One deeper it stays text. Brackets within texts do not count. Red when the depth was Python's own affair: on 3.13
    it read 5,000, and what counted the bytes then failed."""
    closing = {"[": "]", '{"a":': "}"}[opening]
    just = opening * DEEPEST + "1" + closing * DEEPEST
    assert read_document(just) != just
    deeper = opening + just + closing
    assert read_document(deeper) == deeper
    assert read_document('["' + r"[{\"" * DEEPEST + '"]') == ['[{"' * DEEPEST]


def test_what_python_cannot_read_stays_text() -> None:
    """No query fails for what a document holds."""
    assert read_document("7" * 5_000) == "7" * 5_000
    assert read_document("NaN") is None
