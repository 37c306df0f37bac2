"""The summary: how many there are of each severity, in one line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tenantry_site.diagnostic import Diagnostic, Severity

_WORDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def summary(diagnostics: Iterable[Diagnostic]) -> str:
    """``2 errors, 1 warning``, or ``nothing to say``."""
    counts = Counter(diagnostic.severity for diagnostic in diagnostics)
    parts = [f"{counts[level]} {word}{'s' * (counts[level] != 1)}" for level, word in _WORDS.items() if counts[level]]
    return ", ".join(parts) or "nothing to say"
