"""Values: what may be bound, and errors that name the path and never show the value."""

from __future__ import annotations

import math
from collections import ChainMap, OrderedDict
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import IntEnum, StrEnum
from types import MappingProxyType
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.hypothesis_profile import examples
from tenantry.errors import MissingVariable, TenantryError, UnbindableValue
from tenantry.groups import Record, RecordList
from tenantry.sql import DIALECTS, SQLTemplate
from tenantry.sql.binding.bindable_values import all_bindable
from tenantry.sql.binding.paramstyles import PARAMSTYLES
from tenantry.sql.parsing.parser import parse
from tenantry.sql.source import Source
from tests.sql.interpreter import Interpreter

VALUE = SQLTemplate("select {{ g.x }} as v", "sqlite")
TEXT = SQLTemplate("select '{{ g.x }}' as v", "sqlite")
LIST = SQLTemplate("select a in {{ g.x }}", "sqlite")
LIMIT = SQLTemplate("select 1 limit {{ g.x }} offset {{ g.x }}", "sqlite")
WIDE = SQLTemplate(
    "select {{ a }} as v, {{ b }} as v, {{ c }} as v, {{ d }} as v, {{ e }} as v, {{ g.x }} as v", "sqlite"
)
BESIDE = dict.fromkeys("abcde", 1)
RUN = SQLTemplate("select {{ g.a }} as v, {{ g.b }} as v, {{ g.c }} as v, {{ g.d }} as v, {{ g.x }} as v", "sqlite")
CLAUSE = SQLTemplate("select 1 [[ where a = {{ g.x }} ]]", "sqlite", optional={"g.x"})


class Colour(StrEnum):
    RED = "red"


class Number(IntEnum):
    ONE = 1


class Loud(str):
    """A str whose methods lie."""

    __slots__ = ()

    def __str__(self) -> str:
        return "1 or 1 = 1"

    def isprintable(self) -> bool:
        return True


