"""Explains JSON syntax errors, and suggests how to fix them."""

from __future__ import annotations

import re

from tenantry_site.config.source import END, SourceText, SyntaxProblem, clip, quoted

_MERGE = re.compile(r"^[ \t]*(<{7}|>{7})(?: .*)?$", re.MULTILINE)
_WORD = re.compile(r"[^\s,\[\]{}\"]+")
_PHRASE = re.compile(r"[^\r\n,\[\]{}\"]+")
_NUMBERISH = re.compile(r"[+.]?-?[0-9][\w.+-]*|-\S*")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|www\.")
_BEGINS = re.compile(r'["{\[0-9tfn-]')
_LITERALS = {
    "True": "true",
    "False": "false",
    "None": "null",
    "TRUE": "true",
    "FALSE": "false",
    "NULL": "null",
    "undefined": "null",
    "NaN": "null",
    "Infinity": "null",
    "nil": "null",
}
_CLOSING = {"{": "}", "[": "]"}
_NAMES = {"{": "the object", "[": "the list"}
_OTHER_QUOTES = "'`\u2018\u2019\u201c\u201d\u201e\u00ab"
_BACKSLASH = "write / between folders, and \\\\ for a backslash itself"


class SyntaxErrors:
    """Explains the syntax errors of one file. Each public method describes one kind of error, at an offset, and returns
    the exception to raise."""

    def __init__(self, source: SourceText) -> None:
        self._source = source
        self._text = source.text
        self._searched = False
        self._of_all: SyntaxProblem | None = None

    def _position(self, offset: int) -> str:
        line, column = self._source.position(offset)
        return f"line {line}, column {column}"

    def _file_problem(self) -> SyntaxProblem | None:
        """A problem of the whole file, such as merge markers, which is reported instead of the syntax error that it
        causes."""
        if not self._searched:
            self._searched = True
            self._of_all = self._find_file_problem()
        return self._of_all

    def _find_file_problem(self) -> SyntaxProblem | None:
        merge = _MERGE.search(self._text)
        if merge is not None:
            message = f"a merge was not finished: {quoted(merge[0].strip())}"
            fix = "choose one of the two sides and remove the lines with <<<<<<<, ======= and >>>>>>>"
            return SyntaxProblem("CFG014", message, fix, merge.start(1))
        fence = re.search(r"^[ \t]*(```|~~~)", self._text, re.MULTILINE)
        if fence is not None:
            fix = f"remove the lines with {fence[1]}: the file is JSON alone"
            message = f"a Markdown fence: {quoted(self._source.line_at(fence.start(1)))}"
            return SyntaxProblem("CFG015", message, fix, fence.start(1))
        return None

    def _word(self, at: int) -> str:
        word = _WORD.match(self._text.rstrip(END), at)
        return word[0] if word else self._text[at]

    def stray(self, at: int) -> SyntaxProblem:
        """Text that is neither a key, a value nor punctuation of JSON."""
        word = self._word(at)
        fix = "remove it"
        if word.startswith("#"):
            fix = "remove it: JSON has no comments with #"
        elif word[0] in ".;" and len(word) == 1:
            fix = "write a comma in its place"
        elif not word[0].isascii() and (word[0].isspace() or not word[0].isprintable()):
            fix = "replace it by a plain space"
        name = quoted(word) if word.isascii() else f"{quoted(word)} (U+{ord(word[0]):04X})"
        return self._file_problem() or SyntaxProblem("CFG010", f"{name} does not belong here", fix, at)

    def beginning(self, at: int) -> SyntaxProblem:
        """The file does not begin with a JSON value."""
        rest = quoted(self._source.line_at(at).strip())
        fix = 'is it the right file? A configuration is JSON: { "name": "…", "navigation": [ … ] }'
        return self._file_problem() or SyntaxProblem("CFG010", f"the file begins with {rest}, not with {{", fix, at)

    def no_value(self, at: int) -> SyntaxProblem:
        character = self._text[at]
        if character == END:
            return SyntaxProblem(
                "CFG011", "the file ends where a value is expected", "is the end of the file missing?", max(0, at - 1)
            )
        if character in ",:]}":
            found = f"there is {character!r} where a value is expected"
            return self._file_problem() or SyntaxProblem(
                "CFG010", found, f"write the value, or remove {character!r}", at
            )
        return self._file_problem() or self._unquoted(at, "value")

    def _unquoted(self, at: int, what: str) -> SyntaxProblem:
        word = self._word(at)
        if what == "key" and ":" in word[1:]:
            word = word[: word.index(":", 1)]
        if what == "value" and word in _LITERALS:
            return SyntaxProblem("CFG016", f"{quoted(word)} is not JSON", f"write {_LITERALS[word]}", at)
        if word[0] in _OTHER_QUOTES:
            return SyntaxProblem("CFG016", f"a {what} must be in double quotes: {clip(word)}", 'write "…"', at)
        if what == "value" and _NUMBERISH.fullmatch(word):
            return SyntaxProblem("CFG019", f"{quoted(word)} is not a JSON number", "write it as 0.5, 15 or -1", at)
        if re.match(r"[\w./@$-]", word):
            phrase = _PHRASE.match(self._text.rstrip(END), at)
            whole = phrase[0].strip() if phrase and what == "value" and _ADDRESS.match(word) is None else word
            shown = clip(whole.rstrip(":"), 40)
            return SyntaxProblem("CFG016", f"the {what} {shown} has no quotes", f'write "{shown}"', at)
        return self.stray(at)

    def no_key(self, at: int, opened: int) -> SyntaxProblem:
        """A key is missing. ``opened``: offset of the object's opening bracket."""
        character = self._text[at]
        if character == END or character == "]":
            return self.mismatch(at, opened)
        if character in "{[":
            fix = "write a key before it, or close the object above with }"
            return self._file_problem() or SyntaxProblem(
                "CFG022", f"there is {character} where a key is expected", fix, at
            )
        if character in ",:":
            return self._file_problem() or SyntaxProblem(
                "CFG010", f"there is {character!r} where a key is expected", "remove it", at
            )
        word = self._word(at)
        after = self._text[at + len(word) :].lstrip()[:1]
        if word[0] in _OTHER_QUOTES or ":" in word or after in (":", '"'):
            return self._file_problem() or self._unquoted(at, "key")
        return self.stray(at)

    def no_colon(self, key_at: int, end: int, at: int, key: str) -> SyntaxProblem:
        """No colon follows a key. ``key_at`` and ``end``: where the key begins and ends."""
        character = self._text[at]
        if character == END:
            return self._file_problem() or SyntaxProblem(
                "CFG011", f"the file ends after {quoted(key)}", "is the end of the file missing?", key_at
            )
        if at == end and re.match(r"\w", character):
            return self._inner_quote(end)
        if character in ",}":
            fix = "write a colon and a value after it, or put the values of a list in [ ]"
            return self._file_problem() or SyntaxProblem("CFG022", f"the key {quoted(key)} has no value", fix, key_at)
        if character in "=;.":
            return self._file_problem() or SyntaxProblem(
                "CFG022", f"there is {character!r} after the key {quoted(key)}", "write a colon in its place", at
            )
        fix = "write a colon between the key and its value"
        return self._file_problem() or SyntaxProblem("CFG022", f"the key {quoted(key)} has no colon after it", fix, end)

    def _inner_quote(self, end: int) -> SyntaxProblem:
        fix = 'write \\" for a quote inside a string; or is there a quote too many or too few?'
        message = f"the string ends here, but {quoted(self._word(end))} follows without a comma"
        return self._file_problem() or SyntaxProblem("CFG010", message, fix, end - 1)

    def no_comma(self, end: int, at: int, opened: int) -> SyntaxProblem:
        """Neither a comma nor the closing bracket follows an item. ``end``: where the item ends. ``opened``: offset of
        the opening bracket."""
        character = self._text[at]
        if character == END or character in "]}":
            return self.mismatch(at, opened)
        problem = self._file_problem()
        if problem is not None:
            return problem
        if at == end and re.match(r"[\w']", character) and self._text[end - 1] == '"':
            return self._inner_quote(end)
        if self._text[opened] == "[" and character == ":":
            fix = "put the key and its value in { }, or write a comma instead of the colon"
            return SyntaxProblem("CFG010", "there is a colon in a list, but lists have no keys", fix, at)
        if _BEGINS.match(character) is None or (character in "tfn" and self._word(at) not in {"true", "false", "null"}):
            return self.stray(at)
        after = clip(self._source.line_at(at).strip(), 40)
        message = f"a comma is missing before {after}"
        return SyntaxProblem("CFG009", message, "write a comma after this", max(0, end - 1))

    def mismatch(self, at: int, opened: int) -> SyntaxProblem:
        """The bracket at ``opened`` is not closed before the end of the file, or before another bracket at ``at``."""
        opening = self._text[opened]
        name, closing = _NAMES[opening], _CLOSING[opening]
        if self._text[at] == END:
            message = f"the file ends, and {name} that opens with {opening} at {self._position(opened)} is not closed"
            last = len(self._text.rstrip(END).rstrip()) - 1
            return self._file_problem() or SyntaxProblem(
                "CFG011", message, f"write {closing} where it should end", last
            )
        message = f"there is {self._text[at]}, but {name} that opens with {opening} at {self._position(opened)}"
        message += " is not closed"
        fix = f"write {closing} before it, or remove it if it is one too many"
        return self._file_problem() or SyntaxProblem("CFG011", message, fix, at)

    def broken_string(self, at: int, stop: int) -> SyntaxProblem:
        """The string that begins at ``at`` has an invalid character or escape at ``stop``, or no closing quote."""
        character = self._text[stop]
        problem = self._file_problem()
        if problem is not None:
            return problem
        if character == "\\":
            escape = self._text[stop : stop + 2].replace("\n", "").rstrip(END)
            message = f"{clip(escape)} in {quoted(self._line_of_string(at))} is not a JSON escape"
            return SyntaxProblem("CFG012", message, _BACKSLASH, stop)
        if not self._text[stop:].rstrip(END).strip():
            message = f"the file ends inside the string {quoted(self._line_of_string(at))}, which has no closing quote"
            return SyntaxProblem(
                "CFG013", message, "write a double quote at its end; or is the end of the file missing?", at
            )
        if character in "\n\r":
            message = f"the string {quoted(self._line_of_string(at))} has no closing quote on its line"
            return SyntaxProblem("CFG013", message, "write a double quote at its end", at)
        fix = "write \\t for a tab, \\n for a line break" if character == "\t" else "remove it"
        return SyntaxProblem("CFG023", f"U+{ord(character):04X} is not allowed inside a string", fix, stop)

    def _line_of_string(self, at: int) -> str:
        column = self._source.position(at)[1]
        return self._source.line_at(at)[column:].split('"')[0]

    def after_end(self, at: int) -> SyntaxProblem:
        """Text follows the end of the configuration."""
        problem = self._file_problem()
        if problem is not None:
            return problem
        character = self._text[at]
        if character in "}]":
            fix = "remove it, or find the bracket above that closes too early"
            return SyntaxProblem("CFG017", f"{character} is one too many: the configuration ended before it", fix, at)
        if character == ",":
            fix = "remove it; or does a } above it close the configuration too early?"
            return SyntaxProblem("CFG017", "a comma follows the end of the configuration", fix, at)
        rest = clip(self._source.line_at(at).strip())
        fix = "remove it; or does a } above it close the configuration too early?"
        return SyntaxProblem("CFG017", f"{quoted(rest)} follows the end of the configuration", fix, at)
