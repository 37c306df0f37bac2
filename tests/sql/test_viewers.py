"""``viewer.*`` in SQL templates and their checks: a value that no choice of the viewer can leave out."""

from __future__ import annotations

import pytest

from tenantry.errors import MissingVariable, TemplateError
from tenantry.groups import PropertySchema
from tenantry.sql import SQLTemplate
from tenantry.sql.checks import reads_every_customer
from tenantry.sql.checks.lint import lint, wanted_properties
from tenantry.testing import make_group
from tests.groups.viewers import make_viewer

SELECT = "select id from orders where region = {{ viewer.region }}"


def test_a_query_has_the_values_of_the_pass() -> None:
    """And does not run without them, also where the group has a property of that name."""
    acme = make_group(properties={"viewer": {"region": "property"}, "region": "us"})
    template = SQLTemplate(SELECT, "sqlite")
    assert template.bind(acme.with_viewer(make_viewer(region="eu")).variables).params == ("eu",)
    for lacking in (acme, acme.with_viewer(make_viewer(city="Brno"))):
        with pytest.raises(MissingVariable, match="viewer"):
            template.bind(lacking.variables)
    own = SQLTemplate("select 1 from t where a = {{ user_group.properties.viewer.region }}", "sqlite")
    assert own.bind(acme.variables).params == ("property",)


@pytest.mark.parametrize(
    "text",
    [
        "select 1 from t where 1 = 1 [[ and a = {{ viewer.region }} and b = {{ params.b }} ]]",
        "select 1 from t where 1 = 1 [[ and a = {{ viewer.region }} ]]",
        "select 1 from t where a = {{ viewer.region | default('eu') }}",
    ],
)
def test_no_choice_leaves_it_out(text: str) -> None:
    with pytest.raises(TemplateError):
        SQLTemplate(text, "sqlite")


def test_the_checks_know_what_a_viewer_may_have() -> None:
    """By ``x-viewer`` of the schema; without it any name may be right. A viewer's value is no property that groups
    lack. Red if ``viewer`` counts as a property: each query of a viewer then has an error."""
    where = "a = {{ viewer.id }} and b = {{ viewer.regoin }} and c = {{ viewer.address.city }}"
    template = SQLTemplate(f"select 1 from t where {where}", "sqlite")
    address = {"type": "object", "properties": {"city": {"type": "string"}}}
    schema = PropertySchema({"x-viewer": {"properties": {"region": {"type": "string"}, "address": address}}})
    (finding,) = lint(template, schema=schema)
    assert (finding.code, finding.variable) == ("unknown-variable", "viewer.regoin")
    assert finding.fix == "did you mean region?"
    assert lint(template, schema=PropertySchema({}), properties={"region"}) == ()
    assert wanted_properties([template]) == frozenset()


def test_a_viewer_is_no_customer() -> None:
    """Red if a condition on the viewer alone counts as one on the group: it lets the rows of all customers through."""
    finding = reads_every_customer(SQLTemplate(SELECT, "sqlite"))
    assert finding is not None
    assert finding.code == "every-customer"
    assert reads_every_customer(SQLTemplate(f"{SELECT} and tenant = {{{{ user_group.id }}}}", "sqlite")) is None


def test_a_property_named_viewer_is_told() -> None:
    (finding,) = lint(SQLTemplate(SELECT, "sqlite"), properties={"viewer", "viewer.region"})
    assert finding.code == "viewer-or-property"
    assert finding.fix == "if you mean the property, write user_group.properties.viewer.region"
    own = "select 1 from t where a = {{ user_group.properties.viewer.region }}"
    assert lint(SQLTemplate(own, "sqlite"), properties={"viewer", "viewer.region"}) == ()
