"""Texts: what is checked of a text by its mark. Each check gives the text to use, or None if there is none to use."""

from __future__ import annotations

import re
from collections.abc import Callable

from tenantry_site.addresses import page_path
from tenantry_site.config.marks import (
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
    Mark,
)
from tenantry_site.config.quoting import clip, quoted
from tenantry_site.config.tree import Spot
from tenantry_site.config.walk import Walk

Check = Callable[[str, Spot, Walk], str | None]

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
_MAY_BE_EMPTY = frozenset({Mark.PLAIN, Mark.TITLE, Mark.PAIR, Mark.COLOR})


def read_text(mark: Mark, text: str, spot: Spot, walk: Walk) -> str | None:
    """The text as it goes into the model, or None. What is wrong with it is said."""
    if _CONTROL.search(text):
        message = f"{spot.words()} has control characters: {quoted(text)}"
        walk.notes.say(spot, "CFG054", message, "remove them")
        text = _CONTROL.sub("", text)
    if mark not in _MAY_BE_EMPTY and not text.strip():
        walk.notes.say(spot, "CFG044", f"{spot.words()} is empty", f"write {mark.value}")
        return None
    check = _CHECKS.get(mark)
    return text if check is None else check(text, spot, walk)


def _refused(text: str, spot: Spot, walk: Walk, unsafe: re.Pattern[str] = _UNSAFE) -> bool:
    """Whether the address would run code; then it is said."""
    if unsafe.search(text) is None:
        return False
    message = f"{spot.words()} is {quoted(text)}, an address that would run code in the page"
    walk.notes.say(spot, "CFG047", message, "write a path of the site, or an address with https://")
    return True


def _completed(text: str, spot: Spot, walk: Walk) -> str | None:
    """The address with its scheme, if that is all that it lacks."""
    if _MAIL.search(text):
        message = f"{spot.words()} is {quoted(text)}, which has no mailto:; it is read as if it had"
        walk.notes.say(spot, "CFG049", message, f"write {quoted('mailto:' + text.strip())}")
        return f"mailto:{text.strip()}"
    if _BARE_HOST.search(text) is None:
        return None
    scheme = "http" if text.strip().startswith(("localhost", "127.")) else "https"
    whole = f"{scheme}://{text.strip()}"
    message = f"{spot.words()} is {quoted(text)}, which has no {scheme}://; it is read as if it had"
    walk.notes.say(spot, "CFG049", message, f"write {quoted(whole)}")
    return whole


def _other(text: str, spot: Spot, walk: Walk, fix: str) -> str | None:
    """Says that an address is not followed, and gives none."""
    walk.notes.say(spot, "CFG048", f"{spot.words()} is {quoted(text)}, which is no address that is followed here", fix)
    return None


def _link(text: str, spot: Spot, walk: Walk) -> str | None:
    if _refused(text, spot, walk):
        return None
    whole = _completed(text, spot, walk)
    if whole is not None:
        return whole
    if _SCHEME.search(text) and not _FOLLOWED.search(text):
        return _other(text, spot, walk, "write a path of the site, or an address with https://, mailto: or tel:")
    return text.strip()


def _prefix(text: str, spot: Spot, walk: Walk) -> str | None:
    link = _link(text, spot, walk)
    if link is not None and not _SCHEME.search(link):
        walk.texts[Mark.PREFIX].append((link, spot))
    return link


def _account(text: str, spot: Spot, walk: Walk) -> str | None:
    if _refused(text, spot, walk):
        return None
    whole = _completed(text, spot, walk)
    if whole is None and not _FOLLOWED.search(text):
        handle = clip(text.strip().lstrip("@/"), 30)
        return _other(text, spot, walk, f'write the whole address of the account: "https://…/{handle}"')
    return whole or text.strip()


def _base(text: str, spot: Spot, walk: Walk) -> str | None:
    if _refused(text, spot, walk):
        return None
    whole = None if _MAIL.search(text) else _completed(text, spot, walk)
    if whole is None and not _WEB.search(text):
        return _other(text, spot, walk, 'write an absolute address: "https://api.example.com"')
    return whole or text.strip()


