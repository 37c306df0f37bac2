"""Mutants of guarded tables: each takes one defence away, and names an attack that it stops.

``outcome`` is what the attack does then: it leaks, or another defence or the engine still refuses it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

import pytest
from sqlglot import exp

from tenantry.sql import DIALECTS
from tenantry.sql.guarding import TableEntry, grammar, guarded_tables, masked_sql, proof, rewriting, statement
from tenantry.sql.guarding.guards import TableGuards
from tenantry.sql.guarding.rendered_text import combinations
from tenantry.sql.guarding.words import WordCheck
from tests.sql.guarding.attacks.trial import Attack, Outcome

_Patch: TypeAlias = Callable[[pytest.MonkeyPatch], None]
_problem_of = grammar.problem_of


@dataclass(frozen=True)
class Mutant:
    """``rule`` is what the research file calls the defence."""

    rule: str
    patch: _Patch
    engine: str
    attack: Attack
    outcome: Outcome = Outcome.LEAKED


@contextmanager
def mutated(mutant: Mutant) -> Iterator[None]:
    """Without this defence. Guards that were made with it are forgotten."""
    with pytest.MonkeyPatch.context() as patch:
        mutant.patch(patch)
        guarded_tables._guards.cache_clear()
        yield
    guarded_tables._guards.cache_clear()


def _own_name_everywhere(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(grammar, "bodies", lambda cte, _, *, recursive: [(cte.this, recursive)])


def _own_name_in_each_arm(patch: pytest.MonkeyPatch) -> None:
    def bodies(cte: Any, _: Any, *, recursive: bool) -> list[tuple[Any, bool]]:
        return [(cte.this, recursive and isinstance(cte.this, exp.Union))]

    patch.setattr(grammar, "bodies", bodies)


def _own_name_by_name(patch: pytest.MonkeyPatch) -> None:
    def bodies(cte: Any, *_: Any, **__: Any) -> list[tuple[Any, bool]]:
        return [(cte.this.this, False), (cte.this.expression, True)]

    patch.setattr(grammar, "bodies", bodies)


def _named_lambdas(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(WordCheck, "_lambda", lambda *_: None)


def _values_are_ctes(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(grammar, "is_query_cte", lambda _: True)


def _nested_with(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(vars(DIALECTS["mariadb"]), "nested_with", True)


def _no_words(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(WordCheck, "run", lambda _: None)


def _no_calls(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(WordCheck, "_call", lambda *_: None)


def _no_attributes(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(WordCheck, "_check_attribute", lambda *_: None)


def _ctes_may_capture(patch: pytest.MonkeyPatch) -> None:
    def rewrite(*given: Any) -> Any:
        return rewriting.rewrite_condition(*given)._replace(names=frozenset())

    patch.setattr(guarded_tables, "rewrite_condition", rewrite)


def _no_names_in_the_proof(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(proof.Proof, "_check_conditions", lambda *_: None)


def _ctes_may_capture_in_the_proof_too(patch: pytest.MonkeyPatch) -> None:
    _ctes_may_capture(patch)
    _no_names_in_the_proof(patch)


def _words_end_from(patch: pytest.MonkeyPatch) -> None:
    words = {"format", "settings", "select", "where", "group", "order", "limit"}
    patch.setattr(WordCheck, "_ends_from", lambda check, at: check._text(at) in words)


def _words_end_from_of_functions(patch: pytest.MonkeyPatch) -> None:
    _words_end_from(patch)
    patch.setattr(grammar, "call_in_from", lambda _: None)


def _without(*kinds: type[exp.Expression]) -> _Patch:
    """Nodes of these kinds are not checked."""

    def patch_grammar(patch: pytest.MonkeyPatch) -> None:
        def problem_of(node: Any, dialect: Any) -> Any:
            return None if isinstance(node, kinds) else _problem_of(node, dialect)

        patch.setattr(grammar, "problem_of", problem_of)

    return patch_grammar


def _every_node(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(grammar, "problem_of", lambda *_: None)


def _anything_is_a_query(patch: pytest.MonkeyPatch) -> None:
    types: Any = grammar._Types()
    types.queries = (exp.Expression,)
    patch.setattr(grammar, "types", lambda: types)


def _every_name_is_shared(patch: pytest.MonkeyPatch) -> None:
    find = TableGuards.find
    countries = TableEntry("countries", "shared")
    patch.setattr(TableGuards, "find", lambda guards, path: find(guards, path) or countries)


def _folded_names(patch: pytest.MonkeyPatch) -> None:
    name_of = statement._StatementReader._name
    patch.setattr(
        statement._StatementReader,
        "_name",
        lambda reader, node: name_of(reader, node)._replace(quoted=False, text=name_of(reader, node).text.lower()),
    )


def _equal_alone(patch: pytest.MonkeyPatch) -> None:
    for name in ("sqlite", "duckdb", "mariadb"):
        patch.setitem(DIALECTS, name, replace(DIALECTS[name], exact_equal="{column} = {value}"))


def _first_statement(patch: pytest.MonkeyPatch) -> None:
    import sqlglot

    parse = sqlglot.parse
    patch.setattr(sqlglot, "parse", lambda *given, **options: parse(*given, **options)[:1])


def _first_of_statements(patch: pytest.MonkeyPatch) -> None:
    _first_statement(patch)
    _no_words(patch)


def _odd_characters(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(masked_sql, "_check_code", lambda *_: None)


def _no_proof(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(proof.Proof, "_check", lambda *_: None)


def _no_reading_of_branches(patch: pytest.MonkeyPatch) -> None:
    """Branches after the first are not read."""
    patch.setattr(rewriting, "combinations", lambda nodes, *, every: [next(iter(combinations(nodes, every=every)))])


def _no_branches_or_proof(patch: pytest.MonkeyPatch) -> None:
    _no_reading_of_branches(patch)
    _no_proof(patch)


_HIDDEN: Final = "with recursive t as (select * from t) select note as x from t"
_IN_VAULT: Final = "select case when ('zqx1', 2, 'zqx v2') in vault then 'zqx' else 'no' end as x"
_CAPTURE: Final = "with o as (select 3 as id, 'acme' as tenant) select note as x from items"
_CAPTURE_BY_CHOICE: Final = Attack(
    "with {{ params.r | one_of(a: c1, b: o) }} as (select 3 as id, 'acme' as tenant)"
    " select note as x from {{ params.s | one_of(b: items, a: t) }}",
    {"r": "text", "s": "text"},
    viewer={"r": "b", "s": "b"},
)
_NOTE: Final = Attack("select note as x from t")
_BRANCH: Final = Attack(
    "select note as x from {{ params.r | one_of(a: countries c, t: t) }}",
    {"r": {"type": "choice", "choices": ["a", "t"]}},
    viewer={"r": "t"},
)

MUTANTS: Final = (
    Mutant("1: its own CTE only in a union", _own_name_everywhere, "duckdb", Attack(_HIDDEN)),
    Mutant("1: its own CTE only in a union", _own_name_everywhere, "clickhouse", Attack(_HIDDEN)),
    Mutant(
        "1: its own CTE only in the right arm of a union",
        _own_name_in_each_arm,
        "duckdb",
        Attack(
            "with recursive t as (select note from t union all select note from t where 1 = 0) select note as x from t"
        ),
    ),
    Mutant(
        "1: its own CTE in no union by name",
        _own_name_by_name,
        "duckdb",
        Attack("with recursive t as (select 'k' as x union all by name select note as x from t) select x from t"),
    ),
    Mutant("2: a CTE is a query", _values_are_ctes, "clickhouse", Attack("with 1 as t select note as x from t")),
    Mutant(
        "3: MariaDB's inner with",
        _nested_with,
        "mariadb",
        Attack("with t as (select 'k' as note) select x from (with b as (select note as x from t) select x from b) s"),
    ),
    Mutant(
        "a with after union",
        lambda patch: patch.setattr(grammar, "is_right_arm", lambda _: False),
        "clickhouse",
        Attack(
            "select 'k' as x union all with t as (select 'j' as note) select note from t union all select note from t"
        ),
    ),
    Mutant(
        "a with in brackets after union",
        lambda patch: patch.setattr(grammar, "is_arm", lambda _: False),
        "clickhouse",
        Attack("with t as (select 'j' as note) select note from t union all (with u as (select 1) select note from t)"),
    ),
    Mutant("4: a word after from is a name", _no_words, "duckdb", Attack("select t.note as x from values t")),
    Mutant("4: a word after from is a name", _no_words, "postgresql", Attack("select t.note as x from values t")),
    Mutant(
        "no lambda with a name",
        _named_lambdas,
        "clickhouse",
        Attack("with ((a, b) -> 1) as equals select note as x from t"),
    ),
    *(
        Mutant("5: a CTE may not capture a condition", patch, engine, attack, outcome)
        for engine in ("sqlite", "duckdb", "postgresql", "mariadb", "clickhouse")
        for patch, attack, outcome in (
            (_ctes_may_capture, Attack(_CAPTURE), Outcome.REFUSED),
            (_no_names_in_the_proof, Attack(_CAPTURE), Outcome.REFUSED),
            (_ctes_may_capture_in_the_proof_too, Attack(_CAPTURE), Outcome.LEAKED),
            (_no_names_in_the_proof, _CAPTURE_BY_CHOICE, Outcome.LEAKED),
        )
    ),
    *(
        Mutant("4: a word that is a name does not end from", _words_end_from, engine, Attack(text), outcome)
        for engine, text, outcome in (
            ("duckdb", "select v.note as x from countries format, values v", Outcome.LEAKED),
            ("duckdb", "select h.bin as x from countries format, histogram(o, note) h", Outcome.REFUSED),
            (
                "postgresql",
                "select v.note as x from (select 1 as settings) s join countries c on settings = 1, values v",
                Outcome.LEAKED,
            ),
        )
    ),
    Mutant(
        "4: nor for functions",
        _words_end_from_of_functions,
        "duckdb",
        Attack("select h.bin as x from countries format, histogram(o, note) h"),
    ),
    Mutant("6: a name after in", _without(exp.In), "sqlite", Attack(_IN_VAULT)),
    Mutant("6: a name after in", _without(exp.In), "clickhouse", Attack(_IN_VAULT.replace("vault", "(vault)"))),
    *(
        Mutant("names that are not listed", _every_name_is_shared, engine, Attack("select note as x from vault"))
        for engine in ("sqlite", "duckdb", "postgresql", "mariadb", "clickhouse")
    ),
    Mutant("information_schema", _every_name_is_shared, "duckdb", Attack("select * from information_schema.tables")),
    Mutant("case", _folded_names, "postgresql", Attack("with \"T\" as (select 'k' as n) select note as x from t")),
    Mutant("case", _folded_names, "clickhouse", Attack("with T as (select 1 as n) select note as x from t")),
    Mutant("unknown functions: macros", _no_calls, "duckdb", Attack("select note as x from all_t()")),
    Mutant("unknown functions: query", _no_calls, "duckdb", Attack("select note as x from query_table('t')")),
    Mutant("unknown functions: user functions", _no_calls, "postgresql", Attack("select top_note() as x")),
    Mutant("unknown functions: without brackets", _no_attributes, "postgresql", Attack("select (null::t).label as x")),
    Mutant(
        "unknown functions: a text that is run, without brackets",
        _no_attributes,
        "postgresql",
        Attack("select ('select to_tsvector(note) from vault'::text).btrim.ts_stat::text as x"),
    ),
    Mutant(
        "unknown functions: without brackets, of a function's alias",
        lambda patch: patch.setattr(WordCheck, "_value_of_call", lambda *_: None),
        "postgresql",
        Attack("select f.ts_stat::text as x from unnest(array['select to_tsvector(note) from vault']) f"),
    ),
    Mutant("unknown functions: user functions", _no_calls, "mariadb", Attack("select top_note() as x")),
    Mutant("unknown functions: dictGet", _no_calls, "clickhouse", Attack("select dictGet('d_t', 'note', toUInt64(4))")),
    Mutant("unknown functions: joinGet", _no_calls, "clickhouse", Attack("select joinGet('j_t', 'note', toInt64(4))")),
    Mutant("unknown functions: merge", _no_calls, "clickhouse", Attack("select note from merge('default', 'vault')")),
    Mutant("exactness", _equal_alone, "mariadb", _NOTE),
    Mutant("a branch of one_of", _no_reading_of_branches, "duckdb", _BRANCH, Outcome.REFUSED),
    Mutant("a branch of one_of, and the proof", _no_branches_or_proof, "duckdb", _BRANCH),
    Mutant("one statement", _first_statement, "duckdb", Attack("select 1; select note from t"), Outcome.REFUSED),
    Mutant("one statement, and the words", _first_of_statements, "duckdb", Attack("select 1; select note from t")),
    Mutant("only queries: table", _no_words, "postgresql", Attack("table t"), Outcome.REFUSED),
    Mutant("only queries: summarize", _anything_is_a_query, "duckdb", Attack("summarize t"), Outcome.REFUSED),
    Mutant("only queries: describe", _anything_is_a_query, "clickhouse", Attack("describe vault"), Outcome.REFUSED),
    Mutant(
        "only queries: delete in a with",
        _anything_is_a_query,
        "postgresql",
        Attack("with d as (delete from t returning note) select note as x from d"),
        Outcome.REFUSED,
    ),
    Mutant("final", _every_node, "clickhouse", Attack("select note from t final"), Outcome.ENGINE_REFUSED),
    Mutant("sample", _every_node, "clickhouse", Attack("select note from t sample 1"), Outcome.ENGINE_REFUSED),
    Mutant("prewhere", _every_node, "clickhouse", Attack("select note from t prewhere 1"), Outcome.ENGINE_REFUSED),
    Mutant(
        "pivot",
        _every_node,
        "duckdb",
        Attack("select eu from t pivot (max(note) for region in ('eu'))"),
        Outcome.HELD,
    ),
    Mutant("a text in from", _no_words, "duckdb", Attack("select note from 't'"), Outcome.REFUSED),
    Mutant("rows from", _no_words, "postgresql", Attack("select note from rows from (all_t()) as a"), Outcome.REFUSED),
    Mutant("t *", _no_words, "postgresql", Attack("select note from t *"), Outcome.REFUSED),
    Mutant("rowid", _without(exp.Column), "sqlite", Attack("select rowid from t"), Outcome.HELD),
    Mutant("odd characters", _odd_characters, "duckdb", Attack("select note as x from\u00a0t"), Outcome.HELD),
    Mutant("the proof", _no_proof, "duckdb", _NOTE, Outcome.HELD),
)
