"""Whatever the bytes: no exception, and each diagnostic is whole."""

from __future__ import annotations

import json
import random
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from engines.corpus import needs_corpus
from engines.hypothesis_profile import examples
from tenantry_site.config import CODES, SiteConfig, loads
from tenantry_site.config.diagnostics import CODE_TABLE
from tenantry_site.report import write_json, write_sarif, write_text
from tests.config.random_files import KEYS, VALUES, configurations
from tests.config.real import REAL

FILES = frozenset({"index.mdx", "guides/start.md", "x.svg", "Guides/other.mdx"})


def check(data: str | bytes) -> None:
    """What is true of every text."""
    for files in (None, FILES):
        config, found = loads(data, files=files)
        text = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
        lines = text.count("\n") + text.count("\r") + 1
        assert config is not None or any(one.severity == "error" for one in found)
        for one in found:
            assert one.code in CODES
            assert one.severity is CODE_TABLE[one.code].severity
            assert 0 <= one.line <= lines
            assert one.column >= (1 if one.line else 0)
            assert one.message
            assert one.fix or one.severity == "info"
            assert one.pointer == "" or one.pointer.startswith("/")
        if config is not None:
            assert SiteConfig.model_validate_json(config.model_dump_json(by_alias=True)) == config
        _check_reports(found, data)


def _check_reports(found: Any, data: str | bytes) -> None:
    text = write_text(found, "site.json", sources={"site.json": data})
    assert not any(ord(character) < 32 and character != "\n" for character in text)
    assert json.loads(write_json(found, "site.json", sources={"site.json": data}))["version"] == 1
    assert json.loads(write_sarif(found, "site.json", sources={"site.json": data}))["version"] == "2.1.0"


@settings(max_examples=examples(150), deadline=None)
@given(st.binary(max_size=200) | st.text(max_size=200))
@example(b"")
@example("\ud800")
@example('{"name": "\\ud800", "\\udfff": "\\u0000", "navigation": [{"group": "\\u0000", "pages": ["\\u0000"]}]}')
@example('{"name": 1' + "0" * 5000 + "}")
@example('{"name": 1e999, "navigation": -1e999}')
@example("[" * 100_000)
@example('{"a":' * 100_000)
def test_any_bytes(data: str | bytes) -> None:
    """Red when some text raises, or leaves a diagnostic without a part."""
    check(data)


@settings(max_examples=examples(150), deadline=None)
@given(
    st.lists(
        st.sampled_from([*"{}[],:\"/\\\n\t'#`<=0-1.eé", "//", "/*", "*/", "true", '"a"', '"name":', "\ufeff"]),
        max_size=40,
    )
)
def test_any_row_of_pieces(pieces: list[str]) -> None:
    """Red when pieces of JSON in any order raise."""
    check("".join(pieces))


@settings(max_examples=examples(80), deadline=None)
@given(configurations() | VALUES | st.dictionaries(KEYS, VALUES))
def test_any_value(value: Any) -> None:
    """Red when JSON of the wrong shape raises, or a wrong value gets past the model."""
    check(json.dumps(value))


@needs_corpus
def test_real_files_with_damage() -> None:
    """Red when a real file raises after bytes were cut out, doubled, swapped or thrown in."""
    dice = random.Random(20240607)
    for real in REAL:
        data = bytearray(real.data[:20_000])
        for _ in range(dice.randrange(1, 4)):
            start = dice.randrange(len(data))
            stop = min(len(data), start + dice.randrange(1, 30))
            piece = dice.choice([b"", data[start:stop] * 2, dice.randbytes(3), b'"', b"}", b",", b"\\", b"[", b"\n"])
            data[start:stop] = piece
        check(bytes(data))
