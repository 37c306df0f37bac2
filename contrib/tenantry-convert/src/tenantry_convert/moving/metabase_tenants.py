from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from tenantry_convert.moving.groups_file import Groups, number, read_json, warn, write


@click.command("metabase")
@click.argument("tenants", type=click.Path(path_type=Path))
@click.option("--number", "numbers", multiple=True, metavar="NAME", help="An attribute that is a number; repeatable.")
@click.option(
    "--list", "lists", multiple=True, metavar="NAME", help="An attribute that is a comma-separated list; repeatable."
)
@click.option(
    "--routing",
    metavar="NAME",
    help="The attribute of database routing, whose value becomes the data source in the mapping.",
)
@click.option("--schema", default="main", show_default=True, help="The schema in that mapping.")
def from_metabase(
    tenants: Path, numbers: tuple[str, ...], lists: tuple[str, ...], routing: str | None, schema: str
) -> None:
    """Print the tenants of Metabase for `tenantry group sync`.

    TENANTS is a saved response to GET /api/ee/tenant. All attributes in it are strings. Use --number and --list to name
    those that are numbers or lists.
    """
    attributes = _Attributes(numbers, lists, routing, schema)

    def read() -> Groups:
        groups: Groups = {}
        for tenant in read_json(tenants)["data"]:
            if tenant["is_active"]:
                groups[tenant["slug"]] = attributes.group(tenant)  # `user_group.id` in SQL
            else:
                warn(f"left out: {tenant['slug']} is deactivated")
        return groups

    write(read)


@dataclass(frozen=True)
class _Attributes:
    numbers: tuple[str, ...]
    lists: tuple[str, ...]
    routing: str | None
    schema: str

    def group(self, tenant: dict[str, Any]) -> dict[str, Any]:
        found = dict(tenant["attributes"] or {})
        routed = found.pop(self.routing, None)
        for name in found.keys() & {*self.numbers}:
            found[name] = number(found[name], f"{name} of {tenant['slug']}")
        for name in found.keys() & {*self.lists}:
            found[name] = [part.strip() for part in (found[name] or "").split(",") if part.strip()]
        group = {"name": tenant["name"], "properties": found}
        if self.routing is not None:
            group["mapping"] = {} if routed is None else {self.schema: routed}
        return group
