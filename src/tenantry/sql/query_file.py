from __future__ import annotations

from collections.abc import Iterable

from tenantry.errors import TemplateError
from tenantry.sql.fragments.fragments import Fragments, TemplateDefinition, optional_paths
from tenantry.sql.header.query_header import Header, read_header
from tenantry.sql.source import Source
from tenantry.sql.template import SQLTemplate


class Query(SQLTemplate):
    """A saved query: a named SQLTemplate, from the text of a ``.sql`` file (docs/sql-queries.md).

    Other templates include the query by its ``name``. Error messages name ``file``. ``dialect`` is used if the header
    names no dialect. ``trusted=True`` lets the header add ``optional`` paths: pass it only for files that the program's
    developers wrote.

    The first ``bind`` or ``check`` compiles the SQL. A malformed header raises TemplateError at once.
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
        """The title from the header, or ``name``."""
        return self._header.title or self.name

    @property
    def description(self) -> str:
        """The description from the header, or an empty string."""
        return self._header.description

    def __repr__(self) -> str:
        return f"<Query {self.name!r}: {super().__repr__()}>"


def _not_trusted(source: Source, header: Header) -> TemplateError:
    problem = (
        "optional is allowed only in the program's own query folder: it drops a condition of the group, and the "
        "author of a query must not decide that"
    )
    fix = "move the file into that folder; or take optional out, and let the program declare it: optional={…}"
    return source.error(header.optional_offset, problem, fix)
