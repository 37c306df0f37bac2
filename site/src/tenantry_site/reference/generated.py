"""Generated: pages for the operations of a document that no page names, and the groups that hold them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from tenantry_site.config.model import Group
from tenantry_site.page import FrontMatter
from tenantry_site.reference.drawing.names import slug
from tenantry_site.reference.operation import Operation
from tenantry_site.reference.reference import Reference

FOLDER = "api-reference"


@dataclass(frozen=True, slots=True)
class Generated:
    """A page to be. ``group`` is the title of its group in the navigation."""

    path: str
    group: str
    front: FrontMatter


def generated(reference: Reference, taken: Collection[str], named: Mapping[str, str]) -> tuple[Generated, ...]:
    """A page for each operation of the named documents of which no page names one. ``named``: the ``openapi`` of the
    pages, by their paths.

    A site that names some operations has chosen them: the rest of that document is left out.
    """
    found = [reference.find(spec, page) for page, spec in named.items()]  # each, so that its document counts as used
    spoken = {operation.file for operation in found if operation is not None}
    used = set(taken)
    pages = []
    for file, operations in reference.documents.items():
        if file not in spoken:
            for operation in operations:
                page = _page(operation, reference.folder(file) or FOLDER, used)
                used.add(page.path)
                pages.append(page)
    return tuple(pages)


def groups(pages: Iterable[Generated]) -> tuple[Group, ...]:
    """The groups of the pages, in the order in which their operations come."""
    found: dict[str, list[str]] = {}
    for page in pages:
        found.setdefault(page.group, []).append(page.path)
    return tuple(Group(group=title, pages=tuple(paths)) for title, paths in found.items())


def _page(operation: Operation, below: str, used: Collection[str]) -> Generated:
    tag = (operation.tags or ("Webhooks" if operation.is_webhook else "API reference",))[0]
    folder = slug(tag) if operation.tags or operation.is_webhook else "operations"
    name = slug(operation.title) or slug(f"{operation.method} {operation.path}") or "operation"
    paths = _candidates(f"{below}/{folder or 'operations'}/{name}")
    path = next(path for path in paths if path not in used)
    front = FrontMatter(title=operation.title, openapi=operation.spec)
    return Generated(path, tag.strip() or "API reference", front)


def _candidates(path: str) -> Iterator[str]:
    yield path
    number = 2
    while True:
        yield f"{path}-{number}"
        number += 1
