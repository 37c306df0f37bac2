from __future__ import annotations

from urllib.parse import urlsplit

import click

from tenantry.cli.options import (
    as_name,
    as_new_name,
    author,
    get_environment,
    json_option,
    keys_option,
    note_unsealed,
    with_store,
)
from tenantry.cli.output import print_note, print_secret, print_value
from tenantry.cli.rights import rights_option
from tenantry.editor import Right
from tenantry.ports import Store

_author_option = click.option(
    "--author", "name", type=as_new_name, required=True, metavar="NAME", help="The author's name in the audit trail."
)


@click.group()
def editor() -> None:
    """Let authors use the SQL editor of your app, or end their access."""


def _url(_context: click.Context, _parameter: click.Parameter, url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
        raise click.BadParameter(f"{url!r} is not the address of an editor, such as https://app.example.com/editor")
    return url.rstrip("/")


@editor.command("link")
@_author_option
@click.option(
    "--url",
    required=True,
    metavar="URL",
    callback=_url,
    help="Where your app serves the editor, such as https://app.example.com/editor.",
)
@rights_option
@click.option(
    "--environment",
    "environments",
    type=as_name,
    multiple=True,
    metavar="NAME",
    help="An environment whose groups the author may choose in the editor; repeatable; default: all environments.",
)
@keys_option
@json_option
@with_store
async def link(
    store: Store, name: str, url: str, rights: frozenset[Right], environments: tuple[str, ...], as_json: bool
) -> None:
    """Print a link that opens the editor for one author. The link can be opened once, within ten minutes. The browser
    that opens it then has access for as many hours as your app sets.

    Anyone who opens the link has the author's rights.
    """
    from tenantry.editor import EditorAuthor, EditorSessions

    for each in environments:
        await get_environment(store, each)
    made = EditorAuthor(name, rights, frozenset(environments) if environments else None)
    code = await EditorSessions(store).issue(made, author())
    record = {"author": name, "rights": sorted(rights), "environments": sorted(environments) or None}
    print_secret(f"{url}/#code={code}", record, field="link", as_json=as_json)
    print_note("The link can be opened once, within ten minutes.")
    await note_unsealed(store)


@editor.command("end")
@_author_option
@keys_option
@json_option
@with_store
async def end(store: Store, name: str, as_json: bool) -> None:
    """End all sessions and unused links of one author, and print how many there were."""
    from tenantry.editor import EditorSessions

    ended = await EditorSessions(store).end_all(name, author())
    print_value(str(ended), {"author": name, "ended": ended}, field="ended", as_json=as_json)
    await note_unsealed(store)
