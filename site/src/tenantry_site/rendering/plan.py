"""Plan: all that must be known of a site before its first page can be drawn."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial

from tenantry_site.addresses import Addresses, first_pages
from tenantry_site.config import SiteConfig, loads
from tenantry_site.diagnostic import Diagnostic, Severity
from tenantry_site.markdown import PageReader
from tenantry_site.navigation import Navigation
from tenantry_site.options import SiteOptions
from tenantry_site.outputs import Redirects, old_addresses
from tenantry_site.page import FrontMatter
from tenantry_site.reference import ApiPages, Reference, callees, read_documents
from tenantry_site.rendering.configuration import configuration_file
from tenantry_site.rendering.kept import Kept
from tenantry_site.rendering.manuscripts import Files, Manuscript, Manuscripts
from tenantry_site.rendering.recording import Recording
from tenantry_site.rendering.sources import PAGES, Sources, sort
from tenantry_site.rendering.statics import Statics, statics
from tenantry_site.theme import Theme, colors_css

_MISSING = Diagnostic(
    Severity.ERROR,
    "SITE100",
    "there is no configuration file in this folder",
    'Write site.json: {"name": "…", "navigation": [{"group": "…", "pages": ["index"]}]}.',
)


@dataclass(frozen=True, slots=True)
class Plan:
    """``manuscripts`` are those of the pages, by the pages' paths, in the order in which they are drawn. A page that an
    OpenAPI document asks for has a manuscript too, without a source; ``text`` gives the text of one. ``configuration``
    is the file and ``written`` what it says; ``config`` has the groups of those pages besides."""

    configuration: str
    written: SiteConfig
    config: SiteConfig
    assets: frozenset[str]
    manuscripts: Mapping[str, Manuscript]
    text: Callable[[Manuscript], str]
    addresses: Addresses
    navigation: Navigation
    redirects: Redirects
    reference: Reference
    reader: PageReader
    api: ApiPages
    statics: Statics
    theme: Theme
    diagnostics: tuple[Diagnostic, ...]


class Planner:
    """Plans one site again and again. What did not change stays the same object from plan to plan: by that one tells
    which pages are still as they were drawn."""

    def __init__(self, options: SiteOptions, *, remember: bool = True) -> None:
        self._options = options
        self._manuscripts = Manuscripts(remember=remember)
        self._kept = Kept()
        self._recording = Recording({})
        self._documents = 0

    def plan(self, files: Files, changed: Collection[str] | None) -> Plan | tuple[Diagnostic, ...]:
        """The plan of these files; only diagnostics where there is no configuration that can be read.

        ``changed`` names the files that may have changed since the last time; None: any may have.
        """
        file = configuration_file(files)
        if file is None:
            return (_MISSING,)
        content, paths = files[file], frozenset(files)
        config, said = self._kept.get("read", (file, content, paths), lambda: loads(content, files=paths))
        said = tuple(replace(one, path=file) for one in said)
        if config is None:
            return said
        config = self._kept.get("config", config, partial(_same, config))
        texts = self._manuscripts.read(files, (path for path in paths if path.endswith(PAGES)), changed)
        sources = self._sources(paths, file, config, texts)
        plan = self._plan(config, sources, texts, self._reference(config, files, changed))
        return replace(plan, configuration=file, written=config, diagnostics=(*said, *sources.diagnostics))

    def _sources(
        self, paths: frozenset[str], file: str, config: SiteConfig, texts: Mapping[str, Manuscript]
    ) -> Sources:
        imported = frozenset(target for text in texts.values() for target in text.imports)
        key = (paths, file, config, imported)
        return self._kept.get("sources", key, lambda: sort(*key))

    def _reference(self, config: SiteConfig, files: Files, changed: Collection[str] | None) -> Reference:
        """The OpenAPI documents. They may be read at any time later, when a page names one."""
        likely = frozenset(path for path in files if path.endswith((".json", ".yaml", ".yml")))
        if not self._recording.holds(files, changed):
            self._recording = Recording(files)
            self._documents += 1
        key = (config, likely, self._documents)
        return self._kept.get(
            "reference", key, lambda: read_documents(config, self._recording, self._options.documents)
        )

    def _plan(
        self, config: SiteConfig, sources: Sources, texts: Mapping[str, Manuscript], reference: Reference
    ) -> Plan:
        kept, options = self._kept, self._options
        snippets = {path: self._manuscripts.text(texts[path]) for path in sources.parts}
        written = {page: texts[source] for page, source in sources.pages.items()}
        config, every = self._with_operations(config, reference, written)
        navigation = self._navigation(config, every)
        moved = old_addresses(config)
        places = (frozenset(every), sources.assets, self._folders(moved, navigation), moved)
        addresses = kept.get("addresses", places, lambda: Addresses(*places))
        reader = kept.get(
            "reader",
            (addresses, snippets),
            lambda: PageReader(addresses, snippets, external_media=options.external_media),
        )
        files = kept.get("statics", (config, addresses), lambda: statics(colors_css(config, addresses)))
        return Plan(
            configuration="",
            written=config,
            config=config,
            assets=sources.assets,
            manuscripts={page: every[page] for page in (*navigation.order, *navigation.unlisted)},
            text=self._manuscripts.text,
            addresses=addresses,
            navigation=navigation,
            redirects=kept.get("redirects", (config, addresses), lambda: Redirects(config, addresses)),
            reference=reference,
            reader=reader,
            api=kept.get("api", (config, reference, reader), lambda: ApiPages(config, reference, reader, options)),
            statics=files,
            theme=kept.get(
                "theme",
                (config, navigation, addresses, files, reference),
                lambda: Theme(
                    config, navigation, addresses, options, files.styles, files.scripts, api=self._callees(reference)
                ),
            ),
            diagnostics=(),
        )

    def _folders(self, moved: Collection[str], navigation: Navigation) -> Mapping[str, str]:
        """The first page of each folder. Where a folder was moved by a redirect, links follow that."""
        first = first_pages((*navigation.order, *navigation.unlisted))
        return {folder: page for folder, page in first.items() if folder not in moved}

    def _callees(self, reference: Reference) -> frozenset[str]:
        """What playgrounds call themselves, where no relay does it for them."""
        return frozenset() if self._options.relay is not None else callees(reference)

    def _navigation(self, config: SiteConfig, every: Mapping[str, Manuscript]) -> Navigation:
        heads = {page: manuscript.head for page, manuscript in every.items()}
        shown = {page: _shown(head) for page, head in heads.items()}
        return self._kept.get("navigation", (config, shown), lambda: Navigation(config, heads))

    def _with_operations(
        self, config: SiteConfig, reference: Reference, written: Mapping[str, Manuscript]
    ) -> tuple[SiteConfig, Mapping[str, Manuscript]]:
        """The configuration and the pages, with what the OpenAPI documents add: titles, pages for operations that no
        page names, and groups that hold those."""
        specs = {page: (each.head.openapi, each.titled) for page, each in written.items() if each.head.openapi}
        if not reference.operations and not specs:
            return config, written

        def make() -> tuple[SiteConfig, dict[str, FrontMatter], dict[str, Manuscript]]:
            api = ApiPages(config, reference, PageReader(Addresses((), ()), {}), self._options)
            named = {page: spec for page, (spec, _) in specs.items()}
            titles = {
                page: api.complete(FrontMatter(openapi=spec), page)
                for page, (spec, titled) in specs.items()
                if not titled
            }
            pages = {
                path: Manuscript("", text, head, titled=True, imports=(), diagnostics=())
                for path, head, text in api.generated(written.keys(), named)
            }
            groups = api.groups(written.keys(), named)
            wider = config.model_copy(update={"navigation": (*config.navigation, *groups)}) if groups else config
            return wider, titles, pages

        config, titles, pages = self._kept.get("operations", (config, reference, frozenset(written), specs), make)
        return config, {
            **{page: _titled(manuscript, titles.get(page)) for page, manuscript in written.items()},
            **pages,
        }


def _titled(manuscript: Manuscript, operation: FrontMatter | None) -> Manuscript:
    if operation is None or not operation.title:
        return manuscript
    return replace(manuscript, head=replace(manuscript.head, title=operation.title))


def _same(config: SiteConfig) -> SiteConfig:
    return config


def _shown(head: FrontMatter) -> tuple[object, ...]:
    """What the frames of other pages show of a page."""
    return (
        *(head.title, head.sidebar_title, head.icon, head.icon_type, head.url, head.version),
        *(head.api, head.openapi, head.hide_api_marker),
    )
