"""The Markdown parser, with rules for tags, expressions, imports, formulas and prose.

Opening and closing tags become separate tokens; rendering matches them. On pages with components, indented lines are
not code, because authors indent the contents of components. Formulas between ``$$`` are kept as written: Markdown would
remove their backslashes and read a line of ``=`` as a heading.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.parser_block import ParserBlock
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock, list_block
from markdown_it.rules_inline import StateInline
from mdit_py_plugins.footnote import footnote_plugin

from tenantry_site.markdown import modules
from tenantry_site.markdown.jsx import Construct, ConstructKind, ConstructScanner
from tenantry_site.markdown.modules import Module

DEEPEST = 26
"""Maximum nesting of lists and quotations. Deeper lists and quotations become plain paragraphs."""

_INTERRUPTS = frozenset("`~>-+*_#|<{[:=$0123456789")
"""First characters of a line that may end the paragraph before it."""

_TERMINATORS = re.compile(r"[\n!$&*<\[\\\]^_`{}~]")
_BEFORE: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list"]}
_INSIDE: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote"]}


class BlockParser(ParserBlock):
    """A block parser that keeps text nested deeper than ``DEEPEST`` as paragraphs; markdown-it would drop it."""

    def tokenize(self, state: StateBlock, startLine: int, endLine: int) -> None:  # noqa: N803  # the parser's names
        if state.level < DEEPEST:
            super().tokenize(state, startLine, endLine)
            return
        line = startLine
        while line < endLine and (state.isEmpty(line) or state.sCount[line] >= state.blkIndent):
            line += 1
        line = max(line, startLine + 1)
        _push_paragraph(state, startLine, line)


class MarkdownParser(MarkdownIt):
    """A parser that neither changes nor checks addresses: ``PageContext.href`` and ``source`` check them."""

    def normalizeLink(self, url: str) -> str:  # noqa: N802  # the parser's name
        return url

    def normalizeLinkText(self, link: str) -> str:  # noqa: N802  # the parser's name
        return link

    def validateLink(self, url: str) -> bool:  # noqa: N802  # the parser's name
        return True


@cache
def parser(*, indented_code: bool) -> MarkdownIt:
    """The parser, which is cached. ``indented_code``: whether lines indented by four spaces are code."""
    markdown = MarkdownParser("commonmark", {"maxNesting": DEEPEST + 4})
    markdown.block = BlockParser()
    rules = ["table", "fence", "blockquote", "hr", "list", "reference", "heading"]
    markdown.block.ruler.enableOnly([*rules, "code"] if indented_code else rules)
    if not indented_code:
        markdown.block.ruler.at("list", _list, _INSIDE)
    markdown.block.ruler.before("table", "module", _module)
    markdown.block.ruler.before("table", "prose", _prose)
    markdown.block.ruler.before("table", "formula", _formula, _BEFORE)
    markdown.block.ruler.before("table", "construct", _construct, _BEFORE)
    markdown.block.ruler.push("text", _paragraph, {"alt": []})
    markdown.inline.ruler.disable(["html_inline"])
    markdown.inline.ruler.enable(["strikethrough"])
    markdown.inline.ruler2.enable(["strikethrough"])
    markdown.inline.ruler.before("entity", "construct", _inline_construct)
    markdown.inline.ruler.before("escape", "formula", inline_formula)
    markdown.inline.terminator_re = _TERMINATORS
    footnote_plugin(markdown, inline=False, move_to_end=False)
    return markdown


def _module(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """Block rule: ``import`` and ``export`` lines at the top level of the page."""
    at = state.bMarks[start_line]
    if silent or state.level or state.src[at : at + 2] not in ("im", "ex") or (at and state.src[at - 1] != "\n"):
        return False
    module: Module | None = state.env.get("module")
    if module is None or modules.BLOCK_START.match(state.src, at, state.eMarks[start_line]) is None:
        return False
    end = module.block_end(state.src, at)
    line = start_line + 1
    while line < end_line and state.bMarks[line] < end:
        line += 1
    constructs: ConstructScanner = state.env["constructs"]
    module.read(state.src[at:end], start_line + 1, constructs.diagnostics)
    module.lines.append((start_line, line))
    state.line = line
    return True


def _table_ahead(state: StateBlock, line: int, end_line: int) -> bool:
    """Whether the next line may be a table's delimiter row, so that this line would be the table's header."""
    below = line + 1
    if below >= end_line:
        return False
    at = state.bMarks[below] + state.tShift[below]
    return state.src[at : at + 1] in ("|", "-", ":")


def _prose(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """Block rule, for speed: a paragraph whose first character no other rule handles."""
    if silent:
        return False
    at = state.bMarks[start_line] + state.tShift[start_line]
    if state.src[at] in _INTERRUPTS or state.is_code_block(start_line) or _table_ahead(state, start_line, end_line):
        return False
    return _paragraph(state, start_line, end_line, silent)


def _formula(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    end = formula_end(state, start_line, end_line)
    if end and not silent:
        _push_paragraph(state, start_line, end)
    return bool(end)


def _paragraph(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """Block rule: a paragraph, or a heading if a line of ``=`` or ``-`` follows."""
    terminators = state.md.block.ruler.getRules("paragraph")
    parent, state.parentType = state.parentType, "paragraph"
    line, last, level = start_line + 1, state.lineMax, 0
    while line < last:
        at = state.bMarks[line] + state.tShift[line]
        if at >= state.eMarks[line]:
            break
        interrupts = state.src[at] in _INTERRUPTS or _table_ahead(state, line, last)
        if interrupts and not state.is_code_block(line) and state.sCount[line] >= 0:
            level = _underline(state, line) if line < end_line else 0
            if level or any(rule(state, line, last, True) for rule in terminators):
                break
        line += 1
    state.parentType = parent
    if level:
        content = state.getLines(start_line, line, state.blkIndent, False).strip()
        state.line = line + 1
        _push(state, "heading", f"h{level}", content, start_line)
    else:
        _push_paragraph(state, start_line, line)
    return True


def _underline(state: StateBlock, line: int) -> int:
    """The level of the heading that a line underlines: 1 for a line of ``=``, 2 for ``-``, 0 for other lines."""
    if state.sCount[line] < state.blkIndent:
        return 0
    text = state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].rstrip(" \t")
    mark = text[0]
    return (1 if mark == "=" else 2) if mark in "=-" and text == mark * len(text) else 0


def _push_paragraph(state: StateBlock, start_line: int, line: int) -> None:
    content = state.getLines(start_line, line, state.blkIndent, False).strip()
    state.line = line
    _push(state, "paragraph", "p", content, start_line)


def _push(state: StateBlock, kind: str, tag: str, content: str, start_line: int) -> None:
    span = [start_line, state.line]
    token = state.push(f"{kind}_open", tag, 1)
    token.map = span
    token = state.push("inline", "", 0)
    token.content, token.map, token.children = content, span, []
    state.push(f"{kind}_close", tag, -1)


def _list(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """Block rule for texts without indented code: a list at any indentation. Resetting ``listIndent`` turns off the
    parser's check for list items indented by four spaces."""
    outer, state.listIndent = state.listIndent, -1
    found = list_block(state, start_line, end_line, silent)
    state.listIndent = outer
    return found


