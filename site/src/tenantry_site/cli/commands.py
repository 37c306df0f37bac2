"""The commands to check, build, serve and create a documentation site."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tenantry_site.cli.output import printable, program, say
from tenantry_site.diagnostic import SiteError

if TYPE_CHECKING:
    from tenantry_site.diagnostic import Diagnostic
    from tenantry_site.options import SiteOptions

FAILED = 1

_STARTER = ("site.json", "favicon.svg", "index.md", "guides/first-page.md")

_folder = click.Path(exists=True, file_okay=False, path_type=Path)
_strict = click.option("--strict", is_flag=True, help="Fail on warnings too.")
_repository = click.option(
    "--repository",
    metavar="URL",
    help="Address of the pages' folder at the code host, such as https://github.com/owner/name/tree/main/docs, for "
    "the feedback buttons; default: from the folder's git remote.",
)
_external_media = click.option(
    "--external-media", is_flag=True, help="Show images, videos and frames of other hosts, not just links to them."
)
_clean_urls = click.option(
    "--clean-urls",
    is_flag=True,
    help="Write links without .html, such as guides/start, for hosts that support them.",
)
_repository_facts = click.option(
    "--repository-facts", is_flag=True, help="Let readers' browsers ask github.com for the repository's star count."
)
_fetch = click.option(
    "--fetch", is_flag=True, help="Fetch the OpenAPI documents that the configuration names by web address."
)

_allow_private = click.option(
    "--allow-private", is_flag=True, help="With --fetch: also fetch from this machine and from private networks."
)


class _Commands(click.Group):
    """Prints an expected error as one line on stderr and exits with 1. For wrong usage, click exits with 2."""

    def invoke(self, ctx: click.Context) -> Any:
        name = ctx.find_root().info_name
        try:
            return super().invoke(ctx)
        except SiteError as error:
            say(printable(f"{name}: {error} [{error.code}]"))
        except ModuleNotFoundError as missing:
            if missing.name != "uvicorn":
                raise
            say(f"{name}: this command needs uvicorn: pip install 'tenantry-site[serve]'")
        sys.exit(FAILED)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="tenantry-site")
def site() -> None:
    """Check, build and serve a documentation site."""


@site.command("check")
@click.argument("target", metavar="FILE_OR_FOLDER", type=click.Path(exists=True, allow_dash=True))
@click.option("--format", "form", type=click.Choice(["text", "json", "sarif"]), default="text", show_default=True)
@_strict
def check(target: str, form: str, strict: bool) -> None:
    """Check a configuration file, or the whole site in a folder.

    The pages, images and OpenAPI files that a configuration file names must exist in its folder. If you give -, the
    command reads a configuration from stdin and checks it alone. The exit code is 1 if there is an error.
    """
    from tenantry_site.cli.output import meanings
    from tenantry_site.report import write_json, write_sarif, write_text

    found, name, sources = _diagnosed(target)
    if form == "sarif":
        text = write_sarif(found, name, sources=sources, codes=meanings())
    else:
        text = (write_json if form == "json" else write_text)(found, name, sources=sources)
    click.echo(text.rstrip("\n"))
    if fails(found, strict=strict):
        sys.exit(FAILED)


def _diagnosed(target: str) -> tuple[tuple[Diagnostic, ...], str, Mapping[str, str | bytes]]:
    """Check the target. Return its diagnostics, its name, and path -> contents of its files, for excerpts."""
    if target == "-":
        from tenantry_site.config import loads
        from tenantry_site.loading import LARGEST, too_large

        given = sys.stdin.buffer.read(LARGEST + 1)
        if len(given) > LARGEST:
            return (too_large(Path("-")),), "-", {}
        return loads(given)[1], "-", {"-": given}
    path = Path(target)
    if path.is_dir():
        from tenantry_site.building import SiteFiles, diagnose, scan

        return diagnose(path), path.name, SiteFiles(scan(path))
    from tenantry_site.loading import load

    found = load(path)[1]
    unread = any(one.code == "CFG001" for one in found)  # do not read a pipe (which may block) or a device
    return found, path.name, {} if unread else {path.name: _content(path)}


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # the file was deleted after the check
        return b""


def fails(found: Iterable[Diagnostic], *, strict: bool) -> bool:
    """Whether a check fails: because of an error or, with ``strict``, a warning."""
    bad = {"error", "warning"} if strict else {"error"}
    return any(diagnostic.severity in bad for diagnostic in found)


@site.command("build")
@click.argument("folder", type=_folder)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Output folder; its contents are replaced.")
@click.option("--strict", is_flag=True, help="If there is an error or warning, replace nothing and exit with 1.")
@click.option("--base-url", metavar="URL", help="Address of the published site, for sitemap.xml and canonical links.")
@_repository
@_external_media
@_clean_urls
@_repository_facts
@_fetch
@_allow_private
def build(
    folder: Path,
    out: Path,
    strict: bool,
    base_url: str | None,
    repository: str | None,
    fetch: bool,
    allow_private: bool,
    **chosen: bool,
) -> None:
    """Build the site in FOLDER as static files.

    The folder at --out is replaced in one step at the end. It must be absent, empty, or the output of an earlier build.
    The exit code is 1 if there is an error, even if the site was written.
    """
    from tenantry_site.building import build as build_site
    from tenantry_site.cli.output import Progress, spared, summary

    documents = _documents(folder, fetch=fetch, allow_private=allow_private)
    options = _options(base_url=base_url, repository=repository, documents=documents, **chosen)
    with spared(), Progress() as progress:
        built = build_site(folder, out, options, progress, strict=strict)
    for line in summary(built.diagnostics):
        say(printable(line))
    if not built.published:
        say(f"Nothing was written: {printable(str(out))} is unchanged.")
        sys.exit(FAILED)
    speed = f"{built.pages / max(built.seconds, 0.001):,.0f} pages a second"
    say(
        f"{built.pages:,} pages, {built.files:,} files, {built.bytes / 1e6:,.1f} MB in {built.seconds:.1f} s ({speed})."
    )
    click.echo(str(out))
    if fails(built.diagnostics, strict=False):
        say("The site was written, but it has errors.")
        sys.exit(FAILED)


@site.command("serve")
@click.argument("folder", type=_folder)
@click.option(
    "--host",
    default="127.0.0.1",
    envvar="TENANTRY_HOST",
    show_envvar=True,
    show_default=True,
    help="Address to listen on.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=8000,
    envvar="TENANTRY_PORT",
    show_envvar=True,
    show_default=True,
    help="Port to listen on; 0 takes a free one.",
)
@click.option(
    "--live/--no-live",
    default=True,
    help="Reload pages when the folder changes, and show diagnostics on them; default: --live.",
)
@click.option(
    "--relay",
    "origins",
    multiple=True,
    metavar="ORIGIN",
    help="Origin of an API to which this server may send the playground's requests; repeatable.",
)
@click.option(
    "--relay-private",
    "private",
    multiple=True,
    metavar="ORIGIN",
    help="Like --relay, for an API in a private network or on this machine; repeatable.",
)
@_repository
@_external_media
@_clean_urls
@_repository_facts
@_fetch
@_allow_private
def serve(
    folder: Path,
    host: str,
    port: int,
    live: bool,
    origins: tuple[str, ...],
    private: tuple[str, ...],
    repository: str | None,
    fetch: bool,
    allow_private: bool,
    **chosen: bool,
) -> None:
    """Serve the site in FOLDER."""
    from tenantry_site.app import site_app
    from tenantry_site.cli.server import listen
    from tenantry_site.cli.server import serve as serve_app

    documents = _documents(folder, fetch=fetch, allow_private=allow_private)
    options = _options(repository=repository, documents=documents, **chosen)
    relay = _relay(origins, private, host)
    with listen(host, port) as listener:
        app = site_app(folder, options=options, relay=relay, live=live)
        serve_app(app, listener, lambda url: say(f"The site is at {url}/  Ctrl-C stops it."))


def _documents(folder: Path, *, fetch: bool, allow_private: bool) -> dict[str, bytes]:
    if not fetch:
        if allow_private:
            raise SiteError("--allow-private needs --fetch: add --fetch or remove --allow-private")
        return {}
    from tenantry_site.building.fetching import fetch_documents

    return fetch_documents(folder, lambda line: say(printable(line)), allow_private=allow_private)


def _relay(origins: tuple[str, ...], private: tuple[str, ...], host: str) -> Any:
    if not origins and not private:
        return None
    from tenantry_site.relay import Relay

    # On a loopback address the host names are known, so requests under other names (DNS rebinding) can be refused
    hosts = (host, "localhost") if host in {"127.0.0.1", "::1", "localhost"} else ()
    try:
        return Relay(origins, private, hosts=hosts)
    except ValueError as error:
        raise SiteError(f"--relay: {error}") from None


def _options(**given: Any) -> SiteOptions:
    from tenantry_site.options import SiteOptions

    for name in ("base_url", "repository"):
        address = given.get(name)
        if address is not None and not address.startswith(("https://", "http://")):
            raise SiteError(f"--{name.replace('_', '-')} must be an address that begins with https://, not {address!r}")
    return SiteOptions(**given)


@site.command("new")
@click.argument("folder", type=click.Path(path_type=Path))
def new(folder: Path) -> None:
    """Create a small site: a configuration file and two pages. Existing files are never overwritten."""
    import json
    from importlib.resources import files

    from tenantry_site.config import json_schema

    starter = files("tenantry_site.cli") / "starter"
    contents = {path: (starter / path).read_text("utf-8") for path in _STARTER}
    contents[".site.schema.json"] = json.dumps(json_schema(), ensure_ascii=False, indent=2) + "\n"
    present = [path for path in contents if (folder / path).exists()]
    if present:
        raise SiteError(f"{folder} already has {', '.join(present)}; files are not overwritten: choose another folder")
    try:
        for path, content in contents.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            with (folder / path).open("x", encoding="utf-8", newline="\n") as file:
                file.write(content)
    except OSError as error:
        raise SiteError(f"{folder} cannot be written: {error.strerror}") from None
    say(f"Created. To see the site: {program()} serve {printable(str(folder))}")
    click.echo(str(folder))
