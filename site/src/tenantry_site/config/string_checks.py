"""Checks of strings. The function for each ``StringKind`` reports problems, and returns the string for the model or
None if the string is unusable."""

from __future__ import annotations

import re
from collections.abc import Callable

from tenantry_site.addresses import page_path
from tenantry_site.config.diagnostics import ReadContext
from tenantry_site.config.source import JsonPath, clip, quoted
from tenantry_site.config.string_kinds import (
    BARE_HOST,
    CONTROL,
    FOLLOWED,
    HEX,
    MAIL,
    PATTERNS,
    SCHEME,
    STYLED_ICON,
    UNSAFE,
    UNSAFE_IMAGE,
    WEB,
    StringKind,
)

StringCheck = Callable[[str, JsonPath, ReadContext], str | None]

_CONTROL = re.compile(CONTROL)
_UNSAFE = re.compile(UNSAFE)
_UNSAFE_IMAGE = re.compile(UNSAFE_IMAGE)
_BARE_HOST = re.compile(BARE_HOST)
_FOLLOWED = re.compile(FOLLOWED)
_MAIL = re.compile(MAIL)
_WEB = re.compile(WEB)
_SCHEME = re.compile(SCHEME)
_HEX = re.compile(HEX)
_DIGITS = re.compile(r"#?((?:[0-9a-fA-F]{3}){1,2})")
_STYLED_ICON = re.compile(STYLED_ICON)
_MAY_BE_EMPTY = frozenset({StringKind.PLAIN, StringKind.TITLE, StringKind.PAIR, StringKind.COLOR})


def check_string(kind: StringKind, text: str, location: JsonPath, context: ReadContext) -> str | None:
    """Check a string of any kind and report its problems. Return the string for the model, or None if it is
    unusable."""
    if _CONTROL.search(text):
        message = f"{location.display()} has control characters: {quoted(text)}"
        context.diagnostics.add(location, "CFG054", message, "remove them")
        text = _CONTROL.sub("", text)
    if kind not in _MAY_BE_EMPTY and not text.strip():
        context.diagnostics.add(location, "CFG044", f"{location.display()} is empty", f"write {kind.value}")
        return None
    check = _CHECKS.get(kind)
    return text if check is None else check(text, location, context)


def _runs_code(text: str, location: JsonPath, context: ReadContext, unsafe: re.Pattern[str] = _UNSAFE) -> bool:
    """Whether the address would run code in the page. If so, report this."""
    if unsafe.search(text) is None:
        return False
    message = f"{location.display()} is {quoted(text)}, an address that would run code in the page"
    context.diagnostics.add(location, "CFG047", message, "write a path of the site, or an address with https://")
    return True


def _with_scheme(text: str, location: JsonPath, context: ReadContext) -> str | None:
    """If the string is an email address or a host name without a scheme, report this and return the string with the
    scheme; else None."""
    if _MAIL.search(text):
        message = f"{location.display()} is {quoted(text)}, a mail address without mailto:, which is added"
        context.diagnostics.add(location, "CFG049", message, f"write {quoted('mailto:' + text.strip())}")
        return f"mailto:{text.strip()}"
    if _BARE_HOST.search(text) is None:
        return None
    scheme = "http" if text.strip().startswith(("localhost", "127.")) else "https"
    whole = f"{scheme}://{text.strip()}"
    message = f"{location.display()} is {quoted(text)}, an address without {scheme}://, which is added"
    context.diagnostics.add(location, "CFG049", message, f"write {quoted(whole)}")
    return whole


def _report_not_followed(text: str, location: JsonPath, context: ReadContext, fix: str) -> str | None:
    message = f"{location.display()} is {quoted(text)}, which is not an address that is supported here"
    context.diagnostics.add(location, "CFG048", message, fix)
    return None


def _link(text: str, location: JsonPath, context: ReadContext) -> str | None:
    if _runs_code(text, location, context):
        return None
    whole = _with_scheme(text, location, context)
    if whole is not None:
        return whole
    if _SCHEME.search(text) and not _FOLLOWED.search(text):
        return _report_not_followed(
            text, location, context, "write a path of the site, or an address with https://, mailto: or tel:"
        )
    return text.strip()


def _prefix(text: str, location: JsonPath, context: ReadContext) -> str | None:
    link = _link(text, location, context)
    if link is not None and not _SCHEME.search(link):
        context.strings[StringKind.PREFIX].append((link, location))
    return link


def _account(text: str, location: JsonPath, context: ReadContext) -> str | None:
    if _runs_code(text, location, context):
        return None
    whole = _with_scheme(text, location, context)
    if whole is None and not _FOLLOWED.search(text):
        handle = clip(text.strip().lstrip("@/"), 30)
        return _report_not_followed(
            text, location, context, f'write the complete address of the account: "https://…/{handle}"'
        )
    return whole or text.strip()


