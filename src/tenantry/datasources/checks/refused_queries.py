from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from tenantry.errors import Edit, PrivateNameUsed, QueryFailed, QueryTimeout, TemplateError, TenantryError, misspelt
from tenantry.sql import SQLTemplate
from tenantry.sql.checks import template_error

CORRECT_QUERY: Final = "run the SQL that `tenantry dashboards explain` prints, and correct the query"
_WORD: Final = re.compile(r"(?:[\"`]?\w+[\"`]?\.)*[\"`]?(\w+)")


class Refusal(NamedTuple):
    file: str
    code: str
    line: int
    column: int
    problem: str
    fix: str
    edit: Edit | None = None


def read_refusal(
    file: str, template: SQLTemplate, error: TenantryError, text: str, prefix: str, names: Iterable[str] = ()
) -> Refusal:
    """Describe why and where a query was refused. Arguments:
    - ``file``: the file to report if the template names no file.
    - ``text``: the SQL of the query, without ``prefix``.
    - ``prefix``: the words before the SQL, such as ``explain``.
    - ``names``: known names of tables and columns, to correct misspelt names."""
    if isinstance(error, TemplateError):
        found = template_error(error)
        return Refusal(found.file or file, found.code, found.line, found.column, found.message, found.fix)
    if isinstance(error, QueryTimeout):
        fix = "try again later: another session may hold a lock"
        return Refusal(file, "explain-timeout", 1, 1, "the data source did not explain the query in time", fix)
    if isinstance(error, PrivateNameUsed):
        where, line, column = _position(file, template, error.word)
        return Refusal(where, "private-name", line, column, error.problem, error.fix)
    problem, word = error.message, ""
    if isinstance(error, QueryFailed):
        word = word_at(text, (error.position or 0) - len(prefix))
        word = word or (error.word if _offsets(template, error.word) else "")
        problem = f"{error.evidence or problem}, at {word}" if word else error.evidence or problem
    where, line, column = _position(file, template, word)
    edit = misspelt(word, names) if word else None
    fix = CORRECT_QUERY if edit is None else f"did you mean {edit.new}?"
    return Refusal(where, "query-refused", line, column, f"the data source refuses the query: {problem}", fix, edit)


def word_at(text: str, position: int) -> str:
    """Return the word at ``position`` (from 1), or an empty string. For a name with dots, return its last part."""
    found = _WORD.match(text, position - 1) if position > 0 else None
    return found[1] if found is not None else ""


def _position(file: str, template: SQLTemplate, word: str) -> tuple[str, int, int]:
    found = _offsets(template, word)
    if len(found) != 1:
        return file, 1, 1
    at = template.definition.source.location(found[0])
    return at.file or file, at.line, at.column


def _offsets(template: SQLTemplate, word: str) -> list[int]:
    text = template.definition.source.text
    return [each.start() for each in re.finditer(rf"(?<!\w){re.escape(word)}\b", text, re.IGNORECASE)] if word else []
