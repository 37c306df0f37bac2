"""The diagnostic codes of configuration files, and the data that is collected while a file is read.

Codes are stable, because scripts and suppressions name them. Each code has one severity.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any, NamedTuple

from tenantry_site.config.model import SiteConfig
from tenantry_site.config.source import JsonPath, SourceText, SyntaxProblem, describe
from tenantry_site.config.string_kinds import StringKind
from tenantry_site.diagnostic import Diagnostic, Severity


class DiagnosticCode(NamedTuple):
    """A diagnostic code. ``in_schema``: whether the JSON Schemas also reject a file with this problem. For an error,
    both schemas do; for a warning, only the strict schema does."""

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
    "CFG010": DiagnosticCode(_E, "Text that does not belong where it is."),
    "CFG011": DiagnosticCode(_E, "A bracket is not closed, or is closed by a bracket of the other kind."),
    "CFG012": DiagnosticCode(_E, "An invalid escape, as in a Windows path."),
    "CFG013": DiagnosticCode(_E, "An unterminated string or comment."),
    "CFG014": DiagnosticCode(_E, "Merge conflict markers."),
    "CFG015": DiagnosticCode(_E, "The file is inside a Markdown fence."),
    "CFG016": DiagnosticCode(_E, "A key or a value without double quotes."),
    "CFG017": DiagnosticCode(_E, "Text after the end of the configuration."),
    "CFG018": DiagnosticCode(_E, "Brackets are nested more than 64 deep."),
    "CFG019": DiagnosticCode(_E, "An invalid JSON number."),
    "CFG020": DiagnosticCode(_E, "The file is not a JSON object.", in_schema=True),
    "CFG021": DiagnosticCode(_E, "The file is another tool's configuration."),
    "CFG022": DiagnosticCode(_E, "A colon or a value is missing after a key."),
    "CFG023": DiagnosticCode(_E, "A line break or another control character inside a string."),
    "CFG024": DiagnosticCode(_W, "An escape for half of a surrogate pair."),
    # Keys
    "CFG030": DiagnosticCode(_W, "A key is in one object twice; only the last value is used."),
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
    "CFG044": DiagnosticCode(_W, "A string is empty.", in_schema=True),
    "CFG045": DiagnosticCode(_W, "A value that resembles an allowed one and is read as that one.", in_schema=True),
    "CFG046": DiagnosticCode(_W, "A value that is not allowed.", in_schema=True),
    "CFG047": DiagnosticCode(_E, "An address that would run code in the page.", in_schema=True),
    "CFG048": DiagnosticCode(_W, "An address with an unsupported scheme.", in_schema=True),
    "CFG049": DiagnosticCode(_W, "An address without https:// or mailto: at its beginning.", in_schema=True),
    "CFG050": DiagnosticCode(_W, "A colour that is not hexadecimal.", in_schema=True),
    "CFG051": DiagnosticCode(_I, "A colour with transparency: it has four or eight digits, not three or six."),
    "CFG052": DiagnosticCode(_W, "The value for light or for dark mode is missing.", in_schema=True),
    "CFG053": DiagnosticCode(_W, "An icon's name has the prefix of an icon font, such as fa-.", in_schema=True),
    "CFG054": DiagnosticCode(_W, "Control characters in a string; they are removed.", in_schema=True),
    "CFG055": DiagnosticCode(_I, "A social platform or icon style that is newer than the format; it is shown."),
    "CFG056": DiagnosticCode(_W, "An unknown social platform.", in_schema=True),
    "CFG057": DiagnosticCode(_W, "A value in an older or newer format; it is read.", in_schema=True),
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
    # Fields that do not fit together
    "CFG070": DiagnosticCode(_W, "A version that ``versions`` does not list."),
    "CFG071": DiagnosticCode(_W, "A group inside a group of another version: it is never shown."),
    "CFG072": DiagnosticCode(_W, "An anchor or a tab without pages."),
    "CFG073": DiagnosticCode(_W, "Two redirects from one address."),
    "CFG074": DiagnosticCode(_W, "Redirects that lead in a circle."),
    "CFG075": DiagnosticCode(_W, "The same version, anchor or tab twice."),
}

CODES: dict[str, str] = {code: entry.meaning for code, entry in CODE_TABLE.items()}
"""Code -> its meaning in one line."""


MAX_PER_CODE = 500
"""Maximum number of diagnostics listed for one code. Further ones are only counted, which limits the report on a large
file."""


class ConfigDiagnostics:
    """Collects the diagnostics of one file. ``located``: code and path of each diagnostic about a value."""

    __slots__ = ("_counts", "_list", "located", "source")

    def __init__(self, source: SourceText) -> None:
        self.source: SourceText = source
        self._list: list[Diagnostic] = []
        self._counts: Counter[str] = Counter()
        self.located: list[tuple[str, JsonPath]] = []

    def add_at(self, offset: int, code: str, message: str, fix: str = "", pointer: str = "") -> None:
        self._counts[code] += 1
        if self._counts[code] <= MAX_PER_CODE:
            line, column = self.source.position(offset)
            self._list.append(Diagnostic(CODE_TABLE[code].severity, code, message, fix, pointer, line, column))

    def add(self, location: JsonPath, code: str, message: str, fix: str = "", *, of_key: bool = False) -> None:
        """Add a diagnostic about the value at ``location``. ``of_key``: report the position of the value's key."""
        if self._counts[code] < MAX_PER_CODE:
            self.located.append((code, location))
            self.add_at(location.offset(of_key=of_key), code, message, fix, location.pointer())
        else:
            self._counts[code] += 1

    def add_syntax_error(self, problem: SyntaxProblem) -> None:
        self.add_at(problem.offset, problem.code, problem.message, problem.fix)

    def is_full(self, code: str) -> bool:
        """Whether further diagnostics with this code are only counted, so that callers need no details."""
        return self._counts[code] >= MAX_PER_CODE

    def has_error(self) -> bool:
        return any(diagnostic.severity is Severity.ERROR for diagnostic in self._list)

    def finish(self) -> tuple[Diagnostic, ...]:
        """All diagnostics in the order of the file, then the number of those that are not listed."""
        result = sorted(self._list, key=lambda diagnostic: (diagnostic.line, diagnostic.column))
        for code, count in self._counts.items():
            if count > MAX_PER_CODE:
                message = f"and {count - MAX_PER_CODE} more like this"
                result.append(Diagnostic(CODE_TABLE[code].severity, code, message, "fix the listed ones first"))
        return tuple(result)