def _file(mark: Mark) -> Check:
    unsafe = _UNSAFE if mark is Mark.OPENAPI else _UNSAFE_IMAGE

    def check(text: str, spot: Spot, walk: Walk) -> str | None:
        if _refused(text, spot, walk, unsafe):
            return None
        if _WEB.search(text):
            return text.strip()
        if _SCHEME.search(text):
            return _other(text, spot, walk, "write the path of a file of the site, or an address with https://")
        walk.texts[mark].append((text.strip(), spot))
        return text.strip()

    return check


def _source(text: str, spot: Spot, walk: Walk) -> str | None:
    return None if _refused(text, spot, walk) else text.strip()


def _color(text: str, spot: Spot, walk: Walk) -> str | None:
    if _HEX.search(text):
        if len(text) in (5, 9):
            message = f"{spot.words()} is {quoted(text)}: a colour with transparency, which some programs refuse"
            walk.notes.say(spot, "CFG051", message, "write # and six digits")
        return text
    digits = _DIGITS.fullmatch(text.strip())
    fix = f'write "#{digits[1]}"' if digits else 'write # and three or six digits of 0 to 9 and a to f: "#2f5bd8"'
    told = "; it is read as if it were" if digits else ""
    walk.notes.say(spot, "CFG050", f"{spot.words()} is {quoted(text)}, not a hexadecimal colour{told}", fix)
    return f"#{digits[1]}" if digits else None


def _icon(text: str, spot: Spot, walk: Walk) -> str | None:
    if _STYLED_ICON.search(text) is None:
        return text.strip()
    name = text.strip().split()[-1].removeprefix("fa-")
    message = f"{spot.words()} is {quoted(text)}: a name here has no prefix"
    walk.notes.say(spot, "CFG053", message, f"write {quoted(name)}")
    return name or None


def _page(text: str, spot: Spot, walk: Walk) -> str | None:
    if _SCHEME.search(text):
        fix = "a page is a file of the site; to lead elsewhere, make a page whose front matter has url"
        return _other(text, spot, walk, fix)
    if "\\" in text:
        whole = text.replace("\\", "/")
        message = f"{spot.words()} is {quoted(text)}, which is read as {quoted(whole)}"
        walk.notes.say(spot, "CFG045", message, f"write {quoted(whole)}: / stands between folders")
        text = whole
    path = page_path(text)
    if path is None:
        message = f"{spot.words()} is {quoted(text)}, which leads out of the site's folder"
        walk.notes.say(spot, "CFG060", message, "move the page into the folder and write its path from there")
        return None
    walk.texts[Mark.PAGE].append((path, spot))
    return text


def _gather(mark: Mark) -> Check:
    def check(text: str, spot: Spot, walk: Walk) -> str:
        walk.texts[mark].append((text, spot))
        return text

    return check


_CHECKS: dict[Mark, Check] = {
    Mark.LINK: _link,
    Mark.PREFIX: _prefix,
    Mark.ACCOUNT: _account,
    Mark.BASE: _base,
    Mark.IMAGE: _file(Mark.IMAGE),
    Mark.FAVICON: _file(Mark.FAVICON),
    Mark.OPENAPI: _file(Mark.OPENAPI),
    Mark.SOURCE: _source,
    Mark.COLOR: _color,
    Mark.ICON: _icon,
    Mark.PAGE: _page,
    Mark.VERSION: _gather(Mark.VERSION),
    Mark.NEW_VERSION: _gather(Mark.NEW_VERSION),
}


def text_schema(mark: Mark, *, strict: bool) -> list[dict[str, object]]:
    """What a schema says of a text beside its type: the lenient one has errors, the strict one also warnings."""
    rules: list[dict[str, object]] = []
    for pattern, wanted, is_error in PATTERNS[mark]:
        if is_error or strict:
            rule: dict[str, object] = {"pattern": pattern}
            rules.append(rule if wanted else {"not": rule})
    return rules
