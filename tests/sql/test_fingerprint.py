"""Fingerprints of bound queries: what may share a cached result, and what never does."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from itertools import combinations
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenantry.groups import freeze
from tenantry.sql import DIALECTS, PARAMSTYLES, BoundSQL, SQLTemplate

WHO = {"source": "ds_1", "revision": "r1", "group": "acme"}
INSTANT = datetime(2026, 3, 1, 12, tzinfo=UTC)

# No two of them are one value to every driver, although many of them are equal or hash alike in Python.
DISTINCT: list[Any] = [
    None,
    True,
    1,
    1.0,
    Decimal(1),
    Decimal("1.0"),
    "1",
    b"1",
    "True",
    "None",
    "",
    0.0,
    -0.0,
    False,
    date(2026, 3, 1),
    "2026-03-01",
    datetime(2026, 3, 1),  # noqa: DTZ001  # one without a zone is meant
    datetime(2026, 3, 1, 12),  # noqa: DTZ001
    INSTANT,
    INSTANT.astimezone(timezone(timedelta(hours=1))),
    INSTANT.astimezone(ZoneInfo("Europe/Paris")),
    INSTANT.astimezone(ZoneInfo("Europe/Berlin")),
    time(12),
    time(12, tzinfo=UTC),
    timedelta(seconds=1),
    timedelta(days=1),
    timedelta(hours=24, seconds=1),
    UUID(int=1),
    str(UUID(int=1)),
    ["1"],
    [1],
    [1, 1],
    [[1], 1],
    (1,),
    {"a": 1},
    {"a": True},
    ["a", 1],
]


def bound(*params: Any, reads_group: bool = False) -> BoundSQL:
    return BoundSQL("select ?", params, "qmark", "sqlite", reads_group)


def test_a_fingerprint_shows_no_value_and_is_the_same_in_every_process() -> None:
    """It may be a key in a shared cache, so it is a digest without the salt of ``hash``. A change of this text voids
    every cache: red when anything is added to what is hashed."""
    given = bound("k3y-c4n4ry").fingerprint(**WHO)
    assert re.fullmatch("[0-9a-f]{64}", given)
    assert given == "00f4f5af48d0d156f0939ee78336dc5212797f38ed1793bb791a78bb61f359a4"


def test_values_of_two_types_or_zones_never_share() -> None:
    """1, 1.0, True, '1' and Decimal('1'); 12:00 in Paris and in Berlin. Red when ``str`` or ``==`` decides."""
    for one, other in combinations(DISTINCT, 2):
        assert bound(one).fingerprint(**WHO) != bound(other).fingerprint(**WHO), (one, other)


def test_values_do_not_run_together() -> None:
    """Where one ends is a part of what is hashed. Red when the length was left out."""
    pairs = [("ab", "c"), ("a", "bc"), ("abc", ""), ("", "abc"), ("abc",), ("a", "b", "c"), ("1:a", "s0:")]
    assert len({bound(*params).fingerprint(**WHO) for params in pairs}) == len(pairs)


@pytest.mark.parametrize(
    "other",
    [
        bound(1)._replace(sql="select  ?"),
        bound(1)._replace(dialect="duckdb"),
        bound(1)._replace(paramstyle="format"),
        bound(2),
    ],
)
def test_text_dialect_and_parameters_count(other: BoundSQL) -> None:
    """Each by itself. Red when it is left out of the digest."""
    assert other.fingerprint(**WHO) != bound(1).fingerprint(**WHO)


@pytest.mark.parametrize("name", ["source", "revision"])
@pytest.mark.parametrize("reads_group", [True, False])
def test_source_and_revision_always_count(name: str, reads_group: bool) -> None:
    """Two sources, and one source before and after a change, never share. Red when either was left out."""
    query = bound(1, reads_group=reads_group)
    assert query.fingerprint(**WHO) != query.fingerprint(**{**WHO, name: "another"})


@pytest.mark.parametrize("paramstyle", PARAMSTYLES)
@pytest.mark.parametrize(
    ("text", "optional", "shared"),
    [
        ("select 1", set(), True),
        ("select * from t [[ where a = {{ params.a }} ]]", set(), True),
        ("select * from t where a in {{ params.list }}", set(), True),
        ("select * from t where a = {{ region }}", set(), False),
        ("select * from t where a = '{{ region }}-x'", set(), False),
        ("select * from t where a in {{ regions }}", set(), False),
        ("select * from t where a = {{ user_group.id }} [[ and b = {{ params.a }} ]]", set(), False),
        ("select * from t [[ where a = {{ discount }} ]]", {"discount"}, False),
        ("select * from t [[ where a = {{ params.a }} * {{ rate | not_a_filter }} ]]", set(), False),
    ],
)
def test_groups_share_only_what_reads_nothing_of_a_group(
    text: str, optional: set[str], shared: bool, paramstyle: str
) -> None:
    """Two groups with the same values: a template that reads any of theirs has a fingerprint for each. Red when an
    optional or marked property was taken for the viewer's; also with a subclass of ``str``."""

    class Text(str):
        __slots__ = ()

    for word in ("eu", Text("eu")):
        variables = {
            "region": word,
            "regions": [word],
            "discount": word,
            "rate": 2,
            "user_group": {"id": word},
            "params": {"a": word, "list": [word]},
        }
        query = SQLTemplate(text, optional=optional).bind(variables, paramstyle)
        assert query.reads_group is not shared
        acme, globex = (query.fingerprint(**{**WHO, "group": group}) for group in ("acme", "globex"))
        assert (acme == globex) is shared