GOOD: list[tuple[Any, str | None]] = [
    ("eu", "eu"),
    ("", ""),
    ("line\nbreak\t\u2028 é \U0001f600", "line\nbreak\t\u2028 é \U0001f600"),
    (0, "0"),
    (-(2**63), "-9223372036854775808"),
    (2**63 - 1, "9223372036854775807"),
    (1.5, "1.5"),
    (True, "true"),
    (False, "false"),
    (Decimal("1E+2"), "100"),
    (date(2024, 2, 29), "2024-02-29"),
    (datetime(2024, 2, 29, 1, 2, 3, tzinfo=UTC), "2024-02-29T01:02:03+00:00"),
    (time(1, 2), "01:02:00"),
    (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    (timedelta(1), None),
    (b"\0\xff", None),
]


@pytest.mark.parametrize(("value", "text"), GOOD)
def test_scalars_are_bound_as_they_are(value: Any, text: str | None) -> None:
    """The same object, or its text inside quotes; alone, among others and in a list."""
    assert VALUE.bind({"g": {"x": value}}).params == (value,)
    assert type(VALUE.bind({"g": {"x": value}}).params[0]) is type(value)  # type: ignore[index]  # a tuple here
    assert WIDE.bind({**BESIDE, "g": {"x": value}}).params == (1, 1, 1, 1, 1, value)
    assert RUN.bind({"g": {**BESIDE, "x": value}}).params == (1, 1, 1, 1, value)
    assert CLAUSE.bind({"g": {"x": value}}).params == (value,)
    assert LIST.bind({"g": {"x": [value, value]}}).params == (value, value)
    if text is None:
        with pytest.raises(UnbindableValue, match=r"^g.x at 1:9: a value of type \w+ cannot be in a string"):
            TEXT.bind({"g": {"x": value}})
    else:
        assert TEXT.bind({"g": {"x": value}}).params == (text,)


@pytest.mark.parametrize("value", [value for value, _ in GOOD])
@pytest.mark.parametrize("count", [1, 3, 9])
def test_what_can_be_bound_at_once_can_be_bound_one_by_one(value: Any, count: int) -> None:
    """``all_bindable`` may doubt a good value and never takes a bad one. Red when it skips a check."""
    assert all_bindable([1] * count)
    assert all_bindable(["x", 2.5] * count)
    for bad in ("\0", "\ud800", 2**64, float("nan"), Decimal("inf"), None, [], Loud("x")):
        assert not all_bindable([*[value] * count, bad])


@pytest.mark.parametrize("kind", [MappingProxyType, ChainMap, OrderedDict, Record])
def test_any_mapping_holds_variables(kind: Any) -> None:
    """At the top and within. Red when a path is read of dicts and Records alone."""
    for template in (VALUE, WIDE, RUN, CLAUSE):
        variables = kind({**BESIDE, "g": kind({**BESIDE, "x": "v"})})
        assert template.bind(variables).params == template.bind({**BESIDE, "g": {**BESIDE, "x": "v"}}).params
    assert CLAUSE.bind(kind({"g": None})).params == CLAUSE.bind(kind({})).params == ()


@pytest.mark.parametrize("value", [Colour.RED, Loud("red")])
def test_subclasses_of_str_become_str(value: str) -> None:
    """By the characters that they hold, and not by a method of theirs. Red when `str.__str__` becomes `str`."""
    for template in (VALUE, TEXT):
        (bound,) = template.bind({"g": {"x": value}}).params or ()
        assert (type(bound), bound) == (str, "red")
    bound = LIST.bind({"g": {"x": ["a", value]}}).params
    assert [type(item) for item in bound or ()] == [str, str]


class Sneaky:
    """Anything by attribute, nothing by item."""

    def __getattr__(self, name: str) -> str:
        return "secret"


BAD: list[tuple[Any, str]] = [
    ({"secret": 1}, "an object cannot be bound: name one of its values"),
    (Record({"secret": 1}), "an object cannot be bound: name one of its values"),
    (
        ["secret"],
        "a list cannot be bound here: write `in` or `not in` before it; or, where the engine has arrays",
    ),
    (
        RecordList(["secret"]),
        "a list cannot be bound here: write `in` or `not in` before it; or, where the engine has arrays",
    ),
    ({"secret"}, "a value of type set cannot be bound"),
    (object(), "a value of type object cannot be bound"),
    (Sneaky(), "a value of type Sneaky cannot be bound"),
    (Number.ONE, "a value of type Number cannot be bound"),
    (2**63, "beyond 64 bits"),
    (-(2**63) - 1, "beyond 64 bits"),
    (10**400, "beyond 64 bits"),
    (math.nan, "not-a-number"),
    (math.inf, "infinity"),
    (Decimal("NaN"), "not-a-number"),
    (Decimal("sNaN"), "not-a-number"),
    (Decimal("-Infinity"), "infinity"),
    ("secret\0", "a NUL"),
    ("secret\ud800", "a lone surrogate"),
    (Loud("secret\0"), "a NUL"),
    (1j, "type complex"),
    (iter("secret"), "cannot be bound"),
    (bytearray(b"secret"), "type bytearray"),
]


@pytest.mark.parametrize(("value", "problem"), BAD)
def test_what_cannot_be_bound_is_refused_with_its_path(value: Any, problem: str) -> None:
    """In every position, and no message shows the value. Red when `check_scalar` or `all_bindable` takes a type."""
    lists: list[Any] = [["a", value], [value], [1, value], [1.5, value, True], (value, value)]
    cases = [*((t, value) for t in (VALUE, TEXT, WIDE, RUN, CLAUSE)), *((LIST, items) for items in lists)]
    for template, given_value in cases:
        with pytest.raises(UnbindableValue) as caught:
            template.bind({**BESIDE, "g": {**BESIDE, "x": given_value}})
        assert problem in caught.value.message
        assert caught.value.name == "g.x"
        assert caught.value.message.startswith("g.x at 1:")
        assert "secret" not in caught.value.message


@pytest.mark.parametrize("value", ["abc", "", 1, {"a": 1}, {"a"}, Record({}), b"ab", iter([1]), range(3)])
def test_only_a_list_stands_after_in(value: Any) -> None:
    """A str is never taken apart into letters, a set has no order."""
    with pytest.raises(UnbindableValue, match="`in` takes a list, not ") as caught:
        LIST.bind({"g": {"x": value}})
    assert caught.value.name == "g.x"


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("select 1 limit {{ params.x }}", "declare it: `params: {x: integer}`"),
        ("select 1 where a in {{ params.x }}", "declare it: `params: {x: list of text}`"),
    ],
)
def test_a_text_of_a_viewer_is_to_be_declared(text: str, fix: str) -> None:
    """What a viewer sends is text, and only a declared parameter is converted. Red when the error does not say so; a
    property of the group cannot be declared."""
    for sent in ("10", ""):
        with pytest.raises(UnbindableValue) as caught:
            SQLTemplate(text).bind({"params": {"x": sent}})
        assert caught.value.message.endswith(fix)
    for other, value in (("g.x", "10"), ("params.x", -1.5), ("params.x.y", "a")):
        name, _, part = other.partition(".")
        given_value = {part: value} if part != "x.y" else {"x": {"y": value}}
        with pytest.raises(UnbindableValue) as caught:
            SQLTemplate(text.replace("params.x", other)).bind({name: given_value})
        assert "declare" not in caught.value.message


