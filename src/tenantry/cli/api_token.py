"""``tenantry api-token``: the secrets of those who call ``/api/user``."""

from __future__ import annotations

from typing import Any

import click

from tenantry.cli.options import as_text, author, choose_environment, environment_option, json_option, with_store
from tenantry.cli.output import print_note, print_rows, print_secret, print_value
from tenantry.groups import ApiToken, Scope
from tenantry.ports import Store
from tenantry.provisioning import issue_api_token


@click.group("api-token")
def api_token() -> None:
    """Create, list and revoke API tokens."""


@api_token.command("create")
@environment_option
@click.option("--label", type=as_text, metavar="TEXT", default="", help="Text that tells you later whose it is.")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice([scope.value for scope in Scope]),
    default=[Scope.PROVISION.value],
    show_default=True,
    help="What it may be used for: provision for /api/user, introspect for /oauth/introspect, preview for previews of "
    "dashboards. May come more than once.",
)
@json_option
@with_store
async def create(store: Store, environment: str | None, label: str, scopes: tuple[str, ...], as_json: bool) -> None:
    """Create an API token and print it: once, alone on stdout. Only its hash is stored."""
    target = await choose_environment(store, environment)
    secret, made = await issue_api_token(
        store, target, label=label, scopes=[Scope(scope) for scope in scopes], author=author()
    )
    print_secret(secret, _row(made), field="api_token", as_json=as_json)
    print_note(f"Keep it now: it is not shown again. Send it as  Authorization: Token …{made.hint}  (id {made.id}).")


@api_token.command("list")
@environment_option
@json_option
@with_store
async def list_(store: Store, environment: str | None, as_json: bool) -> None:
    """List the API tokens of an environment, without their secrets."""
    target = await choose_environment(store, environment)
    print_rows([_row(each) for each in await store.api_tokens(target)], as_json=as_json)


@api_token.command("revoke")
@click.argument("token_id", type=click.IntRange(1, 2**63 - 1), metavar="ID")
@environment_option
@json_option
@with_store
async def revoke(store: Store, token_id: int, environment: str | None, as_json: bool) -> None:
    """Revoke the API token with this ID (see `list`). It is dead when this command returns."""
    target = await choose_environment(store, environment)
    gone = await store.revoke_api_token(target, token_id, author=author())
    print_value(str(gone.id), _row(gone), field="id", as_json=as_json)
    print_note(f"Revoked …{gone.hint}.")


def _row(each: ApiToken) -> dict[str, Any]:
    return {
        "id": each.id,
        "environment": each.environment.name,
        "label": each.label,
        "scopes": sorted(scope.value for scope in each.scopes),
        "hint": each.hint,
        "created_at": each.created_at.isoformat(timespec="seconds"),
        "revoked_at": each.revoked_at.isoformat(timespec="seconds") if each.revoked_at else None,
    }
