"""Real files: each gives a model or a located explanation, and no error where others see none."""

from __future__ import annotations

from collections import Counter

import pytest

from engines.corpus import needs_corpus
from tenantry_site.config import CODES, SiteConfig, loads
from tests.config.real import REAL, Real, each_real

pytestmark = needs_corpus
_OF_SPEC = {field.alias for field in SiteConfig.model_fields.values()}


@each_real
def test_a_real_file_is_understood_or_explained(real: Real) -> None:
    """Red when a real file raises, has neither model nor error, or a diagnostic without a position or a fix."""
    config, found = loads(real.data)
    lines = real.data.decode("utf-8-sig").splitlines()
    assert config is not None or any(one.severity == "error" for one in found)
    for one in found:
        assert one.code in CODES
        assert 1 <= one.line <= len(lines)
        assert 1 <= one.column <= len(lines[one.line - 1]) + 1
        assert one.message
        assert one.fix or one.severity == "info"


@each_real
def test_no_error_where_the_oracle_sees_none(real: Real) -> None:
    """Red when a file that the other program takes has an error."""
    if real.accepted:
        config, found = loads(real.data)
        assert [one for one in found if one.severity == "error"] == []
        assert config is not None


@each_real
def test_a_diagnostic_where_the_oracle_complains(real: Real) -> None:
    """Red when the other program refuses a field of SPEC and nothing is reported of it, or of what is in it."""
    found = loads(real.data)[1]
    for pointer in real.pointers:
        if pointer.split("/")[1] in _OF_SPEC:
            assert any((one.pointer + "/").startswith(pointer + "/") for one in found), pointer


def test_the_file_of_another_tool_is_called_so() -> None:
    """Red when a file that only has the name in common is read as a docs configuration."""
    (trap,) = [real for real in REAL if b'"source-directories"' in real.data]
    config, found = loads(trap.data)
    assert config is None
    assert "CFG021" in {one.code for one in found}
    assert "another tool" in found[0].message


def test_the_newer_format_is_one_error() -> None:
    """Red when a navigation of the newer format gives more than one error, or no model."""
    newer = [real for real in REAL if "CFG032" in {one.code for one in loads(real.data)[1]}]
    assert len(newer) == 4
    for real in newer:
        config, found = loads(real.data)
        assert config is not None
        assert [one.code for one in found if one.severity != "info"] == ["CFG032"]


def test_real_files_are_not_drowned_in_warnings() -> None:
    """Red when more than one real file in ten has a warning about an unknown key (a strict reading: 98 in 100)."""
    valid = [real for real in REAL if real.accepted]
    warned = Counter(
        real.name
        for real in valid
        if {one.code for one in loads(real.data)[1]} & {"CFG033", "CFG034", "CFG035", "CFG036"}
    )
    assert len(warned) <= len(valid) // 8, warned


@pytest.mark.parametrize(
    ("name", "code", "line"),
    [
        ("Abstract-Foundation__abstract-docs@271ce457.json", "CFG008", 177),
        ("Actionabl-Ai__docs@83a04986.json", "CFG009", 39),
        ("PrefectHQ__ControlFlow@1de4fe28.json", "CFG009", 61),
        ("agno-agi__agno-docs@87188c89.json", "CFG014", 2),
        ("axiomhq__docs@b74e27de.json", "CFG009", 706),
        ("systemhr__docs@8d3f0ba6.json", "CFG009", 41),
    ],
)
def test_real_mistakes_of_syntax(name: str, code: str, line: int) -> None:
    """Red when one of these is explained otherwise or elsewhere than a person found it to be."""
    (real,) = [real for real in REAL if real.name == name]
    first = next(one for one in loads(real.data)[1] if one.code < "CFG030")
    assert (first.code, first.line) == (code, line)
