"""Form: the inputs of the playground. Its script reads them; without one nothing of it can be sent.

No input has a ``name``: what a reader types never gets into an address, whatever happens to the script.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from markupsafe import Markup, escape

from tenantry_site.reference import request
from tenantry_site.reference.html.blocks import PageIds, server_label
from tenantry_site.reference.operation import Body, Credential, Endpoint, Media, Variable
from tenantry_site.reference.request import Control

_FORM: Final = Markup(
    '<form class="try" id="{}" aria-label="Try it" autocomplete="off" novalidate data-try>'
    '<p class="try-title">Try it</p>{}<div class="try-actions">'
    '<button type="submit" class="try-send" data-send>Send</button>'
    '<button type="button" class="try-stop" data-stop hidden>Stop</button></div>'
    '<p class="try-note" data-note hidden></p><div class="try-answer" data-answer hidden></div>'
    '<p class="visually-hidden" role="status" data-live></p></form>'
)
_SET: Final = Markup('<fieldset class="try-set"{}><legend>{}</legend>{}</fieldset>')
_MORE: Final = Markup('<details class="try-more"><summary>{}</summary>{}</details>')
_ROW: Final = Markup('<div class="try-row"><label for="{}">{}</label>{}</div>')
_LABEL: Final = Markup('<code>{}</code> <span class="try-type">{}</span>{}')
_REQUIRED: Final = Markup(' <span class="try-required">required</span>')
_INPUT: Final = Markup('<input id="{}" type="{}"{} autocomplete="off" spellcheck="false">')
_AREA: Final = Markup('<textarea id="{}" rows="{}"{} spellcheck="false">{}</textarea>')
_SELECT: Final = Markup('<select id="{}"{}>{}</select>')
_OPTION: Final = Markup('<option value="{}"{}>{}</option>')
_REVEAL: Final = Markup(
    '<span class="try-secret">{}<button type="button" class="try-reveal" data-reveal="{}" aria-pressed="false">'
    "Show</button></span>"
)
_PREFIXED: Final = Markup(
    '<span class="try-prefixed"><span class="try-prefix" id="{}"><span class="visually-hidden">Begins with </span>'
    "<code>{}</code></span>{}</span>"
)
_PART: Final = Markup('<div class="try-part"{}{}>{}</div>')

_LOCATIONS: Final = {
    "path": "Path parameters",
    "query": "Query parameters",
    "header": "Headers",
    "cookie": "Cookies",
}
_HIDDEN: Final = Markup(" hidden")
_ROWS: Final = (4, 14)


def form(endpoint: Endpoint, name: str, names: PageIds) -> Markup:
    """The form; ``name`` is its id."""
    rendered = _Form(names)
    parts = [*rendered.variables(endpoint), rendered.authorization(endpoint.authorization)]
    inputs = request.of_parameters(endpoint.parameters)
    parts += [
        rendered.parameters(location, [one for one in inputs if one.location == location]) for location in _LOCATIONS
    ]
    if endpoint.body is not None:
        parts.append(rendered.body(endpoint.body))
    return _FORM.format(name, Markup().join(parts))


class _Form:
    def __init__(self, names: PageIds) -> None:
        self._names = names

    def variables(self, endpoint: Endpoint) -> Iterable[Markup]:
        for index, server in enumerate(endpoint.servers):
            if server.variables:
                rows = Markup().join(map(self._variable, server.variables))
                mark = Markup(' data-server="{}"{}').format(index, _HIDDEN if index else "")
                yield _SET.format(
                    mark, f"Server {server_label(server)}" if len(endpoint.servers) > 1 else "Server", rows
                )

    def _variable(self, one: Variable) -> Markup:
        name = self._names.new(f"try-{one.name}")
        mark = Markup(' data-variable="{}"').format(one.name)
        if one.enum:
            return self._row(name, one.name, "", _SELECT.format(name, mark, _options(one.enum, one.default)))
        return self._row(name, one.name, "", _INPUT.format(name, "text", mark + _value(one.default)))

    def authorization(self, ways: Sequence[Sequence[Credential]]) -> Markup:
        if not ways:
            return Markup()
        parts = [
            _PART.format(Markup(' data-way="{}"').format(index), _HIDDEN if index else "", self._way(way))
            for index, way in enumerate(ways)
        ]
        choice = Markup()
        if len(ways) > 1:
            name = self._names.new("try-way")
            options = Markup().join(_OPTION.format(index, "", _way_words(way)) for index, way in enumerate(ways))
            choice = self._row(
                name,
                "Sign in with",
                "",
                _SELECT.format(name, Markup(' data-ways data-chooses="way"'), options),
                code=False,
            )
        return _SET.format("", "Authorization", choice + Markup().join(parts))

    def _way(self, way: Sequence[Credential]) -> Markup:
        rows = []
        for index, credential in enumerate(way):
            for part, words in enumerate(credential.labels):
                name = self._names.new(f"try-{words}")
                mark = Markup(' data-credential="{}" data-part="{}"').format(index, part)
                shown = credential.kind == "basic" and part == 0
                field = self._prefixed(name, "text" if shown else "password", mark, "" if part else credential.prefix)
                kind = "" if credential.kind == "basic" else credential.kind
                rows.append(self._row(name, words, kind, field if shown else _REVEAL.format(field, name)))
        return Markup().join(rows) or Markup('<p class="try-note">Nothing is needed.</p>')

    def _prefixed(self, name: str, kind: str, mark: Markup, prefix: str) -> Markup:
        """An input, behind the prefix that is always sent: it is no part of what the reader types or pastes."""
        if not prefix:
            return _INPUT.format(name, kind, mark)
        about = self._names.new(f"{name}-prefix")
        mark += Markup(' data-prefix="{}" aria-describedby="{}"').format(prefix, about)
        return _PREFIXED.format(about, prefix, _INPUT.format(name, kind, mark))

    def parameters(self, location: str, inputs: Sequence[Control]) -> Markup:
        return _SET.format("", _LOCATIONS[location], self._rows(inputs)) if inputs else Markup()

    def _rows(self, inputs: Sequence[Control]) -> Markup:
        needed = [self._control(one) for one in inputs if one.required]
        spare = [self._control(one) for one in inputs if not one.required]
        rows = Markup().join(needed)
        if len(spare) <= 2:  # a fold of two is longer than the two
            return rows + Markup().join(spare)
        return rows + _MORE.format(f"{len(spare)} optional", Markup().join(spare))

    def _control(self, one: Control) -> Markup:
        name = self._names.new(f"try-{one.name}")
        mark = Markup(' data-in="{}" data-name="{}" data-kind="{}"').format(one.location, one.name, one.kind)
        if one.style != "form" or not one.explode or one.whole:
            style = "whole" if one.whole else one.style
            mark += Markup(' data-style="{}"{}').format(style, "" if one.explode else Markup(" data-joined"))
        if one.required:
            mark += Markup(" required")
        if one.placeholder and one.kind in ("text", "number", "list", "json"):
            mark += Markup(' placeholder="{}"').format(one.placeholder[:80])
        return self._row(name, one.name, _type(one), _field(name, one, mark), required=one.required)

    def body(self, body: Body) -> Markup:
        choice = Markup()
        if len(body.media) > 1:
            name = self._names.new("try-content-type")
            options = Markup().join(_OPTION.format(index, "", one.type) for index, one in enumerate(body.media))
            select = _SELECT.format(name, Markup(' data-types data-chooses="media"'), options)
            choice = self._row(name, "Content type", "", select, code=False)
        parts = [
            _PART.format(
                Markup(' data-media="{}"').format(index), _HIDDEN if index else "", self._media(one, body.required)
            )
            for index, one in enumerate(body.media)
        ]
        return _SET.format("", "Body", choice + Markup().join(parts))

    def _media(self, media: Media, required: bool) -> Markup:
        if media.form in ("form", "multipart"):
            return self._rows(request.of_form(media)) or self._text(media, required)
        if media.form == "binary":
            name = self._names.new("try-file")
            field = _INPUT.format(name, "file", Markup(" data-body") + (Markup(" required") if required else ""))
            return self._row(name, "File", media.type, field, required=required, code=False)
        return self._text(media, required)

    def _text(self, media: Media, required: bool) -> Markup:
        before = Markup()
        if len(media.examples) > 1:
            name = self._names.new("try-example")
            options = Markup().join(_OPTION.format(one.text, "", one.summary or one.name) for one in media.examples)
            before = self._row(name, "Example", "", _SELECT.format(name, Markup(" data-examples"), options), code=False)
        name = self._names.new("try-body")
        text = media.examples[0].text if media.examples else ""
        rows = min(max(text.count("\n") + 1, _ROWS[0]), _ROWS[1])
        mark = Markup(" data-body") + (Markup(" required") if required else "")
        return before + self._row(
            name, media.type, "", _AREA.format(name, rows, mark, _textarea_text(text)), required=required
        )

    def _row(
        self, name: str, words: str, kind: str, field: Markup, *, required: bool = False, code: bool = True
    ) -> Markup:
        text = _LABEL.format(words, kind, _REQUIRED if required else "") if code else escape(words)
        return _ROW.format(name, text, field)


def _field(name: str, one: Control, mark: Markup) -> Markup:
    if one.kind == "select":
        first = Markup() if one.required and one.value else _OPTION.format("", "", "not sent")
        return _SELECT.format(name, mark, first + _options(one.options, one.value))
    if one.kind in ("list", "json"):
        return _AREA.format(name, min(max(one.value.count("\n") + 1, 2), _ROWS[1]), mark, _textarea_text(one.value))
    if one.kind == "file":
        return _INPUT.format(name, "file", mark)
    more = Markup(' inputmode="decimal"') if one.kind == "number" else Markup()
    return _INPUT.format(name, "text", mark + more + _value(one.value))


def _options(values: Iterable[str], chosen: str) -> Markup:
    return Markup().join(
        _OPTION.format(value, Markup(" selected") if value == chosen else "", value) for value in values
    )


def _value(text: str) -> Markup:
    return Markup(' value="{}"').format(text) if text else Markup()


def _textarea_text(text: str) -> str:
    """A text area loses a line break at its start; a second one before it is lost instead."""
    return f"\n{text}" if text.startswith("\n") else text


def _type(one: Control) -> str:
    words = {"list": "one value a line", "json": "JSON"}.get(one.kind, "")
    return f"{one.words}, {words}" if words and one.words else one.words or words


def _way_words(way: Sequence[Credential]) -> str:
    if not way:
        return "Nothing"
    return " and ".join(one.words for one in way)
