"""The diagnostics of a configuration file: what each code means, those of one file, and the context of its reading.

A code is stable: scripts and suppressions name it. One code has one severity.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any, NamedTuple

from tenantry_site.config.model import SiteConfig
from tenantry_site.config.source import JsonPath, SourceText, SyntaxProblem, describe
from tenantry_site.config.string_kinds import StringKind
from tenantry_site.diagnostic import Diagnostic, Severity


class DiagnosticCode(NamedTuple):
    """One code. ``in_schema``: the JSON Schemas refuse a file exactly when it has such a diagnostic (CFG codes that
    are errors: both schemas; warnings: the strict one)."""

    severity: Severity
    meaning: str
    in_schema: bool = False


_E, _W, _I = Severity.ERROR, Severity.WARNING, Severity.INFO

CODE_TABLE: dict[str, DiagnosticCode] = {
    # The text of the file
    "CFG001": DiagnosticCode(_E, "The file cannot be read: it is missing, a folder, or not allowed."),
    "CFG002": DiagnosticCode(_E, "The file is empty."),
    "CFG003": DiagnosticCode(_E, "The file is not UTF-8."),
    "CFG004": DiagnosticCode(_E, "The file is in UTF-16 or UTF-32."),
    "CFG005": DiagnosticCode(_E, "The file has a NUL character: it is not text."),
    "CFG006": DiagnosticCode(_W, "The file begins with a byte order mark."),
    "CFG007": DiagnosticCode(_W, "A comment, which JSON does not allow."),
    "CFG008": DiagnosticCode(_W, "A comma before a closing bracket."),
    "CFG009": DiagnosticCode(_E, "A comma is missing between two values."),
    "CFG010": DiagnosticCode(_E, "Text outside any value."),
    "CFG011": DiagnosticCode(_E, "A bracket that is not closed, or closed by one of the other kind."),
    "CFG012": DiagnosticCode(_E, "An invalid escape, as in a Windows path."),
    "CFG013": DiagnosticCode(_E, "An unterminated string or comment."),
    "CFG014": DiagnosticCode(_E, "Merge conflict markers."),
    "CFG015": DiagnosticCode(_E, "The file is inside a Markdown fence."),
    "CFG016": DiagnosticCode(_E, "A key or a value without double quotes."),
    "CFG017": DiagnosticCode(_E, "Text after the end of the configuration."),
    "CFG018": DiagnosticCode(_E, "More than 64 brackets inside one another."),
    "CFG019": DiagnosticCode(_E, "An invalid JSON number."),
    "CFG020": DiagnosticCode(_E, "The file is not a JSON object.", in_schema=True),
    "CFG021": DiagnosticCode(_E, "The file is another tool's configuration."),
    "CFG022": DiagnosticCode(_E, "A colon or a value is missing after a key."),
    "CFG023": DiagnosticCode(_E, "A line break or another control character inside a string."),
    "CFG024": DiagnosticCode(_W, "An escaped lone surrogate."),
    # Keys
    "CFG030": DiagnosticCode(_W, "A key is in one object twice: only the last counts."),
    "CFG031": DiagnosticCode(_I, "Known fields of other generators that have no effect here."),
    "CFG032": DiagnosticCode(_E, "The navigation is in the newer format, which uses another file.", in_schema=True),
    "CFG033": DiagnosticCode(_W, "Fields of the newer format, which have no effect here.", in_schema=True),
    "CFG034": DiagnosticCode(_W, "An unknown key that resembles a known one.", in_schema=True),
    "CFG035": DiagnosticCode(_W, "A key that belongs elsewhere or has another name.", in_schema=True),
    "CFG036": DiagnosticCode(_W, "An unknown key.", in_schema=True),
    "CFG037": DiagnosticCode(_I, "An object that other programs reject for an error inside it."),
    # Values
    "CFG040": DiagnosticCode(_E, "A required field is missing.", in_schema=True),
    "CFG041": DiagnosticCode(_E, "A value of the wrong type.", in_schema=True),
    "CFG042": DiagnosticCode(_W, "A field that every site should have is missing.", in_schema=True),
    "CFG043": DiagnosticCode(_W, "An entry lacks a field that it needs.", in_schema=True),
    "CFG044": DiagnosticCode(_W, "A text is empty.", in_schema=True),
    "CFG045": DiagnosticCode(_W, "A value that resembles an allowed one and is read as that one.", in_schema=True),
    "CFG046": DiagnosticCode(_W, "A value that is not allowed.", in_schema=True),
    "CFG047": DiagnosticCode(_E, "An address that would run code in the page.", in_schema=True),
    "CFG048": DiagnosticCode(_W, "An address with an unsupported scheme.", in_schema=True),
    "CFG049": DiagnosticCode(_W, "An address without https:// or mailto: at its beginning.", in_schema=True),
    "CFG050": DiagnosticCode(_W, "A colour that is not hexadecimal.", in_schema=True),
    "CFG051": DiagnosticCode(_I, "A colour with transparency: it has four or eight digits, not three or six."),
    "CFG052": DiagnosticCode(_W, "One side of a pair for light and dark is missing.", in_schema=True),
    "CFG053": DiagnosticCode(_W, "An icon's name with the prefix of its stylesheet.", in_schema=True),
    "CFG054": DiagnosticCode(_W, "Control characters in a string; they are removed.", in_schema=True),
    "CFG055": DiagnosticCode(
        _I, "A social platform or a style of icons that came after those of the format; it is shown."
    ),
    "CFG056": DiagnosticCode(_W, "A social platform without a known name.", in_schema=True),
    "CFG057": DiagnosticCode(_W, "An older or newer way to write a value; it is understood.", in_schema=True),
    "CFG058": DiagnosticCode(_W, "The names of basic authentication are not two, joined by a colon."),
    "CFG059": DiagnosticCode(_I, "A field that other programs require."),
    # Pages and files
    "CFG060": DiagnosticCode(_W, "A page outside of the site's folder."),
    "CFG061": DiagnosticCode(_W, "A page that does not exist."),
    "CFG062": DiagnosticCode(_W, "A page whose file name differs in case."),
    "CFG063": DiagnosticCode(_I, "A page is in the navigation twice."),
    "CFG064": DiagnosticCode(_W, "A list that must not be empty.", in_schema=True),
    "CFG065": DiagnosticCode(_I, "Pages that are not in the navigation."),
    "CFG066": DiagnosticCode(_W, "An object that is neither a page nor a group.", in_schema=True),
    "CFG067": DiagnosticCode(_W, "An image or an OpenAPI file that does not exist."),
    "CFG068": DiagnosticCode(_W, "None of the pages exists."),
    # What one field says of another
    "CFG070": DiagnosticCode(_W, "A version that ``versions`` does not list."),
    "CFG071": DiagnosticCode(_W, "A group inside a group of another version: it is never shown."),
    "CFG072": DiagnosticCode(_W, "An anchor or a tab without pages."),
    "CFG073": DiagnosticCode(_W, "Two redirects from one address."),
    "CFG074": DiagnosticCode(_W, "Redirects that lead in a circle."),
    "CFG075": DiagnosticCode(_W, "The same version, anchor or tab twice."),
}

CODES: dict[str, str] = {code: entry.meaning for code, entry in CODE_TABLE.items()}
"""Every code with its meaning in one line."""


MAX_PER_CODE = 500
"""Diagnostics of one code that are given one by one: a file of a megabyte must not make ten of explanations."""


class ConfigDiagnostics:
    """Collects diagnostics with their positions. ``located`` has code and path of each that is about a value."""

    __slots__ = ("_counts", "_list", "located", "source")

    def __init__(self, source: SourceText) -> None:
        self.source: SourceText = source
        self._list: list[Diagnostic] = []
        self._counts: Counter[str] = Counter()
        self.located: list[tuple[str, JsonPath]] = []

    def add_at(self, offset: int, code: str, message: str, fix: str = "", pointer: str = "") -> None:
        """Adds a finding at an offset of the text."""
        self._counts[code] += 1
        if self._counts[code] <= MAX_PER_CODE:
            line, column = self.source.position(offset)
            self._list.append(Diagnostic(CODE_TABLE[code].severity, code, message, fix, pointer, line, column))

    def add(self, location: JsonPath, code: str, message: str, fix: str = "", *, of_key: bool = False) -> None:
        """Adds a finding about a value, or about its key."""
        if self._counts[code] < MAX_PER_CODE:
            self.located.append((code, location))
            self.add_at(location.offset(of_key=of_key), code, message, fix, location.pointer())
        else:
            self._counts[code] += 1

    def add_syntax_error(self, problem: SyntaxProblem) -> None:
        """Adds why the file cannot be read."""
        self.add_at(problem.offset, problem.code, problem.message, problem.fix)

    def is_full(self, code: str) -> bool:
        """Whether further diagnostics of the code are only counted: what is expensive to find out need not be."""
        return self._counts[code] >= MAX_PER_CODE

    def has_error(self) -> bool:
        """Whether there is an error."""
        return any(diagnostic.severity is Severity.ERROR for diagnostic in self._list)

    def finish(self) -> tuple[Diagnostic, ...]:
        """All diagnostics in the order of the file."""
        result = sorted(self._list, key=lambda diagnostic: (diagnostic.line, diagnostic.column))
        for code, count in self._counts.items():
            if count > MAX_PER_CODE:
                message = f"and {count - MAX_PER_CODE} more like this"
                result.append(Diagnostic(CODE_TABLE[code].severity, code, message, "see the others of this code"))
        return tuple(result)


_REQUIRED = frozenset({"destination", "group", "name", "navigation", "pages", "primary", "source", "url"})
"""Fields that are required wherever, or nearly wherever, they are known."""


class ReadContext:
    """The diagnostics so far, and what has been read of each kind, for the checks of one field against another.

    ``objects`` has every object by its model's class, as clean values by attribute; ``strings`` every string by its
    kind. ``foreign_keys`` and ``newer_keys`` are reported together, at the end. ``refused_elsewhere`` are keys that are
    taken here and that other programs refuse. ``already_reported`` is a value that has its diagnostic and needs no
    other.
    """

    __slots__ = (
        "already_reported",
        "diagnostics",
        "foreign_keys",
        "newer_keys",
        "objects",
        "refused_elsewhere",
        "strings",
    )

    def __init__(self, diagnostics: ConfigDiagnostics) -> None:
        self.diagnostics: ConfigDiagnostics = diagnostics
        self.objects: defaultdict[type, list[tuple[dict[str, Any], JsonPath]]] = defaultdict(list)
        self.strings: defaultdict[StringKind, list[tuple[str, JsonPath]]] = defaultdict(list)
        self.foreign_keys: list[JsonPath] = []
        self.newer_keys: list[JsonPath] = []
        self.refused_elsewhere: list[JsonPath] = []
        self.already_reported: Any = None

    def wrong_type(self, location: JsonPath, value: Any, expected: str, fix: str) -> None:
        """Reports that a value is of the wrong type. The field keeps its default, a list goes without the item."""
        if value is self.already_reported is not None:
            return
        if value is None and location.key not in _REQUIRED:
            fix = f"{'remove it' if isinstance(location.key, int) else 'leave the key out'}, or {fix}"
        self.diagnostics.add(location, "CFG041", f"{location.display()} is {describe(value)}, not {expected}", fix)

    def drop(self, field: str, items: list[dict[str, Any]]) -> None:
        """Takes items, the very ones, out of a list of the site."""
        gone = {id(item) for item in items}
        if gone:
            for site, _ in self.objects[SiteConfig]:
                site[field] = [item for item in site[field] if id(item) not in gone]
