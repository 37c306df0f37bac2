from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tenantry_convert.moving.groups_file import Groups, read_json, warn, write
from tenantry_convert.pairs import read_pairs

MAPPINGS = ("computed_parent_schema_datasource_mapping", "parent_schema_datasource_mapping")


@click.command("explo")
@click.argument("pages", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PAGE…")
@click.option(
    "--source",
    "sources",
    multiple=True,
    metavar="ID=NAME",
    callback=read_pairs,
    help="The new name of the data source with this id, such as 213=warehouse_eu; repeatable.",
)
@click.option(
    "--schema",
    "schemas",
    multiple=True,
    metavar="ID=NAME",
    callback=read_pairs,
    help="The new name of the schema with this id, such as 40=main; repeatable.",
)
@click.option("--access-group", metavar="NAME", help="Print only the customers of this data visibility group.")
def from_explo(
    pages: tuple[Path, ...], sources: dict[str, str], schemas: dict[str, str], access_group: str | None
) -> None:
    """Print the customers of Explo for `tenantry group sync`.

    PAGE is a saved response to GET /v2/api/customers/, or to the older /api/customers/.
    """

    def read() -> Groups:
        groups: Groups = {}
        for customer in _customers(pages):
            name = customer["provided_id"]
            if customer.get("is_demo_group"):
                warn(f"left out: {name} is a demo customer")
            elif access_group in (None, customer.get("access_group")):
                groups[name] = _group(customer, sources, schemas)
                for field in ("emails", "group_tags"):
                    if customer.get(field):
                        warn(f"not moved: {field} of {name}")
        return groups

    write(read)


def _customers(pages: tuple[Path, ...]) -> list[dict[str, Any]]:
    answers = [read_json(page) for page in pages]
    customers = [customer for answer in answers for customer in answer.get("results", answer)["customers"]]
    if len(customers) < (count := max(answer.get("total_count", 0) for answer in answers)):
        warn(f"only {len(customers)} of {count} customers are in these files: save the other pages, too")
    return customers


def _group(customer: dict[str, Any], sources: dict[str, str], schemas: dict[str, str]) -> dict[str, Any]:
    # `computed_…` also contains inherited values, which must be copied because a group inherits nothing.
    properties = customer.get("computed_properties") or customer.get("properties") or {}
    group = {"name": customer.get("name") or customer["provided_id"], "properties": properties}
    given = [customer[key] for key in MAPPINGS if key in customer]
    if given:
        mapping: dict[str, Any] = next(filter(None, given), {})
        group["mapping"] = {
            schemas.get(schema, schema): sources.get(str(to), str(to)) for schema, to in mapping.items()
        }
    return group
