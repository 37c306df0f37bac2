from __future__ import annotations

from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import click

from tenantry.cli.extras import needs
from tenantry.cli.options import author, port_option, settings
from tenantry.cli.output import print_note
from tenantry.cli.rights import rights_option
from tenantry.cli.shown_group import choose_group, folder_argument, shown_group_options
from tenantry.editor import Right

_PATH: Final = "/editor"


@click.command()
@folder_argument
@shown_group_options
@rights_option
@port_option
@needs("server", "dashboards")
def edit(folder: Path, rights: frozenset[Right], port: int | None, **group: Any) -> None:
    """Serve the SQL editor for the dashboards and queries of DIR until Ctrl-C, and print a link to it.

    With --group ID, the editor shows this group first, and you can switch to any other group of the store. Without
    --group, the command makes a sample group, which needs no store. The server listens on 127.0.0.1 only. The link can
    be opened once, within ten minutes. The browser that opens it has access for eight hours.
    """
    from starlette.applications import Starlette
    from starlette.responses import RedirectResponse
    from starlette.routing import Route

    from tenantry.cli.dashboards_mappings import print_unmapped
    from tenantry.cli.dashboards_serve import HOST, closing, only_local
    from tenantry.datasources import DataSources
    from tenantry.editor import EditorAuthor, EditorSessions, mount_editor
    from tenantry.resolver import Resolver
    from tenantry.server import listen, run

    dashboards = folder / "dashboards" if (folder / "dashboards").is_dir() else folder
    open_store = choose_group(dashboards, **group)
    with listen(HOST, settings(port=port).port) as listener:
        store, keys, find = open_store()
        resolver, sources = Resolver(store, keys=keys), DataSources(store, keys=keys)
        to_editor = Route("/", lambda request: RedirectResponse(f"{_PATH}/"))
        app = Starlette(routes=[to_editor], lifespan=closing(sources, resolver, store))
        mount_editor(app, dashboards, resolver, sources, path=_PATH)
        operator = author()
        name = operator.name.removeprefix("command line ")
        fragment: dict[str, str] = {}

        async def prepare() -> None:
            begin = (await find()).group
            await print_unmapped(dashboards, store, begin)
            fragment["code"] = await EditorSessions(store).issue(EditorAuthor(name, rights), operator)
            fragment["environment"], fragment["group"] = begin.environment.name, begin.provided_id

        def announce(url: str) -> None:
            link = f"{url}{_PATH}/#{urlencode(fragment)}"
            print_note(f"Open this link, which works once, within ten minutes; Ctrl-C stops the editor:\n\n  {link}")

        run(only_local(app), listener, announce=announce, prepare=prepare)
