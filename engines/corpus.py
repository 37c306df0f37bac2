"""The corpus: real inputs that nobody here wrote. It stands beside a checkout (../shared/corpus), and is no part of it.

A checkout that stands alone, as in CI, skips the tests that need it, all for one reason. Half a corpus is no such
reason: they fail on what is missing.
"""

from __future__ import annotations

from pathlib import Path

import pytest

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus"
ABSENT = "the corpus of real inputs is not beside this checkout (../shared/corpus)"

needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason=ABSENT)

SITES = tuple(sorted(each for each in (CORPUS / "sites").iterdir() if each.is_dir())) if CORPUS.is_dir() else ()
"""The folders of whole documentation sites."""

each_site = pytest.mark.parametrize("folder", SITES, ids=[site.name for site in SITES])
