"""Carriers: where a request may carry its user group token."""

from __future__ import annotations

from dataclasses import dataclass, fields

from tenantry.middleware.custom_carriers import HTTP_TOKEN, Carrier, require_carrier

_PLACEHOLDER = "{token}"


@dataclass(frozen=True, slots=True)
class Carriers:
    """Where a request may carry its token. Every one is read: two different tokens in one request are refused.

    ``headers`` hold the bare token, except ``Authorization``, which is ours only with one of ``schemes``.
    ``paths`` are templates (``/embed/{token}``) or names of path parameters that a router has read already.
    ``custom`` are carriers of your own.
    """

    headers: tuple[str, ...] = ()
    schemes: tuple[str, ...] = ()
    cookies: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    custom: tuple[Carrier, ...] = ()

    def __post_init__(self) -> None:
        for carrier in self.custom:
            require_carrier(carrier)

    @property
    def vary(self) -> str:
        """The Vary header of every response: the request headers that it depends on (RFC 9110 section 12.5.5)."""
        names = [*self.headers, "Cookie"] if self.cookies else [*self.headers]
        for name in (name for carrier in self.custom for name in carrier.headers):
            if name.lower() not in {known.lower() for known in names}:
                names.append(name)
        return ", ".join(names)


def header(*names: str, scheme: str = "UserGroup") -> Carriers:
    """Headers: without names ``X-User-Group-Token``, ``USER_GROUP_TOKEN`` and ``Authorization: <scheme> <token>``.

    Names are compared without case. ``Authorization`` with another scheme is left alone: it is somebody else's. Some
    proxies drop a header with underscores unless they are configured not to.
    """
    chosen = names or ("X-User-Group-Token", "USER_GROUP_TOKEN", "Authorization")
    for name in (*chosen, scheme):
        _require_token(name, "a header name or scheme")
    if any(name.lower() == "cookie" for name in chosen):
        raise ValueError("the Cookie header is read by cookie(name)")
    return Carriers(
        headers=chosen, schemes=(scheme,) if any(name.lower() == "authorization" for name in chosen) else ()
    )


def cookie(name: str = "USER_GROUP_TOKEN") -> Carriers:
    """A cookie. Names are compared with case (RFC 6265)."""
    _require_token(name, "a cookie name")
    return Carriers(cookies=(name,))


def query(name: str = "USER_GROUP_TOKEN") -> Carriers:
    """A query parameter. Names are compared with case, after percent-decoding."""
    if not name.isascii() or not name.isprintable() or not name.strip():
        raise ValueError(f"a query parameter's name is printable ASCII, not {name!r}")
    return Carriers(queries=(name,))


def path(where: str) -> Carriers:
    """A path segment: a template such as ``/embed/{token}``, or the name of a path parameter.

    A template is compared with the start of the path below the mount point; what follows the token may be anything. A
    name serves where a router runs before the middleware (``Mount("/embed/{token}", …)``). A token in a path ends up
    in histories and in the logs of proxies: prefer a header or a cookie. For the app the segment is masked.
    """
    if where.startswith("/"):
        segments = where.split("/")[1:]
        if segments.count(_PLACEHOLDER) != 1 or any("{" in part for part in segments if part != _PLACEHOLDER):
            raise ValueError(
                f"a path template has one segment {_PLACEHOLDER}, as in '/embed/{_PLACEHOLDER}', not {where!r}"
            )
        if segments[-1] != _PLACEHOLDER:
            raise ValueError(f"a path template ends with {_PLACEHOLDER}: what follows it is never read ({where!r})")
    elif not where.isidentifier():
        raise ValueError(f"path() takes a template that starts with '/' or the name of a parameter, not {where!r}")
    return Carriers(paths=(where,))


def first_of(*carriers: Carriers | Carrier) -> Carriers:
    """Any of these, also carriers of your own. The first that holds a token gives it, the others must agree: two
    different tokens are refused. Raises TypeError for what is no carrier."""
    if not carriers:
        raise ValueError("first_of() takes at least one carrier")
    merged = [each if isinstance(each, Carriers) else Carriers(custom=(each,)) for each in carriers]
    custom = {id(carrier): carrier for each in merged for carrier in each.custom}  # one of them may have no hash
    return Carriers(
        **{
            field.name: tuple(dict.fromkeys(name for each in merged for name in getattr(each, field.name)))
            for field in fields(Carriers)
            if field.name != "custom"
        },
        custom=tuple(custom.values()),
    )


def _require_token(name: str, what: str) -> None:
    if not HTTP_TOKEN.fullmatch(name):
        raise ValueError(f"{name!r} is not {what} (RFC 9110 section 5.6.2)")


DEFAULT_CARRIERS = first_of(header(), cookie(), query())
"""Every header of ``header()``, the cookie and the query parameter ``USER_GROUP_TOKEN``."""
