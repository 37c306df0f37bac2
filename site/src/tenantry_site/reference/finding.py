"""Finding: the operation that a page's ``openapi`` names: ``[FILE] METHOD /path`` or ``[FILE] webhook NAME``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from posixpath import basename, splitext
from typing import Final

from tenantry_site.reference.documents import METHODS
from tenantry_site.reference.library import nearest, within
from tenantry_site.reference.operation import Operation

_SPEC: Final = re.compile(r"(?:(?P<file>\S.*?)\s+)?(?P<method>[A-Za-z][A-Za-z-]*)\s+(?P<path>\S.*)")
_NAMES: Final = re.compile(r"\{[^{}]*\}")
_WORDS: Final = frozenset({*(method.removeprefix("x-") for method in METHODS), "webhook"})


@dataclass(frozen=True, slots=True)
class Wanted:
    """An ``openapi`` entry taken apart. ``method`` is in capitals; ``file`` empty: any document."""

    file: str
    method: str
    path: str


def wanted(spec: str) -> Wanted | None:
    """The entry, if it has a method and a path; the method may be in any case."""
    match = _SPEC.fullmatch(" ".join(spec.split()))
    if match is None or match["method"].lower() not in _WORDS:
        return None
    return Wanted(match["file"] or "", match["method"].upper(), match["path"])


def files_among(file: str, paths: Sequence[str]) -> Iterator[str]:
    """The documents that may be meant: the one of this path, else those of this name, else of it without suffix."""
    if file in paths:  # a web address
        yield file
        return
    path = within("", file)
    if path in paths:
        yield str(path)
        return
    for same in (basename, _stem):
        found = [known for known in paths if same(known) == same(path or file)]
        if found:
            yield from found
            return


def _stem(path: str) -> str:
    return splitext(basename(path))[0]


def find(entry: Wanted, operations: Sequence[Operation]) -> Operation | None:
    """The operation of just this method and path."""
    for operation in operations:
        if operation.path == entry.path and operation.method == entry.method:
            return operation
    return None


def near(entry: Wanted, operations: Sequence[Operation]) -> Operation | None:
    """The operation that was most likely meant: the same path by other names, another method, a like path."""
    shape = _NAMES.sub("{}", entry.path.rstrip("/").casefold())
    alike = [one for one in operations if _NAMES.sub("{}", one.path.rstrip("/").casefold()) == shape]
    if alike:
        return next((one for one in alike if one.method == entry.method), alike[0])
    written = {f"{one.method} {one.path}": one for one in reversed(operations)}
    name = nearest(f"{entry.method} {entry.path}", written)
    return written[name] if name else None
