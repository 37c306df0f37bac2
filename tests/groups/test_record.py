"""Record and RecordList: immutable JSON with items only."""

from __future__ import annotations

import copy
import json
import pickle
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from tenantry.errors import MissingVariable
from tenantry.groups import Record, RecordList, adopt, extend, freeze, thaw

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
PUBLIC_NAMES_OF_DICT = [name for name in dir(dict) + dir(list) if not name.startswith("_")]


@given(JSON_VALUES)
def test_thaw_undoes_freeze(value: Any) -> None:
    """What went in as plain JSON comes out as the same plain JSON, types included."""
    assert repr(thaw(freeze(value))) == repr(value)


def test_a_record_is_cut_off_from_what_it_was_made_of() -> None:
    """Red when Record keeps the nested dict or list that it is given: a later change would reach every cached group."""
    inner: dict[str, Any] = {"list": [1, {"deep": 2}]}
    record = Record({"inner": inner})
    inner["list"][1]["deep"] = 99
    inner["list"].append(3)
    assert thaw(record) == {"inner": {"list": [1, {"deep": 2}]}}


@given(JSON_VALUES)
def test_adopt_gives_what_freeze_gives(value: Any) -> None:
    """Of a document that nobody else holds, however deep. Red when a dict or a list within stays what it is."""
    adopted = adopt(json.loads(json.dumps(value)))
    assert _kinds(adopted) == _kinds(freeze(value))
    assert repr(thaw(adopted)) == repr(value)


def _kinds(value: Any) -> Any:
    """The types of a value and of all that is in it."""
    if isinstance(value, Record):
        return [Record, {name: _kinds(value[name]) for name in value}]
    return [RecordList, *map(_kinds, value)] if isinstance(value, RecordList) else type(value)


def test_a_copy_that_thaw_made_changes_nothing() -> None:
    """``thaw`` gives new dicts and lists each time."""
    record = Record({"list": [1]})
    thaw(record)["list"].append(2)
    assert thaw(record) == {"list": [1]}


@pytest.mark.parametrize("value", [Record({"a": 1}), RecordList([1])], ids=["record", "list"])
def test_nothing_can_be_set_or_deleted(value: Any) -> None:
    """Red when __setattr__ is taken away: ``value._values = {}`` would then empty a cached group."""
    with pytest.raises(AttributeError, match="immutable"):
        value.anything = 1
    with pytest.raises(AttributeError, match="immutable"):
        value._values = ()
    with pytest.raises(AttributeError, match="immutable"):
        del value._values
    with pytest.raises(TypeError):
        value["a"] = 2
    with pytest.raises(TypeError):
        del value["a"]
    assert not hasattr(value, "__dict__")


@pytest.mark.parametrize("name", PUBLIC_NAMES_OF_DICT)
def test_every_method_name_of_a_dict_is_free_for_a_property(name: str) -> None:
    """Red when Record inherits from Mapping: then ``items``, ``keys`` and ``get`` are methods before they are items."""
    record = Record({name: "mine"})
    assert not hasattr(record, name)
    assert not hasattr(RecordList([]), name)
    assert record[name] == "mine"


def test_a_missing_name_is_a_key_error_and_a_missing_variable() -> None:
    """A program may catch KeyError; an error page finds the code and the name."""
    with pytest.raises(KeyError) as caught:
        Record({"a": 1})["region"]
    assert isinstance(caught.value, MissingVariable)
    assert (caught.value.code, caught.value.status, caught.value.names) == ("missing_variable", 422, ("region",))
    assert str(caught.value) == "there is no 'region' in this record"
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("value", [Record({"a": "secret"}), RecordList(["secret"])], ids=["record", "list"])
def test_a_record_is_never_text(value: Any) -> None:
    """str(), format() and an f-string raise; repr() shows no value."""
    for printed in (str, format, lambda it: f"{it}", lambda it: f"{it!s}", "%s".__mod__):
        with pytest.raises(TypeError, match="cannot be printed"):
            printed(value)
    assert "secret" not in repr(value)


def test_repr_shows_names_on_one_line() -> None:
    """A name with a line break cannot begin a line of its own in a log."""
    assert repr(Record({"region": "eu", "a\nb": 1})) == r"<Record of 'region', 'a\nb'>"
    assert repr(Record({})) == "<Record of nothing>"
    assert repr(RecordList([1, 2])) == "<RecordList of 2>"


def test_a_record_is_read_as_a_mapping_is() -> None:
    """Items, ``in``, length, iteration in order, and use as keyword arguments' source by name."""
    record = Record({"b": 1, "a": None})
    assert (record["b"], record["a"], "a" in record, "c" in record, len(record), list(record)) == (
        1,
        None,
        True,
        False,
        2,
        ["b", "a"],
    )
    assert bool(Record({})) is False


def test_a_list_is_read_as_a_list_is() -> None:
    """Index, negative index, slice (again a RecordList), ``in``, length, iteration, reversal."""
    values = RecordList([1, [2], {"a": 3}])
    assert (values[0], values[-1]["a"], len(values), 1 in values, 9 in values) == (1, 3, 3, True, False)
    assert isinstance(values[1:], RecordList)
    assert thaw(values[1:]) == [[2], {"a": 3}]
    assert [type(value) for value in values] == [int, RecordList, Record]
    assert next(reversed(values)) == {"a": 3}
    with pytest.raises(IndexError):
        values[3]


def test_equality_is_by_value() -> None:
    """A Record equals a Record or dict with equal values, a RecordList a list or tuple; nothing else."""
    assert Record({"a": [1, {"b": 2}]}) == Record({"a": [1, {"b": 2}]}) == {"a": [1, {"b": 2}]}
    assert RecordList([1, {"a": 2}]) == RecordList([1, {"a": 2}]) == [1, {"a": 2}] == RecordList((1, {"a": 2}))
    assert RecordList([1]) == (1,)
    assert Record({"a": 1}) != Record({"a": 2})
    assert Record({}) != RecordList([])
    assert Record({}) != "text"
    assert RecordList([]) != "text"


@pytest.mark.parametrize("value", [Record({}), RecordList([])])
def test_records_have_no_hash(value: Any) -> None:
    """As a dict and a list have none."""
    with pytest.raises(TypeError, match="unhashable"):
        hash(value)


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))])
def test_copies_and_pickles_are_equal_and_frozen(again: Any) -> None:
    """A record goes through a process boundary and comes back the same, nested parts included."""
    record = Record({"a": [1, {"b": None}], "keys": {"get": True}})
    twin = again(record)
    assert twin == record
    assert type(twin["a"]) is RecordList
    assert type(twin["keys"]) is Record


def test_extend_leaves_the_original_alone() -> None:
    """``extend`` gives a copy; the value is frozen; the name wins over an earlier one."""
    record = Record({"a": 1})
    assert extend(record, "params", {"q": ["x"]}) == {"a": 1, "params": {"q": ["x"]}}
    assert extend(record, "a", 2) == {"a": 2}
    assert record == {"a": 1}


def test_a_mark_of_safe_html_is_lost() -> None:
    """Red when freeze keeps subclasses of str: a Markup among the variables would go into a page unescaped."""
    record = Record({"name": Markup("<b>"), "list": [Markup("<i>")]})
    assert type(record["name"]) is str
    assert type(record["list"][0]) is str
    assert record == {"name": "<b>", "list": ["<i>"]}


def test_what_json_does_not_have_passes_through() -> None:
    """A host program may bind dates and exact numbers: freezing leaves them as they are."""
    price = Decimal("1.10")
    assert Record({"price": price})["price"] is price