def _construct(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """Block rule: tags, comments and expressions at the beginning of a line. The rest of the line is parsed as blocks
    too."""
    at = state.bMarks[start_line] + state.tShift[start_line]
    if state.src[at] not in "<{" or state.is_code_block(start_line):
        return False
    constructs: ConstructScanner | None = state.env.get("constructs")
    if constructs is None:
        return False
    line, limit = start_line, state.eMarks[end_line - 1]
    found = constructs.at(state.src, at, limit, line + 1)
    if found is None or not _is_block(state, found, line, silent):
        return False
    if silent:
        return True
    while found is not None:
        token = state.push("construct", "", 0)
        token.map, token.meta = [line, line + 1], {"construct": found}
        while state.eMarks[line] < found.end:
            line += 1
        at = state.skipSpaces(found.end)
        if at >= state.eMarks[line]:
            state.line = line + 1
            return True
        found = constructs.at(state.src, at, limit, line + 1) if state.src[at] in "<{" else None
        if found is not None and not _is_block(state, found, line, silent):
            found = None
    _rest_of_line(state, line, at, end_line)
    return True


def _is_block(state: StateBlock, found: Construct, line: int, silent: bool) -> bool:
    """Whether a construct at the beginning of a line is a block, and not part of a paragraph. ``silent``: whether it
    would interrupt a paragraph."""
    if found.kind in (ConstructKind.COMMENT, ConstructKind.RAW):
        return True
    while state.eMarks[line] < found.end:
        line += 1
    behind = state.src[found.end : state.eMarks[line]].strip()
    if found.kind is ConstructKind.EXPRESSION:
        return not silent and not behind and "\n" in found.text
    if found.kind is ConstructKind.TEXT:
        return False
    if found.inline:
        return (
            not silent
            and not behind
            and not found.tag.self_closing
            and found.kind is ConstructKind.HTML
            and found.tag.name not in ("br", "img", "wbr")
        )
    if found.kind is ConstructKind.UNKNOWN and "href" in found.tag.attributes:  # a link may be followed by text
        rest = behind if found.tag.self_closing else behind.partition(f"</{found.tag.name}>")[2]
        return not rest.strip()
    if found.kind is ConstructKind.UNKNOWN and found.tag.name[:1].islower():
        return not silent and not behind
    return not (found.tag.self_closing and behind and behind[0] not in "<{")


def _rest_of_line(state: StateBlock, line: int, at: int, end_line: int) -> None:
    """Parse the rest of a line after a tag as if the line began at ``at``."""
    marks = state.bMarks[line], state.tShift[line], state.sCount[line]
    state.bMarks[line], state.tShift[line], state.sCount[line] = at, 0, state.blkIndent
    state.line = line
    for rule in state.md.block.ruler.getRules(""):
        if rule is not _construct and rule(state, line, end_line, False):
            break
    state.bMarks[line], state.tShift[line], state.sCount[line] = marks


def _inline_construct(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] not in "<{":
        return False
    constructs: ConstructScanner | None = state.env.get("constructs")
    if constructs is None:
        return False
    found = constructs.at(state.src, state.pos, state.posMax, state.env.get("line", 0))
    if found is None:
        return False
    if not silent:
        token = state.push("construct", "", 0)
        token.meta = {"construct": found}
    state.pos = found.end
    return True


_MARK: Final = "$$"


def inline_formula(state: StateInline, silent: bool) -> bool:
    """Inline rule: ``$$x$$`` is kept as text. Three dollar signs (a price class), or a closing tag between the dollar
    signs, are not a formula."""
    at = state.pos
    if not state.src.startswith(_MARK, at) or "$" in (state.src[at - 1 : at], state.src[at + 2 : at + 3]):
        return False
    end = state.src.find(_MARK, at + 2, state.posMax)
    if end < 0 or "</" in state.src[at:end]:
        return False
    if not silent:
        state.pending += state.src[at : end + 2]
    state.pos = end + 2
    return True


def formula_end(state: StateBlock, start_line: int, end_line: int) -> int:
    """The line after a formula that begins with ``$$`` on ``start_line`` and ends with ``$$`` on a later line; 0 if
    there is no formula. A formula may not contain an empty line, so that an unclosed ``$$`` affects only its own
    paragraph."""
    text = _text(state, start_line)
    if not (text.startswith(_MARK) and _MARK not in text[2:]):
        return 0
    for line in range(start_line + 1, end_line):
        if state.isEmpty(line) or state.sCount[line] < state.blkIndent:
            return 0
        if _MARK in _text(state, line):
            return line + 1
    return 0


def _text(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]
