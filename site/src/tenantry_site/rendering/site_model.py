"""The model of a site: what rendering one page needs to know about all files of the site."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from tenantry_site.addresses import Addresses, first_pages
from tenantry_site.config import SiteConfig, loads
from tenantry_site.diagnostic import Diagnostic, Severity
from tenantry_site.markdown import SUFFIXES_OF_CODE, PageReader
from tenantry_site.navigation import Navigation
from tenantry_site.options import SiteOptions
from tenantry_site.outputs import Redirects, old_addresses
from tenantry_site.page import FrontMatter
from tenantry_site.reference import ApiPages, Reference, read_documents, server_urls
from tenantry_site.rendering.source_files import (
    PAGES,
    Files,
    SourceFiles,
    SourcePage,
    SourcePages,
    classify,
    configuration_file,
)
from tenantry_site.rendering.theme_assets import ThemeAssets, theme_assets
from tenantry_site.theme import Theme, colors_css

_MISSING = Diagnostic(
    Severity.ERROR,
    "SITE100",
    "there is no configuration file in this folder",
    'Write site.json: {"name": "…", "navigation": [{"group": "…", "pages": ["index"]}]}.',
)


@dataclass(frozen=True, slots=True)
class SiteModel:
    """The model of a site."""

    configuration: str
    """Path of the configuration file."""
    written: SiteConfig
    """The configuration as written."""
    config: SiteConfig
    """The configuration with the groups of generated pages added."""
    assets: frozenset[str]
    source_pages: Mapping[str, SourcePage]
    """Page -> its source, in rendering order. A page generated from an OpenAPI document has no source file."""
    text: Callable[[SourcePage], str]
    """Returns the Markdown of a source page."""
    addresses: Addresses
    navigation: Navigation
    redirects: Redirects
    reference: Reference
    reader: PageReader
    api: ApiPages
    theme_assets: ThemeAssets
    theme: Theme
    diagnostics: tuple[Diagnostic, ...]


class SiteModelBuilder:
    """Builds the model of one site, and rebuilds it after each change.

    While the inputs of an attribute are unchanged, the attribute stays the same object, so that ``RenderedPages`` knows
    which pages to render again.
    """

    def __init__(self, options: SiteOptions, *, incremental: bool = True) -> None:
        self._options = options
        self._source_pages = SourcePages(incremental=incremental)
        self._memo = Memo()
        self._tracked = TrackedFiles({})
        self._documents = 0

    def build(self, files: Files, changed: Collection[str] | None) -> SiteModel | tuple[Diagnostic, ...]:
        """The model of the site with these files, or only diagnostics if the configuration cannot be read.

        ``changed``: paths of files that may have changed since the last build; None: any file may have.
        """
        file = configuration_file(files)
        if file is None:
            return (_MISSING,)
        content, paths = files[file], frozenset(files)
        parsed, diagnostics = self._memo.get("read", (file, content, paths), lambda: loads(content, files=paths))
        diagnostics = tuple(replace(one, path=file) for one in diagnostics)
        if parsed is None:
            return diagnostics
        config = self._memo.get("config", parsed, lambda: parsed)
        texts = self._source_pages.read(
            files, (path for path in paths if path.endswith((*PAGES, *SUFFIXES_OF_CODE))), changed
        )
        imported = frozenset(target for text in texts.values() for target in text.imports)
        key = (paths, file, config, imported)
        source_files = self._memo.get("sources", key, lambda: classify(*key))
        model = self._model_of(config, source_files, texts, self._reference(config, files, changed))
        return replace(model, configuration=file, written=config, diagnostics=(*diagnostics, *source_files.diagnostics))

    def _reference(self, config: SiteConfig, files: Files, changed: Collection[str] | None) -> Reference:
        """The OpenAPI documents; each file is read when it is first needed."""
        likely = frozenset(path for path in files if path.endswith((".json", ".yaml", ".yml")))
        if not self._tracked.is_unchanged(files, changed):
            self._tracked = TrackedFiles(files)
            self._documents += 1
        key = (config, likely, self._documents)
        return self._memo.get("reference", key, lambda: read_documents(config, self._tracked, self._options.documents))

    def _model_of(
        self, config: SiteConfig, source_files: SourceFiles, texts: Mapping[str, SourcePage], reference: Reference
    ) -> SiteModel:
        memo, options = self._memo, self._options
        snippets = {path: self._source_pages.text(texts[path]) for path in source_files.parts}
        written = {page: texts[source] for page, source in source_files.pages.items()}
        config, every = self._with_operations(config, reference, written)
        navigation = self._navigation(config, every)
        moved = old_addresses(config)
        known = (frozenset(every), source_files.assets, self._folders(moved, navigation), moved)
        addresses = memo.get("addresses", known, lambda: Addresses(*known))
        reader = memo.get(
            "reader",
            (addresses, snippets),
            lambda: PageReader(addresses, snippets, external_media=options.external_media),
        )
        files = memo.get("theme_assets", (config, addresses), lambda: theme_assets(colors_css(config, addresses)))
        return SiteModel(
            configuration="",
            written=config,
            config=config,
            assets=source_files.assets,
            source_pages={page: every[page] for page in (*navigation.order, *navigation.unlisted)},
            text=self._source_pages.text,
            addresses=addresses,
            navigation=navigation,
            redirects=memo.get("redirects", (config, addresses), lambda: Redirects(config, addresses)),
            reference=reference,
            reader=reader,
            api=memo.get("api", (config, reference, reader), lambda: ApiPages(config, reference, reader, options)),
            theme_assets=files,
            theme=memo.get(
                "theme",
                (config, navigation, addresses, files, reference),
                lambda: Theme(
                    config,
                    navigation,
                    addresses,
                    options,
                    files.styles,
                    files.scripts,
                    api=self._server_urls(reference),
                ),
            ),
            diagnostics=(),
        )

    def _folders(self, moved: Collection[str], navigation: Navigation) -> Mapping[str, str]:
        """Folder -> its first page. Folders that have a redirect are left out."""
        first = first_pages((*navigation.order, *navigation.unlisted))
        return {folder: page for folder, page in first.items() if folder not in moved}

    def _server_urls(self, reference: Reference) -> frozenset[str]:
        """Addresses of the servers in OpenAPI documents, if playgrounds send requests to them without a relay."""
        return frozenset() if self._options.relay is not None else server_urls(reference)

    def _navigation(self, config: SiteConfig, every: Mapping[str, SourcePage]) -> Navigation:
        fronts = {page: source_page.front for page, source_page in every.items()}
        shown = {page: _navigation_facts(front) for page, front in fronts.items()}
        return self._memo.get("navigation", (config, shown), lambda: Navigation(config, fronts))

    def _with_operations(
        self, config: SiteConfig, reference: Reference, written: Mapping[str, SourcePage]
    ) -> tuple[SiteConfig, Mapping[str, SourcePage]]:
        """Add what OpenAPI documents contribute: groups in the configuration, generated pages, and titles of pages."""
        specs = {page: (each.front.openapi, each.has_title) for page, each in written.items() if each.front.openapi}
        if not reference.operations and not specs:
            return config, written

        def make() -> tuple[SiteConfig, dict[str, FrontMatter], dict[str, SourcePage]]:
            api = ApiPages(config, reference, PageReader(Addresses((), ()), {}), self._options)
            named = {page: spec for page, (spec, _) in specs.items()}
            titles = {
                page: api.complete(FrontMatter(openapi=spec), page)
                for page, (spec, has_title) in specs.items()
                if not has_title
            }
            pages = {
                path: SourcePage("", text, front, has_title=True, imports=(), diagnostics=())
                for path, front, text in api.generated(written.keys(), named)
            }
            groups = api.groups(written.keys(), named)
            wider = config.model_copy(update={"navigation": (*config.navigation, *groups)}) if groups else config
            return wider, titles, pages

        config, titles, pages = self._memo.get("operations", (config, reference, frozenset(written), specs), make)
        return config, {
            **{page: _titled(source_page, titles.get(page)) for page, source_page in written.items()},
            **pages,
        }


def _titled(source_page: SourcePage, operation: FrontMatter | None) -> SourcePage:
    if operation is None or not operation.title:
        return source_page
    return replace(source_page, front=replace(source_page.front, title=operation.title))


def _navigation_facts(front: FrontMatter) -> tuple[object, ...]:
    """The fields of a page's front matter that affect the navigation of other pages."""
    return (
        *(front.title, front.sidebar_title, front.icon, front.icon_type, front.url, front.version),
        *(front.api, front.openapi, front.hide_api_marker),
    )


