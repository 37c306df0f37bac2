"""Counts phrases in our source that no native engineer writes. The counts in ``tests/calques.json`` only fall.

python -m scripts.calques             print each place
python -m scripts.calques --update    lower the recorded counts after a rewrite
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from scripts.distributions import ROOT
from scripts.structure import CORE, PACKAGES

RECORD: Final = ROOT / "tests" / "calques.json"

CALQUES: Final[Mapping[str, str]] = {
    "a text": r"\ba text\b(?! (?:file|column|field|box|editor))",
    "beside": r"\bbeside\b",
    "each other one": r"\beach other one\b",
    "is no matter": r"\b(?:is|are) no matter\b",
    "is none": r"\b(?:is|are) none\b",
    "is told": r"\b(?:is|are|be|was|were) told\b",
    "mend": r"\bmend(?:s|ed|ing)?\b",
    "of its own": r"\bof (?:its|their|our|your) own\b",
    "so many": r"\bso many\b",
    "stands in": r"\bstands? (?:in|for|behind|there)\b",
    "that there is": r"\bthat there (?:is|are)\b",
    "under way": r"\bunder way\b",
    "what it was": r"\bwhat (?:it|that|is|was|were|has|comes|stands)\b",
    "who asks": r"\bwho (?:asks|has|knows|looks|reads|sends|waits|writes)\b",
    "whoever": r"\bwhoever\b",
}
"""Name -> pattern. What to write instead: "a string" or "the SQL" for "a text"; "next to" or "compared with" for
"beside"; "the caller" for "whoever" and "who asks"; "in flight" for "under way"; "its" for "of its own"; the number for
"so many"; "is in" for "stands in"; "is not" for "is none"."""

_PATTERNS: Final = {name: re.compile(each.replace(" ", r"\s+(?:#\s)?")) for name, each in CALQUES.items()}


def rooms() -> dict[str, list[Path]]:
    """Return the modules of each room of the core and of each other distribution."""
    found: dict[str, list[Path]] = {}
    for name, folder in PACKAGES.items():
        for path in sorted(folder.rglob("*.py")):
            room = path.relative_to(CORE).parts[0].removesuffix(".py") if folder == CORE else name
            found.setdefault(room, []).append(path)
    return dict(sorted(found.items()))


def places(text: str) -> Iterator[tuple[int, str]]:
    """Yield (line, name) of each calque in the text of a module. A phrase may wrap to the next line."""
    for name, pattern in _PATTERNS.items():
        for match in pattern.finditer(text):
            yield text.count("\n", 0, match.start()) + 1, name


def counts() -> dict[str, dict[str, int]]:
    """Return room -> calque -> number of occurrences, without zeros."""
    return {
        room: dict(sorted(Counter(name for path in paths for _, name in places(path.read_text("utf-8"))).items()))
        for room, paths in rooms().items()
    }


def recorded() -> dict[str, dict[str, int]]:
    """Return the counts in RECORD."""
    record: dict[str, dict[str, int]] = json.loads(RECORD.read_text("utf-8"))
    return record


def lowered(record: Mapping[str, Mapping[str, int]], found: Mapping[str, Mapping[str, int]]) -> str:
    """Return the new record, one room per line. A calque whose total has not risen gets the counts found, even if that
    of one room rose, because code may move between rooms. Otherwise no count rises.
    """
    risen = _total(found) - _total(record)
    lines = []
    for room, each in sorted(found.items()):
        old = record.get(room, {})
        kept = {name: min(count, old.get(name, 0)) if risen[name] else count for name, count in each.items()}
        lines.append(f"  {json.dumps(room)}: {json.dumps({name: count for name, count in kept.items() if count})}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _total(record: Mapping[str, Mapping[str, int]]) -> Counter[str]:
    return sum((Counter(each) for each in record.values()), Counter())


def main() -> None:
    """Print the places, or update the record."""
    parser = argparse.ArgumentParser(prog="python -m scripts.calques", description="Phrases that are not English.")
    parser.add_argument("--update", action="store_true", help="lower the recorded counts to those found")
    if parser.parse_args().update:
        RECORD.write_text(lowered(recorded(), counts()), encoding="utf-8")
        return
    for paths in rooms().values():
        for path in paths:
            for line, name in sorted(places(path.read_text("utf-8"))):
                print(f"{path.relative_to(ROOT)}:{line}: {name}")


if __name__ == "__main__":
    main()