_REQUIRED = frozenset({"destination", "group", "name", "navigation", "pages", "primary", "source", "url"})
"""Fields that are required in nearly all objects. If one of them is null, the fix does not suggest omitting it."""


class ReadContext:
    """The data collected while a file is read: its diagnostics, and the values that later checks compare.

    ``objects``: model class -> (values by attribute, path) of every object. ``strings``: kind -> (string, path), for
    the kinds that later checks need. ``foreign_keys`` and ``newer_keys`` are reported together, at the end.
    ``refused_elsewhere``: keys that are accepted here but rejected by other programs. ``already_reported``: a value
    about which no further diagnostic is added.
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
        """Report a value of the wrong type. The caller drops it: a field keeps the default, a list loses the item."""
        if value is self.already_reported is not None:
            return
        if value is None and location.key not in _REQUIRED:
            fix = f"{'remove it' if isinstance(location.key, int) else 'leave the key out'}, or {fix}"
        self.diagnostics.add(location, "CFG041", f"{location.display()} is {describe(value)}, not {expected}", fix)

    def drop(self, field: str, items: list[dict[str, Any]]) -> None:
        """Remove items, compared by identity, from a list of the configuration."""
        gone = {id(item) for item in items}
        if gone:
            for site, _ in self.objects[SiteConfig]:
                site[field] = [item for item in site[field] if id(item) not in gone]
