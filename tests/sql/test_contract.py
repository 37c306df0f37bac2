"""Which updates of properties break a saved query, and which only leave it as it is."""

from __future__ import annotations

from typing import Any

import pytest

from tenantry.errors import BreaksSavedQuery, InvalidProperties, MissingVariable, TenantryError, UnbindableValue
from tenantry.groups import Record
from tenantry.groups.property_schema import PropertySchema
from tenantry.sql import SQLTemplate
from tenantry.sql.checks.contract import QueryContract

QUERIES = {
    "sales/by_day": SQLTemplate("select * from t where region = {{ region }} and status in {{ statuses }}"),
    "seats": SQLTemplate("select 1 where seats = {{ plan.seats }} [[ and d = {{ discount }} ]]", optional={"discount"}),
    "all": SQLTemplate("select * from t where id = {{ user_group.id }} and a = {{ params.a }}"),
}
CONTRACT = QueryContract(QUERIES)
WHOLE: dict[str, Any] = {"region": "eu", "statuses": ["open"], "plan": {"seats": 3}}


@pytest.mark.parametrize(
    ("after", "broken"),
    [
        (WHOLE, []),
        ({**WHOLE, "region": 5, "more": [1]}, []),
        ({**WHOLE, "statuses": []}, []),
        ({**WHOLE, "region": None}, [("sales/by_day", "region")]),
        ({**WHOLE, "region": ["eu"]}, [("sales/by_day", "region")]),
        ({**WHOLE, "statuses": "open"}, [("sales/by_day", "statuses")]),
        ({**WHOLE, "statuses": ["a", None]}, [("sales/by_day", "statuses")]),
        ({**WHOLE, "plan": {}}, [("seats", "plan.seats")]),
        ({**WHOLE, "plan": "x"}, [("seats", "plan.seats")]),
        (None, [("sales/by_day", "region"), ("seats", "plan.seats")]),
    ],
)
def test_what_breaks_is_what_bind_refuses(after: dict[str, Any] | None, broken: list[tuple[str, str]]) -> None:
    """A query is named with its property if bind gives a text before and none after. Red when the contract has rules
    of its own."""
    found = CONTRACT.broken_queries(Record(WHOLE), None if after is None else Record(after))
    assert [(each.query, each.variable) for each in found] == broken
    params = {"params": {"a": 1}, "user_group": {"id": "x"}}
    for name, template in QUERIES.items():
        try:
            template.bind(Record({**(after or {}), **params}))
            bound = True
        except (MissingVariable, UnbindableValue):
            bound = False
        assert bound == (name not in [each.query for each in found]), name


def test_a_query_that_does_not_run_today_is_not_broken() -> None:
    """Half-filled groups can be filled step by step. Red when each update is held to every query."""
    before = {"region": "eu"}
    assert CONTRACT.broken_queries(before, {"region": "us"}) == ()
    assert CONTRACT.broken_queries(before, {}) == (), "sales/by_day lacks its statuses already"
    assert CONTRACT.broken_queries(None, before) == ()


def test_two_queries_that_take_the_same_property_in_another_way() -> None:
    """Each is held to its own. Red when the first of them decides for both: a choice takes whatever there is."""
    choice = SQLTemplate("select 1 from t order by {{ region | one_of(a, b) }}")
    contract = QueryContract({"choice": choice, "value": SQLTemplate("select 1 from t where region = {{ region }}")})
    assert [each.query for each in contract.broken_queries({"region": "a"}, {"region": ["a"]})] == ["value"]


def errors(
    before: Any, after: Any, contract: QueryContract = CONTRACT, environment: str = "production"
) -> list[TenantryError]:
    """What an update gives."""
    return list(contract.errors(environment, before, after))


def test_the_error_names_queries_variables_and_where() -> None:
    """Up to five queries; the pointer leads to what is in the body. Red when a message shows a value."""
    (error,) = errors(WHOLE, {**WHOLE, "statuses": "secret"})
    assert isinstance(error, BreaksSavedQuery)
    assert error.queries == (("sales/by_day", "statuses"),)
    assert error.field == "/properties/statuses"
    assert error.message == (
        "with these properties 1 saved query could not run: sales/by_day needs statuses, which is text where the query "
        "takes a list without null"
    )
    (error,) = errors(WHOLE, {**WHOLE, "plan": {"seat": 3}})
    assert error.field == "/properties/plan"
    many = QueryContract({f"q{n}": SQLTemplate("select {{ a }} = 1") for n in range(8)})
    (error,) = errors({"a": 1}, {}, many)
    assert error.field == "/properties"
    assert error.message.endswith("q4 needs a, which is missing; and 3 more")


def test_the_schema_of_the_environment_holds_too() -> None:
    """For new groups as for updates, and in its own environment only. Red when a schema counts everywhere."""
    plan = {"type": "object", "required": ["seats"]}
    schema = PropertySchema({"properties": {"plan/x": plan}, "required": ["region"]})
    contract = QueryContract(QUERIES, {"production": schema})
    bad = {**WHOLE, "plan/x": {}, "region": ["eu"]}
    found = errors(WHOLE, bad, contract)
    assert [type(each) for each in found] == [InvalidProperties, BreaksSavedQuery]
    assert found[0].field == "/properties/plan~1x"
    assert found[0].message == "plan/x.seats is missing, and the environment's schema requires it"
    assert [type(each) for each in errors(WHOLE, bad, contract, "testing")] == [BreaksSavedQuery]
    (missing,) = contract.schema_errors("production", None)
    assert (missing.field, missing.status) == ("/properties", 422)
