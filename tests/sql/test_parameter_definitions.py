"""Definitions of parameters: what is wrong with one names its field and what to write."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tenantry.errors import TemplateError
from tenantry.sql import Parameter, SQLTemplate, declare
from tenantry.sql.parameters.declared import InvalidDefinition, PropertyReference


@pytest.mark.parametrize(
    ("definition", "key", "problem", "fix"),
    [
        ({}, "type", "no type", "The types: text, integer"),
        ({"type": None}, "type", "no type", "The types: text, integer"),
        ("integr", "type", "no such type", "did you mean integer?"),
        ("date-range", "type", "no such type", "did you mean date range?"),
        ("list of date range", "type", "no such type", "list of any of these except ranges"),
        ("list of list of text", "type", "no such type", "The types"),
        ({"type": 5}, "type", "no such type", "The types"),
        ({"type": "text", "requird": True}, "requird", "no such field", "did you mean required?"),
        ({"type": "text", 5: True}, "5", "no such field", "The fields: type, label"),
        ({"type": "text", "min": 1}, "min", "not for the type text", "remove it"),
        ({"type": "integer", "max_length": 1}, "max_length", "not for the type integer", "text"),
        ({"type": "boolean", "choices": [True]}, "choices", "not for the type boolean", "choice"),
        ({"type": "integer", "zone": "UTC"}, "zone", "not for the type integer", "datetime"),
        ({"type": "relative range", "open": "end"}, "open", "not for the type relative range", "date range"),
        ({"type": "text", "max_items": 5}, "max_items", "not for one value", "list of text"),
        ({"type": "list of text", "max_items": 0}, "max_items", "not an allowed number", "from 1 to 32766"),
        ({"type": "list of text", "max_items": 40_000}, "max_items", "not an allowed number", "from 1 to 32766"),
        ({"type": "text", "max_length": True}, "max_length", "not an allowed number", "from 1"),
        ({"type": "integer", "min": 5, "max": 1}, "min", "greater than max", "swap"),
        ({"type": "integer", "min": "x"}, "min", "does not fit the type integer", "a whole number"),
        ({"type": "date", "max": "31.1.2026"}, "max", "does not fit the type date", "2026-01-31"),
        ({"type": "date range", "min": "this month"}, "min", "does not fit", "a date such as"),
        ({"type": "integer", "min": [1]}, "min", "does not fit", "a whole number"),
        ({"type": "integer", "default": "x"}, "default", "this default does not fit", "a whole number"),
        ({"type": "text", "default": 5}, "default", "this default does not fit", "fits: text"),
        ({"type": "text", "default": ""}, "default", "an empty string", "remove it"),
        ({"type": "integer", "max": 5, "default": 6}, "default", "this default does not fit", "a whole number up to 5"),
        ({"type": "choice", "choices": ["a"], "default": "b"}, "default", "this default does not fit", "one of a"),
        ({"type": "date range", "default": "last 3 hours"}, "default", "this default does not fit", "last 30 days"),
        (
            {"type": "date range", "default": "2026-02-01..2026-01-01"},
            "default",
            "ends before it begins",
            "last 30 days",
        ),
        (
            {"type": "list of integer", "default": [1, "x"]},
            "default",
            "this default does not fit",
            "each a whole number",
        ),
        ({"type": "text", "default": {"property": "a-b"}}, "default", "does not name a property", "{property: region}"),
        (
            {"type": "text", "default": {"property": "a", "else": 1}},
            "default",
            "does not name a property",
            "{property: region}",
        ),
        ({"type": "text", "default": "a", "required": True}, "required", "has a default", "remove one"),
        ({"type": "text", "locked": True}, "locked", "property of the group", "default: {property: region}"),
        ({"type": "text", "locked": True, "default": "a"}, "locked", "property of the group", "property"),
        ({"type": "text", "required": "yes"}, "required", "true or false", "required: true"),
        ({"type": "text", "label": 5}, "label", "must be a string", "quotes"),
        ("choice", "choices", "a choice without choices", "[eu, us]"),
        ({"type": "choice", "choices": []}, "choices", "no choices", "[eu, us]"),
        ({"type": "choice", "choices": "eu"}, "choices", "no choices", "[eu, us]"),
        ({"type": "choice", "choices": {"query": ""}}, "choices", "does not name a query", "{query: NAME}"),
        ({"type": "choice", "choices": [1, 2]}, "choices", "does not fit", "only in quotes"),
        ({"type": "choice", "choices": ["a", True]}, "choices", "does not fit", "only in quotes"),
        ({"type": "choice", "choices": ["a", ""]}, "choices", "does not fit", "only in quotes"),
        ({"type": "choice", "choices": ["a", ["b"]]}, "choices", "does not fit", "only in quotes"),
        ({"type": "choice", "choices": ["a", "a"]}, "choices", "twice", "remove one"),
        ({"type": "integer", "choices": [1, "1"]}, "choices", "twice", "remove one"),
        ({"type": "date range", "choices": ["last 3 hours"]}, "choices", "does not fit", "last 30 days"),
        ({"type": "relative range", "choices": ["sometime"]}, "choices", "does not fit", "last 30 days"),
        ({"type": "relative range", "choices": [5]}, "choices", "does not fit", "last 30 days"),
        ({"type": "datetime", "zone": "Europe/Viena"}, "zone", "not a time zone", "did you mean Europe/Vienna?"),
        ({"type": "datetime", "zone": 5}, "zone", "not a time zone", "Europe/Vienna"),
        ({"type": "datetime", "zone": "../UTC"}, "zone", "not a time zone", "Europe/Vienna"),
        ({"type": "datetime", "zone": {"properti": "a"}}, "zone", "does not name a property", "{property: region}"),
        (
            {"type": "choice", "choices": ["a"], "is_null": "a"},
            "is_null",
            "a is one of the choices",
            "its own word",
        ),
        ({"type": "date range", "is_null": "none"}, "is_null", "not for the type date range", "text"),
        ({"type": "text", "match": "regex"}, "match", "not a way to compare", "equals, contains, prefix, suffix"),
        ({"type": "integer", "match": "contains"}, "match", "not for the type integer", "text"),
        ({"type": "list of text", "match": "contains"}, "match", "not a way to compare", "for a list, write equals"),
        ({"type": "date range", "open": True}, "open", "does not name an end", "start, end or both"),
        ({"type": "date range", "open": "left"}, "open", "does not name an end", "start, end or both"),
    ],
)
def test_a_definition_that_is_wrong(definition: Any, key: str, problem: str, fix: str) -> None:
    """Red for each row when its check is taken out."""
    with pytest.raises(InvalidDefinition) as error:
        declare({"x": definition})
    assert error.value.keys == ("x", key)
    assert problem in error.value.problem
    assert fix in error.value.fix
    assert error.value.message.startswith(f"params.x.{key}: ")


@pytest.mark.parametrize("name", ["", "a.b", "_a", "1", "a-b", "a b", 5])
def test_a_name_is_what_a_tag_can_say(name: Any) -> None:
    """``{{ params.a-b }}`` is no tag."""
    with pytest.raises(InvalidDefinition, match="not a parameter name"):
        declare({name: "text"})


@pytest.mark.parametrize(
    "definitions", [["a"], "a", {"x": 5}, {"x": None}, {"x": ["text"]}, {f"x{n}": "text" for n in range(101)}]
)
def test_what_is_no_mapping_of_definitions(definitions: Any) -> None:
    """A TemplateError, as for every mistake of an author."""
    with pytest.raises(TemplateError):
        SQLTemplate("select 1", params=definitions)


def test_a_definition_may_be_the_type_alone_or_a_parameter() -> None:
    """So parameters of a template can be declared for another one."""
    declared = declare({"a": "text", "b": {"type": "list of integer"}})
    assert declare(declared) == declared
    assert declared["b"].is_list
    with pytest.raises(InvalidDefinition, match="called a"):
        declare({"b": declared["a"]})


def test_what_a_definition_becomes() -> None:
    """Equal definitions are equal parameters: a fragment may declare what its query declares too."""
    definition = {
        "type": "datetime range",
        "label": "Period",
        "description": "When it was ordered",
        "min": "2020-01-01",
        "zone": {"property": "timezone"},
        "open": "end",
        "default": "last 30 days",
    }
    parameter = declare({"period": definition})["period"]
    assert isinstance(parameter, Parameter)
    assert parameter == declare({"period": dict(definition)})["period"]
    assert (parameter.label, parameter.description, parameter.open) == ("Period", "When it was ordered", {"end"})
    assert parameter.zone == PropertyReference("timezone")
    assert parameter.properties == ("timezone",)
    assert parameter.always_given
    assert parameter.takes.endswith("from 2020-01-01T00:00:00+00:00, and the end may be left out")
    assert declare({"d": {"type": "datetime", "zone": "Europe/Vienna"}})["d"].zone == ZoneInfo("Europe/Vienna")


@pytest.mark.parametrize(
    ("definition", "takes"),
    [
        ({"type": "text", "max_length": 40}, "text of at most 40 characters"),
        ({"type": "integer", "min": 1}, "a whole number from 1"),
        ({"type": "decimal", "max": "1.5"}, "a number up to 1.5"),
        ({"type": "interval", "min": "1 hour"}, "a length of time such as 15 minutes from 1:00:00"),
        ({"type": "list of choice", "choices": ["a", "b"], "max_items": 2}, "a list of at most 2, each one of a, b"),
        ({"type": "integer", "choices": list(range(25))}, "one of " + ", ".join(map(str, range(20))) + " and 5 more"),
        ({"type": "choice", "choices": {"query": "regions"}}, "one of the choices"),
        ({"type": "relative range", "choices": ["today", "last-month", "last 30 days", "year to date"]},
         "one of today, last month, last 30 days, year to date"),
    ],
)  # fmt: skip
def test_what_a_parameter_takes(definition: Any, takes: str) -> None:
    """In the words of its refusal."""
    assert declare({"x": definition})["x"].takes == takes
