"""The codes of the configuration file's diagnostics: what each means, how bad it is, what a JSON Schema can say of it.

A code is stable: scripts and suppressions name it. One code has one severity.
"""

from __future__ import annotations

from typing import NamedTuple

from tenantry_site.diagnostic import Severity


class Code(NamedTuple):
    """One code. ``in_schema``: the JSON Schemas refuse a file exactly when it has such a diagnostic (CFG codes that
    are errors: both schemas; warnings: the strict one)."""

    severity: Severity
    meaning: str
    in_schema: bool = False


_E, _W, _I = Severity.ERROR, Severity.WARNING, Severity.INFO

TABLE: dict[str, Code] = {
    # The text of the file
    "CFG001": Code(_E, "The file cannot be read: it is missing, a folder, or not allowed."),
    "CFG002": Code(_E, "The file is empty."),
    "CFG003": Code(_E, "The file is not UTF-8."),
    "CFG004": Code(_E, "The file is in UTF-16 or UTF-32."),
    "CFG005": Code(_E, "The file has a NUL character: it is not text."),
    "CFG006": Code(_W, "The file begins with a byte order mark."),
    "CFG007": Code(_W, "A comment: JSON has none."),
    "CFG008": Code(_W, "A comma before a closing bracket."),
    "CFG009": Code(_E, "A comma is missing between two values."),
    "CFG010": Code(_E, "Text that belongs to no value."),
    "CFG011": Code(_E, "A bracket that is not closed, or closed by one of the other kind."),
    "CFG012": Code(_E, "A backslash that begins no escape, as in a path of Windows."),
    "CFG013": Code(_E, "A string or a comment that does not end."),
    "CFG014": Code(_E, "The marks of a merge that was not finished."),
    "CFG015": Code(_E, "The file is inside a Markdown fence."),
    "CFG016": Code(_E, "A key or a value without double quotes."),
    "CFG017": Code(_E, "Text after the end of the configuration."),
    "CFG018": Code(_E, "More than 64 brackets inside one another."),
    "CFG019": Code(_E, "A number that JSON does not know."),
    "CFG020": Code(_E, "The file holds something else than one object.", in_schema=True),
    "CFG021": Code(_E, "The file is no configuration of a docs site: it belongs to another tool."),
    "CFG022": Code(_E, "A colon or a value is missing after a key."),
    "CFG023": Code(_E, "A line break or another control character inside a string."),
    "CFG024": Code(_W, "An escape that is half of a character."),
    # Keys
    "CFG030": Code(_W, "A key stands twice in one object: only the last counts."),
    "CFG031": Code(_I, "Known fields of other generators that have no effect here."),
    "CFG032": Code(_E, "The navigation is of the newer format, which is another file.", in_schema=True),
    "CFG033": Code(_W, "Fields of the newer format, which have no effect here.", in_schema=True),
    "CFG034": Code(_W, "An unknown key that is nearly a known one.", in_schema=True),
    "CFG035": Code(_W, "A key that belongs elsewhere or has another name.", in_schema=True),
    "CFG036": Code(_W, "An unknown key.", in_schema=True),
    "CFG037": Code(_I, "Something that other programs refuse as a whole, for a mistake inside it."),
    # Values
    "CFG040": Code(_E, "A required field is missing.", in_schema=True),
    "CFG041": Code(_E, "A value of the wrong type.", in_schema=True),
    "CFG042": Code(_W, "A field that every site should have is missing.", in_schema=True),
    "CFG043": Code(_W, "An entry lacks a field that it needs.", in_schema=True),
    "CFG044": Code(_W, "A text is empty.", in_schema=True),
    "CFG045": Code(_W, "A value that is nearly one of those allowed; it is read as that one.", in_schema=True),
    "CFG046": Code(_W, "A value that is none of those allowed.", in_schema=True),
    "CFG047": Code(_E, "An address that would run code in the page.", in_schema=True),
    "CFG048": Code(_W, "An address of a kind that is not followed here.", in_schema=True),
    "CFG049": Code(_W, "An address without https:// or mailto: at its beginning.", in_schema=True),
    "CFG050": Code(_W, "A colour that is not hexadecimal.", in_schema=True),
    "CFG051": Code(_I, "A colour with transparency: it has four or eight digits, not three or six."),
    "CFG052": Code(_W, "One side of a pair for light and dark is missing.", in_schema=True),
    "CFG053": Code(_W, "An icon's name with the prefix of its stylesheet.", in_schema=True),
    "CFG054": Code(_W, "Control characters in a text; they are left out.", in_schema=True),
    "CFG055": Code(_I, "A social platform or a style of icons that came after those of the format; it is shown."),
    "CFG056": Code(_W, "A social platform without a known name.", in_schema=True),
    "CFG057": Code(_W, "An older or newer way to write a value; it is understood.", in_schema=True),
    "CFG058": Code(_W, "The names of basic authentication are not two, joined by a colon."),
    "CFG059": Code(_I, "Something that other programs require and this one does not."),
    # Pages and files
    "CFG060": Code(_W, "A page outside of the site's folder."),
    "CFG061": Code(_W, "A page that does not exist."),
    "CFG062": Code(_W, "A page whose file is spelled with other capitals."),
    "CFG063": Code(_I, "A page stands in the navigation twice."),
    "CFG064": Code(_W, "A list that must not be empty.", in_schema=True),
    "CFG065": Code(_I, "Pages that are not in the navigation."),
    "CFG066": Code(_W, "An object that is neither a page nor a group.", in_schema=True),
    "CFG067": Code(_W, "An image or an OpenAPI file that does not exist."),
    "CFG068": Code(_W, "None of the pages exists."),
    # What one field says of another
    "CFG070": Code(_W, "A version that ``versions`` does not list."),
    "CFG071": Code(_W, "A group inside a group of another version: it is never shown."),
    "CFG072": Code(_W, "An anchor or a tab that no page belongs to."),
    "CFG073": Code(_W, "Two redirects from one address."),
    "CFG074": Code(_W, "Redirects that lead in a circle."),
    "CFG075": Code(_W, "The same version, anchor or tab twice."),
}

CODES: dict[str, str] = {code: entry.meaning for code, entry in TABLE.items()}
"""Every code with its meaning in one line."""