def _base(text: str, location: JsonPath, context: ReadContext) -> str | None:
    if _runs_code(text, location, context):
        return None
    whole = None if _MAIL.search(text) else _with_scheme(text, location, context)
    if whole is None and not _WEB.search(text):
        return _report_not_followed(text, location, context, 'write an absolute address: "https://api.example.com"')
    return whole or text.strip()


def _file(kind: StringKind) -> StringCheck:
    unsafe = _UNSAFE if kind is StringKind.OPENAPI else _UNSAFE_IMAGE

    def check(text: str, location: JsonPath, context: ReadContext) -> str | None:
        if _runs_code(text, location, context, unsafe):
            return None
        if _WEB.search(text):
            return text.strip()
        if _SCHEME.search(text):
            return _report_not_followed(
                text, location, context, "write the path of a file of the site, or an address with https://"
            )
        context.strings[kind].append((text.strip(), location))
        return text.strip()

    return check


def _source(text: str, location: JsonPath, context: ReadContext) -> str | None:
    return None if _runs_code(text, location, context) else text.strip()


def _color(text: str, location: JsonPath, context: ReadContext) -> str | None:
    if _HEX.search(text):
        if len(text) in (5, 9):
            message = f"{location.display()} is {quoted(text)}: a colour with transparency, which some programs refuse"
            context.diagnostics.add(location, "CFG051", message, "write # and six digits")
        return text
    digits = _DIGITS.fullmatch(text.strip())
    fix = f'write "#{digits[1]}"' if digits else 'write # and three or six digits of 0 to 9 and a to f: "#2f5bd8"'
    suffix = "; it is read as one" if digits else ""
    context.diagnostics.add(
        location, "CFG050", f"{location.display()} is {quoted(text)}, not a hexadecimal colour{suffix}", fix
    )
    return f"#{digits[1]}" if digits else None


def _icon(text: str, location: JsonPath, context: ReadContext) -> str | None:
    if _STYLED_ICON.search(text) is None:
        return text.strip()
    name = text.strip().split()[-1].removeprefix("fa-")
    message = f"{location.display()} is {quoted(text)}: write the name of an icon without its prefix"
    context.diagnostics.add(location, "CFG053", message, f"write {quoted(name)}")
    return name or None


def _page(text: str, location: JsonPath, context: ReadContext) -> str | None:
    if _SCHEME.search(text):
        fix = "write the path of a page; to link to another site, create a page with url in its front matter"
        return _report_not_followed(text, location, context, fix)
    if "\\" in text:
        whole = text.replace("\\", "/")
        message = f"{location.display()} is {quoted(text)}, which is read as {quoted(whole)}"
        context.diagnostics.add(location, "CFG045", message, f"write {quoted(whole)}, with / between folders")
        text = whole
    path = page_path(text)
    if path is None:
        message = f"{location.display()} is {quoted(text)}, which leads out of the site's folder"
        context.diagnostics.add(
            location, "CFG060", message, "move the page into the folder and write its path from there"
        )
        return None
    context.strings[StringKind.PAGE].append((path, location))
    return text


def _collect(kind: StringKind) -> StringCheck:
    def check(text: str, location: JsonPath, context: ReadContext) -> str:
        context.strings[kind].append((text, location))
        return text

    return check


_CHECKS: dict[StringKind, StringCheck] = {
    StringKind.LINK: _link,
    StringKind.PREFIX: _prefix,
    StringKind.ACCOUNT: _account,
    StringKind.BASE: _base,
    StringKind.IMAGE: _file(StringKind.IMAGE),
    StringKind.FAVICON: _file(StringKind.FAVICON),
    StringKind.OPENAPI: _file(StringKind.OPENAPI),
    StringKind.SOURCE: _source,
    StringKind.COLOR: _color,
    StringKind.ICON: _icon,
    StringKind.PAGE: _page,
    StringKind.VERSION: _collect(StringKind.VERSION),
    StringKind.NEW_VERSION: _collect(StringKind.NEW_VERSION),
}


def string_schema(kind: StringKind, *, strict: bool) -> list[dict[str, object]]:
    """JSON Schema rules for a string of a kind. The lenient schema checks for errors, the strict one also for
    warnings."""
    rules: list[dict[str, object]] = []
    for pattern, wanted, is_error in PATTERNS[kind]:
        if is_error or strict:
            rule: dict[str, object] = {"pattern": pattern}
            rules.append(rule if wanted else {"not": rule})
    return rules
