"""SQL templates of three sizes: a small look-up, a report's panel, and a page-long statement."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Bound = tuple[str, tuple[Any, ...]]


@dataclass(frozen=True)
class Size:
    """Our template, the same for jinjasql and for SQLAlchemy, the values, and the function a person would write."""

    name: str
    template: str
    jinja: str
    sqlalchemy: str
    values: Mapping[str, Any]
    by_hand: Callable[[Mapping[str, Any]], Bound]


def _marks(values: list[Any]) -> str:
    return ", ".join(["?"] * len(values))


def small() -> Size:
    """Four lines, three variables."""
    head = "select id, amount\nfrom orders\nwhere region = "
    text = head + "{{ region }}\nand status = {{ status }} and amount >= {{ amount }}"
    fixed = head + "?\nand status = ? and amount >= ?"

    def by_hand(v: Mapping[str, Any]) -> Bound:
        return fixed, (v["region"], v["status"], v["amount"])

    plain = text.replace("{{ ", ":").replace(" }}", "")
    return Size("small", text, text, plain, {"region": "eu", "status": "open", "amount": 10.5}, by_hand)


def medium() -> Size:
    """Twelve lines, ten variables: a list of twenty, and two clauses that a viewer may leave out (given here)."""
    names = [f"v{number}" for number in range(7)]
    lines = [f"and t.c{number} = {{{{ {name} }}}}" for number, name in enumerate(names)]
    head = "select t.day, sum(t.amount)\nfrom orders t\nwhere t.region in "
    tail = "\ngroup by t.day"
    body = "\n".join(lines)
    optional = [("and t.day >= ", "since"), ("and t.day < ", "until")]
    ours = head + "{{ regions }}\n" + body + "".join(f"\n[[ {sql}{{{{ params.{name} }}}} ]]" for sql, name in optional)
    jinja = head + "{{ regions | inclause }}\n" + body
    jinja += "".join(f"\n{{% if params.{name} %}} {sql}{{{{ params.{name} }}}} {{% endif %}}" for sql, name in optional)
    alchemy = head + ":regions\n" + body.replace("{{ ", ":").replace(" }}", "")
    alchemy += "".join(f"\n{sql}:{name}" for sql, name in optional)
    values: dict[str, Any] = {name: number for number, name in enumerate(names)}
    values |= {"regions": [f"region {n}" for n in range(20)], "params": {"since": "2013-01-01", "until": "2014-01-01"}}
    middle = "\n" + "\n".join(f"and t.c{number} = ?" for number in range(7))

    def by_hand(v: Mapping[str, Any]) -> Bound:
        regions = v["regions"]
        sql = head + "(" + _marks(regions) + ")" + middle
        params = [*regions, v["v0"], v["v1"], v["v2"], v["v3"], v["v4"], v["v5"], v["v6"]]
        given = v["params"]
        for clause, name in optional:
            if given.get(name) is not None:
                sql += "\n" + clause + "?"
                params.append(given[name])
        return sql + tail, tuple(params)

    return Size("medium", ours + tail, jinja + tail, alchemy + tail, values, by_hand)


def large() -> Size:
    """Two hundred lines, forty variables: three lists of 25, four clauses that a viewer may leave out (given here)."""
    scalars = [f"s{number}" for number in range(33)]
    lists = ["l0", "l1", "l2"]
    optional = [f"o{number}" for number in range(4)]
    padding = "\n".join(f", coalesce(t.column_{number}, 0) as column_{number}" for number in range(156))
    head = f"select t.id\n{padding}\nfrom facts t\nwhere 1 = 1"
    ours = head + "".join(f"\nand t.{name} = {{{{ {name} }}}}" for name in scalars)
    both = ours
    ours += "".join(f"\nand t.{name} in {{{{ {name} }}}}" for name in lists)
    ours += "".join(f"\n[[ and t.{name} >= {{{{ params.{name} }}}} ]]" for name in optional)
    jinja = both + "".join(f"\nand t.{name} in {{{{ {name} | inclause }}}}" for name in lists)
    jinja += "".join(
        f"\n{{% if params.{name} %}} and t.{name} >= {{{{ params.{name} }}}} {{% endif %}}" for name in optional
    )
    alchemy = both.replace("{{ ", ":").replace(" }}", "") + "".join(f"\nand t.{name} in :{name}" for name in lists)
    alchemy += "".join(f"\nand t.{name} >= :{name}" for name in optional)
    values: dict[str, Any] = {name: number for number, name in enumerate(scalars)}
    values |= {name: list(range(25)) for name in lists}
    values["params"] = dict.fromkeys(optional, 1)
    fixed = head + "".join(f"\nand t.{name} = ?" for name in scalars)

    def by_hand(v: Mapping[str, Any]) -> Bound:
        parts = [fixed]
        params = [v[name] for name in scalars]
        for name in lists:
            parts.append(f"\nand t.{name} in ({_marks(v[name])})")
            params += v[name]
        given = v["params"]
        for name in optional:
            if given.get(name) is not None:
                parts.append(f"\nand t.{name} >= ?")
                params.append(given[name])
        return "".join(parts), tuple(params)

    return Size("large", ours, jinja, alchemy, values, by_hand)
