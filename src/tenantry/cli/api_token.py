from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import click

from tenantry.cli.moments import check_future, expires_at_option, expires_in_option, read_end
from tenantry.cli.options import (
    IntRange,
    as_text,
    author,
    choose_environment,
    environment_option,
    json_option,
    keys_option,
    note_unsealed,
    with_store,
)
from tenantry.cli.output import print_note, print_rows, print_secret, print_value
from tenantry.groups import ApiToken, Scope
from tenantry.ports import Store
from tenantry.provisioning import issue_api_token


@click.group("api-token")
def api_token() -> None:
    """Create, list and revoke API tokens."""


@api_token.command("create")
@environment_option
@click.option("--label", type=as_text, metavar="TEXT", default="", help="A note that says who uses the token.")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice([scope.value for scope in Scope]),
    default=[Scope.PROVISION.value],
    show_default=True,
    help="What the token permits; repeatable. provision:read: list groups. provision:write: create, change and delete "
    "groups. provision: both. introspect: use /oauth/introspect. preview: create previews of dashboards. "
    "passes: create passes for viewers. sources: use /api/data-sources.",
)
@expires_in_option
@expires_at_option
@keys_option
@json_option
@with_store
async def create(
    store: Store,
    environment: str | None,
    label: str,
    scopes: tuple[str, ...],
    expires_in: timedelta | None,
    expires_at: datetime | None,
    as_json: bool,
) -> None:
    """Create an API token and print only the token on stdout. The store keeps only a hash, so the token cannot be shown
    again. If you set no end date, the token is valid until you revoke it."""
    now = datetime.now(UTC)
    end = read_end(expires_in, expires_at, now)
    check_future(end, now)
    target = await choose_environment(store, environment)
    secret, made = await issue_api_token(
        store.api_tokens,
        target,
        label=label,
        scopes=[Scope(scope) for scope in scopes],
        expires_at=end,
        author=author(),
    )
    print_secret(secret, _row(made), field="api_token", as_json=as_json)
    print_note(f"Save it now: it is not shown again. Send it as  Authorization: Token …{made.hint}  (id {made.id}).")
    if end is not None:
        print_note(f"It expires at {_time(end)}.")
    await note_unsealed(store)


@api_token.command("list")
@environment_option
@json_option
@with_store
async def list_(store: Store, environment: str | None, as_json: bool) -> None:
    """List the API tokens of an environment, without their secrets. The time of the last use is accurate to the
    hour."""
    target = await choose_environment(store, environment)
    print_rows([_row(each) for each in await store.api_tokens.list(target)], as_json=as_json)


@api_token.command("revoke")
@click.argument("token_id", type=IntRange(1, 2**63 - 1), metavar="ID")
@environment_option
@keys_option
@json_option
@with_store
async def revoke(store: Store, token_id: int, environment: str | None, as_json: bool) -> None:
    """Revoke the API token with this ID (see `list`). When this command returns, the token is refused, and all previews
    that were created with the token have ended."""
    target = await choose_environment(store, environment)
    revoked = await store.api_tokens.revoke(target, token_id, author=author())
    gone = revoked.api_token
    print_value(str(gone.id), _row(gone) | {"ended_previews": revoked.ended}, field="id", as_json=as_json)
    print_note(f"Revoked …{gone.hint}. Previews that ended with it, opened or not: {revoked.ended}.")
    await note_unsealed(store)


def _row(each: ApiToken) -> dict[str, Any]:
    return {
        "id": each.id,
        "environment": each.environment.name,
        "label": each.label,
        "scopes": sorted(scope.value for scope in each.scopes),
        "hint": each.hint,
        "created_at": _time(each.created_at),
        "expires_at": _time(each.expires_at),
        "last_used_at": _time(each.last_used_at),
        "revoked_at": _time(each.revoked_at),
    }


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(timespec="seconds")
