"""Query files: the text of a ``.sql`` file, whose first comment may say what the query is called and what it takes."""

from __future__ import annotations

from collections.abc import Iterable

from tenantry.errors import TemplateError
from tenantry.sql.fragments.fragments import Fragments, TemplateDefinition
from tenantry.sql.header.query_header import Header, read_header
from tenantry.sql.source import Source
from tenantry.sql.template import SQLTemplate, optional_paths


class Query(SQLTemplate):
    """A saved query: an SQLTemplate with a name, made of the text of a ``.sql`` file (docs/sql-queries.md).

    ``name`` is what fragments call it; ``file`` what errors call it. ``dialect`` counts where the header names none.

    ``optional`` names properties that a group may lack; so may the header of a file that is ``trusted``, the host
    program's own. Else the author of the file has no such say, and a header that names others is refused.

    It is compiled when it is first bound, or by ``check``.

    Raises TemplateError for a header that cannot be read, with file, line, column, caret and fix.
    """

    __slots__ = ("_header", "name")

    def __init__(
        self,
        text: str,
        name: str = "",
        *,
        file: str = "",
        dialect: str | None = None,
        optional: Iterable[str] = frozenset(),
        fragments: Fragments | None = None,
        trusted: bool = False,
    ) -> None:
        source = Source(text, file or name)
        header = read_header(source)
        declared = optional_paths(optional)
        if not trusted and not header.optional <= declared:
            raise _not_trusted(source, header)
        self.name: str = name
        self._header = header
        definition = TemplateDefinition(
            source=source,
            header=header,
            parameters=header.parameters,
            optional=header.optional | declared,
            fragments=fragments,
        )
        self._prepare(definition, header.dialect or dialect)

    @property
    def title(self) -> str:
        """The header's title, else the name."""
        return self._header.title or self.name

    @property
    def description(self) -> str:
        """The header's description, or an empty text."""
        return self._header.description

    def __repr__(self) -> str:
        return f"<Query {self.name!r}: {super().__repr__()}>"


def _not_trusted(source: Source, header: Header) -> TemplateError:
    problem = (
        "optional counts in the program's own query folder only: it lets a condition of the group go, which the "
        "author of a query cannot decide"
    )
    fix = "move the file into that folder; or take optional out, and let the program declare it: optional={…}"
    return source.error(header.optional_offset, problem, fix)
