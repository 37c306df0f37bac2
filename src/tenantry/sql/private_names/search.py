from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from tenantry.errors import TemplateError
from tenantry.sql.dialects import DIALECTS
from tenantry.sql.lexing.lexemes import word_set
from tenantry.sql.lexing.lexer import lex
from tenantry.sql.parsing.dynamic_sql import ESCAPED_NAME, SETTINGS, WordToken, dynamic_calls, words_of
from tenantry.sql.private_names.tables import OTHERS, PRIVATE_NAMES, SHOW_MODIFIERS, SHOWN, PrivateNames
from tenantry.sql.source import Source
from tenantry.sql.text_cache import cached_by_text

_BEFORE_VALUE: Final = word_set("select distinct where having and or not when then else like ilike between = < > | +")
"""After one of these, a string is a value. Elsewhere it may name a table: ``from (a: 'pg_settings')``."""
_ESCAPED: Final = re.compile(r"\\[xuU0-7]")
_DESCRIBES: Final = frozenset({"show", "describe", "desc", "exists"})
_EXPLAINS: Final = frozenset({"explain", "analyze", "describe", "desc", "summarize"})
_SET_OPERATORS: Final = frozenset({"union", "except", "intersect"})


class PrivateName(NamedTuple):
    name: str
    """The name as an error shows it, such as ``pg_authid``, ``current_setting()`` or ``@@datadir``."""
    offset: int


@cached_by_text
def find_private_name(sql: str, dialect: str) -> PrivateName | None:
    """Return the first name in the SQL that can show secrets of the server, or None. If the SQL cannot be read, the
    name is ``SQL that cannot be read``."""
    private, rules = PRIVATE_NAMES.get(dialect, OTHERS), DIALECTS[dialect]
    source = Source(sql.replace("{{", "{ ").replace("{%", "{ "))
    try:
        lexemes = lex(source, rules)
        words = [each._replace(text=_folded(each.text)) for each in words_of(source.text, lexemes)]
        calls = dynamic_calls(source.text, lexemes, private.functions)
        found = [*_names(words, private), *(_called(*call) for call in calls), *_shown(words, private)]
    except TemplateError:
        return PrivateName("SQL that cannot be read", 0)
    return min(found, key=lambda each: each.offset, default=None)


def _folded(word: str) -> str:
    # MySQL ignores case in such names, also beyond ASCII: the long s equals s.
    if word.isascii():
        return word.strip() if word[:1] == "'" or " " in word else word
    plain = unicodedata.normalize("NFKD", word.upper().casefold())
    return "".join(each for each in plain if not unicodedata.combining(each)).strip()


def _called(name: str, offset: int) -> PrivateName:
    return PrivateName({ESCAPED_NAME: "a name in escapes", SETTINGS: "a `settings` clause"}.get(name, name), offset)


def _names(words: Sequence[WordToken], private: PrivateNames) -> Iterator[PrivateName]:
    for at, (written, is_word, offset) in enumerate(words):
        if private.variables and written == _text(words, at - 1) == "@":
            yield PrivateName(f"@@{_text(words, at + 1)}", words[at - 1].offset)
        prefix, quote, string = written.partition("'")
        names_table = private.strings_name_tables and _text(words, at - 1) not in _BEFORE_VALUE
        is_string = names_table and not is_word and quote
        if not (is_word or is_string):
            continue
        is_joined = is_string and at + 1 < len(words) and "'" in words[at + 1].text[:4] and not words[at + 1].is_name
        if is_joined or (is_string and prefix and _ESCAPED.search(string)):
            yield _called(ESCAPED_NAME, offset)
        name = string.replace("\\", "").strip() if is_string else written  # DuckDB 1.x reads e'\p' as p
        public = private.schemas.get(name)
        if public is not None:
            table = _text(words, at + 2).removeprefix("'") if _text(words, at + 1) == "." else ""
            if table and table not in public:
                yield PrivateName(f"{name}.{table}", offset)
        elif _is_private(name, private) and not _is_column(words, at, private):
            yield PrivateName(name, offset)


def _is_private(name: str, private: PrivateNames) -> bool:
    return any(name.startswith(prefix) and name not in public for prefix, public in private.prefixes.items())


def _is_column(words: Sequence[WordToken], at: int, private: PrivateNames) -> bool:
    # `films.pg_rating`, or the table of another schema. PostgreSQL calls functions in this way, too:
    # `(10::oid).pg_get_userbyid`, and `x.pg_get_userbyid` if x is a function in `from`.
    if private.only_in == "" or at < 2 or words[at - 1].text != ".":
        return False
    qualifier, name = words[at - 2], words[at].text
    is_called = any(each.matches(name) for each in private.attributes)
    return qualifier.is_name and qualifier.text != private.only_in and not is_called


def _shown(words: Sequence[WordToken], private: PrivateNames) -> Iterator[PrivateName]:
    for at, (word, _, offset) in enumerate(words):
        if word == "show" and _begins_statement(words, at):
            end = at + 1
            while _text(words, end) in SHOW_MODIFIERS:
                end += 1
            what = _text(words, end)
            if what not in SHOWN and (end > at + 1 or what.isidentifier() or "'" in what[:2]):
                shown = [each.text for each in words[at : end + 1] if each.text.isidentifier()]
                yield PrivateName(" ".join(shown), offset)
    if _text(words, 0) in _DESCRIBES:  # `show tables from mysql` names a schema without a dot
        engine_only = {name for name, public in private.schemas.items() if "tables" not in public}
        yield from (PrivateName(word, offset) for word, _, offset in words if word in engine_only)
    for (word, _, offset), (after, _, _) in pairwise(words):
        if word == "for" and after == "connection" and _text(words, 0) in {"explain", *_DESCRIBES}:
            yield PrivateName("the plan of another connection", offset)


def _begins_statement(words: Sequence[WordToken], at: int) -> bool:
    # DuckDB runs `select 1 union all by name show databases`. In `select distinct show`, it is a column.
    before, earlier = _text(words, at - 1), _text(words, at - 2)
    return before in {"", "(", ")", *_SET_OPERATORS, *_EXPLAINS} or (
        before in {"all", "distinct", "name"} and earlier in {"all", "by", "distinct", *_SET_OPERATORS}
    )


def _text(words: Sequence[WordToken], at: int) -> str:
    return words[at].text if 0 <= at < len(words) else ""