@pytest.mark.parametrize(
    ("text", "declared", "shared"),
    [
        ("select {{ params.a | one_of(eu: id, us: name) }} from t", {}, True),
        ("select id from t order by {{ region | one_of(eu: id, us: name) }}", {}, False),
        (
            "select {{ params.a | one_of(eu: {{ rate | not_a_filter }}, us: {{ rate | not_a_filter }}) }} as x from t",
            {},
            False,
        ),
        ("select * from t where a = {{ params.a }}", {"a": "text"}, True),
        ("select * from t where a = {{ params.a }}", {"a": {"type": "text", "default": "x"}}, True),
        ("select * from t where a = {{ params.a }}", {"a": {"type": "text", "default": {"property": "region"}}}, False),
        (
            "select * from t where a = {{ params.b }}",
            {"b": {"type": "text", "locked": True, "default": {"property": "region"}}},
            False,
        ),
    ],
)
def test_choices_and_defaults_that_are_the_groups_count_as_read(
    text: str, declared: dict[str, Any], shared: bool
) -> None:
    """A property chooses a text, is in a choice, or is what a parameter is without a value: then the
    query is one group's, also where the viewer gave a value. Red when a template's own tags were all that counts."""
    variables = {"region": "eu", "rate": 2, "params": {"a": "eu"}}
    query = SQLTemplate(text, params=declared).bind(variables)
    assert query.reads_group is not shared
    acme, globex = (query.fingerprint(**{**WHO, "group": group}) for group in ("acme", "globex"))
    assert (acme == globex) is shared


# For each conversion: values of which no two are one value to an engine. Many of them are equal in Python.
WHOLE: dict[str, list[Any]] = {
    "array": [
        *([], [1], [True], [1.0], [Decimal(1)], [Decimal("1.0")], ["1"], ["true"], [b"1"], [UUID(int=1)], [""]),
        *([str(UUID(int=1))], [INSTANT], [INSTANT.astimezone(timezone(timedelta(hours=1)))], [INSTANT.isoformat()]),
        *([1, 1], [1, True], [True, 1], [1, 2], [2, 1], [12], ["1", "2"], ["12"], ["1,2"], ["12", ""], [0.0], [-0.0]),
    ],
    "json": [
        *([], [[]], [[], []], [[[]]], {}, [{}], [None], [[None]], [0], [0.0], [-0.0], [False], [""], ["null"]),
        *([1], [True], [1.0], ["1"], [[1]], [1, 1], [[1, 1]], [[1], 1], [1, [1]], [[1], [1]], "[1]", ["[1]"]),
        *({"a": 1}, {"a": True}, {"a": 1.0}, {"a": "1"}, {"a": [1]}, {"a": {"a": 1}}, [{"a": 1}], ["a", 1]),
        *({"a": None}, {"a": {}}, {"a": []}, {"a": "b"}, {"a": {"b": 1}}, {"a": 1, "b": 1}, {"a": '1,"b":1'}),
        *('{"a":1}', {'{"a"': "1}"}, [["a", 1]], {"1": 1}, {"": 1}, {"true": 1}),
    ],
}
WITH_ARRAYS = [name for name, dialect in DIALECTS.items() if dialect.array_parameter]