def test_null_in_a_list_is_refused() -> None:
    """`not in ('a', NULL)` gives no row at all."""
    with pytest.raises(UnbindableValue, match=r"^g\.x at 1:13: item 1 of the list: NULL in a list matches nothing"):
        LIST.bind({"g": {"x": ["a", None]}})


def test_lists_of_lists_are_refused() -> None:
    """Only scalars are items."""
    with pytest.raises(UnbindableValue, match="item 0 of the list: a list cannot be bound"):
        LIST.bind({"g": {"x": [["a"]]}})


@pytest.mark.parametrize("value", [(1, "a"), [1, "a"], RecordList([1, "a"])])
def test_lists_tuples_and_record_lists_are_lists(value: Any) -> None:
    """And their items need not be of one type."""
    assert LIST.bind({"g": {"x": value}}).params == (1, "a")


def test_a_statement_has_a_bounded_number_of_parameters() -> None:
    """One more than 32,766 is refused with the list's path, before any text is made."""
    assert len(LIST.bind({"g": {"x": [1] * 32_766}}).params or ()) == 32_766
    with pytest.raises(UnbindableValue, match="at most 32766 parameters"):
        LIST.bind({"g": {"x": [1] * 32_767}})
    after = SQLTemplate("select a in {{ y }} or b in {{ x }} or c = {{ z }}", "sqlite")
    with pytest.raises(UnbindableValue, match=r"^x: .* at most 32766 parameters"):
        after.bind({"x": [1] * 32_765, "y": [1], "z": 1})


@pytest.mark.parametrize(
    ("value", "what"), [("1", "type str"), (1.0, "type float"), (True, "type bool"), (-1, "a negative number")]
)
def test_limit_and_offset_take_a_whole_number(value: Any, what: str) -> None:
    """asyncpg refuses a str there; no limit is never what was meant."""
    with pytest.raises(UnbindableValue, match=f"must be whole numbers, 0 or greater, not a.*{what}|{what}"):
        LIMIT.bind({"g": {"x": value}})
    assert LIMIT.bind({"g": {"x": 0}}).params == (0, 0)


def test_none_is_missing() -> None:
    """`= NULL` gives no row and no error, so None is refused in every position."""
    for template in (VALUE, TEXT, LIST, LIMIT):
        with pytest.raises(MissingVariable) as caught:
            template.bind({"g": {"x": None}})
        assert caught.value.names == ("g.x",)


