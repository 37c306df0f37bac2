"""``in`` and the ``not`` before it belong to their list: an empty one is written in another way, with ``not`` and
without. So both stand in the same text of a choice, and in the same optional clause, as the list.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import dropwhile

from tenantry.sql.lexing.lexemes import Lexeme
from tenantry.sql.lexing.sql_tokens import TokenContext
from tenantry.sql.source import Source

_BRACKETS = frozenset({"[[", "]]"})
_LOOKBACK = 12  # tokens: more brackets of clauses than any template has beside one another


def check_list(source: Source, lexemes: Sequence[Lexeme], at: int, start: int, text_start: int) -> None:
    """Raises TemplateError where the ``in`` of the tag at the index ``at`` is before the text of a choice that the tag
    is in, or where only brackets of clauses are between it and a ``not``.

    ``start`` is the offset of what the list replaces, ``text_start`` that of the template or the text of the choice.
    """
    tag = lexemes[at].start
    if start < text_start:
        fix = "write `in {{ name }}` into each text of the choice, with its `not`"
        raise source.error(tag, "the `in` of this list, or its `not`, is outside of the choice", fix)
    tokens = [each for each in TokenContext(source, lexemes).preceding(at, _LOOKBACK) if each.start < start]
    before = next(dropwhile(lambda each: each.text in _BRACKETS, tokens), None)
    if before is not None and before.text == "not" and before is not tokens[0]:
        fix = "write `not in {{ name }}` as a whole, with the column before it"
        raise source.error(tag, "the `not` before this list is in another optional clause", fix)