@pytest.mark.parametrize(
    ("conversion", "dialect"), [*(("array", name) for name in WITH_ARRAYS), *(("json", name) for name in DIALECTS)]
)
def test_lists_and_objects_that_are_bound_whole_are_typed(conversion: str, dialect: str) -> None:
    """Two of them share a fingerprint only if they are the same value, by type and by nesting, whatever the class of
    the collection that they came in. Red when the digest wrote a boolean as an integer, and when JSON was made of the
    texts of its scalars."""
    template = SQLTemplate(f"select * from t where a = {{{{ params.x | {conversion} }}}}", dialect)

    def fingerprint(value: Any) -> str:
        return template.bind({"params": {"x": value}}).fingerprint(**WHO)

    values = WHOLE[conversion]
    prints = {fingerprint(value): value for value in values}
    assert len(prints) == len(values)
    for value in values:
        assert fingerprint(copy.deepcopy(value)) == fingerprint(freeze(value))
        assert prints[fingerprint(freeze(value))] is value
        if isinstance(value, list):
            assert fingerprint(tuple(value)) == fingerprint(value)


def test_what_the_session_reads_counts_as_read() -> None:
    """Row-level security chooses the rows by the session, so a query that reads nothing of a group is one group's all
    the same, and the session's values count. Red when ``session`` was left out of either."""
    query = bound(1)
    acme, other = (bound(tenant, reads_group=True) for tenant in ("acme", "other"))
    shared = query.fingerprint(**WHO)
    owned = query.fingerprint(**WHO, session=acme)
    assert shared == query.fingerprint(**{**WHO, "group": "globex"})
    assert len({shared, owned, query.fingerprint(**{**WHO, "group": "globex"}, session=acme)}) == 3
    assert owned != query.fingerprint(**WHO, session=other)


@pytest.mark.parametrize("name", ["source", "group"])
def test_who_asks_and_what_is_asked_are_always_given(name: str) -> None:
    """An empty id would make one key of many. Red without the check."""
    with pytest.raises(ValueError, match="needs the id"):
        bound(1).fingerprint(**{**WHO, name: ""})


def test_a_value_of_an_unknown_type_has_no_fingerprint() -> None:
    """Its text could be that of another value. Red when ``repr`` stands in for it."""
    with pytest.raises(TypeError, match="type object has no fingerprint") as caught:
        bound(object()).fingerprint(**WHO)
    assert "0x" not in str(caught.value)


def test_a_bound_query_made_by_hand_is_never_shared() -> None:
    """Whoever does not say what it reads gets the careful answer."""
    assert BoundSQL("select 1", (), "qmark", "sqlite").reads_group


ZONES = st.sampled_from([None, UTC, timezone(timedelta(hours=1)), ZoneInfo("Europe/Paris"), ZoneInfo("Europe/Berlin")])
VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-2, 2),
        st.sampled_from([0.0, -0.0, 1.0, 2.0]),
        st.sampled_from([Decimal(1), Decimal("1.0"), Decimal(2)]),
        st.sampled_from(["", "0", "1", "True", "None", "a", "ab", "2026-03-01"]),
        st.sampled_from([b"", b"1", b"a"]),
        st.just(date(2026, 3, 1)),
        ZONES.map(lambda zone: datetime(2026, 3, 1, 12, tzinfo=zone)),
    ),
    lambda inner: st.lists(inner, max_size=2),
    max_leaves=3,
)
SIDES = st.tuples(
    st.builds(
        BoundSQL,
        st.sampled_from(["select ?", "select  ?"]),
        st.lists(VALUES, max_size=2).map(tuple),
        st.just("qmark"),
        st.sampled_from(["sqlite", "duckdb"]),
        st.booleans(),
    ),
    st.fixed_dictionaries(
        {name: st.sampled_from(["a", "b"]) for name in ("source", "revision", "group")},
    ),
    st.one_of(st.none(), st.lists(VALUES, max_size=1).map(lambda values: bound(*values, reads_group=True))),
)


def identity(query: BoundSQL, who: dict[str, str], session: BoundSQL | None) -> str:
    """All that the rule names, spelled so that only equal things are spelled alike: ``repr`` shows types and zones."""
    owner = who["group"] if query.reads_group or session is not None else None
    return repr((query.sql, query.params, query.dialect, who["source"], who["revision"], owner, tuple(session or ())))


def holds(fingerprint: Callable[..., str], one: Any, other: Any) -> bool:
    """The rule for two queries: equal fingerprints if and only if all that it names is equal."""
    prints = [fingerprint(query, **who, session=session) for query, who, session in (one, other)]
    return (prints[0] == prints[1]) == (identity(*one) == identity(*other))


@given(SIDES, SIDES, st.booleans())
def test_equal_fingerprints_mean_the_same_query_source_and_group(one: Any, other: Any, related: bool) -> None:
    """The rule of the whole module, both ways. The second is often the first with one part changed, since two at random
    would rarely be alike. Red when any part is left out of the digest, and when the group always counts."""
    if related:
        other = (one[0]._replace(reads_group=other[0].reads_group), {**one[1], "group": other[1]["group"]}, one[2])
    assert holds(BoundSQL.fingerprint, one, other)