@pytest.mark.parametrize("further", ["", " [[ and c = {{ params.c }} ]]"])
def test_none_is_missing_for_json_too(further: str) -> None:
    """JSON has a null, and yet a property that is null is no value. Red when a conversion sees None: the condition
    then compares with `null`."""
    for path in ("g.x", "params.x"):
        template = SQLTemplate(f"select 1 where a @> {{{{ {path} | json }}}}{further}", "postgresql")
        with pytest.raises(MissingVariable) as caught:
            template.bind({"g": {"x": None}, "params": {"x": None}})
        assert caught.value.names == (path,)


def test_attributes_are_never_read() -> None:
    """An object that answers to every attribute holds no variable."""
    with pytest.raises(MissingVariable):
        VALUE.bind({"g": Sneaky()})


scalars = st.one_of(
    st.none(),
    st.text(max_size=8),
    st.text(alphabet=st.characters(codec=None), max_size=4),
    st.integers(-(2**65), 2**65),
    st.floats(),
    st.booleans(),
    st.decimals(),
    st.dates(),
    st.binary(max_size=4),
    st.just(Colour.RED),
    st.just({}),
)
EVERY = (
    "select {{ a }} as v, '{{ b }}'w, '%{{ c }}-{{ a }}%' where d in {{ d }} [[ and e = {{ params.e }} [[ and f not in "
    "({{ params.f }}) ]] ]] [[ and g = '{{ params.g }}' and f in {{ params.f }} ]] limit {{ n }}"
)
FEW = "select {{ a }} as v, '{{ b }}' as w limit {{ n }}"


GOOD_ENOUGH = st.one_of(st.text(alphabet="a'%é\n", max_size=3), st.integers(0, 3))
MOSTLY = st.one_of(GOOD_ENOUGH, GOOD_ENOUGH, GOOD_ENOUGH, scalars)  # so that most examples get past the first check
LISTS = st.one_of(
    st.lists(GOOD_ENOUGH, max_size=4), st.lists(GOOD_ENOUGH, max_size=2), st.lists(scalars, max_size=3), scalars
)


@given(
    variables=st.fixed_dictionaries(
        {"a": MOSTLY, "b": MOSTLY, "c": MOSTLY, "d": LISTS, "n": st.one_of(st.integers(0, 3), MOSTLY)},
        optional={"params": st.fixed_dictionaries({}, optional={"e": MOSTLY, "f": LISTS, "g": MOSTLY})},
    ),
    text=st.sampled_from([EVERY, FEW]),
    paramstyle=st.sampled_from(["qmark", "pyformat", "numeric_dollar"]),
)
@settings(max_examples=examples(600), deadline=None)
def test_the_closures_mean_what_the_interpreter_means(variables: dict[str, Any], text: str, paramstyle: str) -> None:
    """Same text and parameters, or the same error. Red when a step is left out or a clause's key is wrong."""
    template, dialect = _TEMPLATES[text], DIALECTS["sqlite"]
    source = Source(text)
    interpreter = Interpreter(source, parse(source, dialect), dialect, PARAMSTYLES[paramstyle], template.tenant_guard)

    def bind(given: Any) -> Any:
        return template.bind(given, paramstyle)

    assert _outcome(bind, variables) == _outcome(interpreter.bind, variables)
    assert _outcome(bind, Record(variables)) == _outcome(interpreter.bind, Record(variables))


_TEMPLATES = {text: SQLTemplate(text, "sqlite") for text in (EVERY, FEW)}


def _outcome(bind: Any, variables: Any) -> tuple[Any, ...]:
    try:
        bound = bind(variables)
    except TenantryError as error:
        return type(error), error.message
    params = bound.params.values() if isinstance(bound.params, dict) else bound.params
    return bound.sql, [(type(value), value) for value in params]