T = TypeVar("T")


class Memo:
    """A cache of named values, each with the inputs from which it was made.

    A cached value stays the same object, so that values made from it are found in the cache too.
    """

    def __init__(self) -> None:
        self._values: dict[str, tuple[object, object]] = {}

    def get(self, name: str, origin: object, make: Callable[[], T]) -> T:
        """The value called ``name``: the cached value if its inputs equal ``origin``, else a new value from
        ``make``."""
        known = self._values.get(name)
        if known is not None and known[0] == origin:
            return known[1]  # type: ignore[return-value]  # one name, one type
        made = make()
        self._values[name] = (origin, made)
        return made


class TrackedFiles(Mapping[str, str | bytes]):
    """A view of ``files`` that records which files were read, and their contents."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._read: dict[str, str | bytes | None] = {}

    def __getitem__(self, path: str) -> str | bytes:
        try:
            content = self._files[path]
        except KeyError:
            self._read[path] = None
            raise
        self._read[path] = content
        return content

    def __contains__(self, path: object) -> bool:
        return path in self._files

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def is_unchanged(self, files: Files, changed: Collection[str] | None) -> bool:
        """Return whether the files read so far have the same contents in ``files``. If they do, switch to ``files``
        for later reads."""
        for path, content in self._read.items():
            if (changed is None or path in changed) and files.get(path) != content:
                return False
        self._files = files
        return True
