"""Where in a template an attack's query can stand. ``Q`` is a query with one column ``x`` of text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from tests.sql.guarding.attacks.trial import Attack

PLACEMENTS: Final = (
    "Q",
    "select * from (Q) q",
    "select q.x from countries c join (Q) q on 1 = 1",
    "select q.x from countries c left join (Q) as q on c.code <> q.x",
    "with q as (Q) select x from q",
    "with c as (select 1 as one), q as (Q), r as (select x from q) select x from r, c",
    "select code, (select max(x) from (Q) q) as x from countries",
    "select name as x from countries where name < (select max(x) from (Q) q)",
    "select name as x from countries where code = 'pe' or exists (select 1 from (Q) q where x > 'q')",
    "select max(name) as x from countries having max(name) < (select max(x) from (Q) q)",
    "select name as x from countries union all select x from (Q) q",
    "select x from (Q) q union select name from countries",
    "select case when name < (select max(x) from (Q) q) then 1 else 0 end as x from countries",
    "select count(*) as n, max(x) as x from (select x from (Q) a) b",
    "select name as x from countries where 1 = 1 [[ and name < {{ params.p }} or name < (select max(x) from (Q) q) ]]",
    "select name as x from countries [[ where code <> {{ params.absent }} ]] union all select x from (Q) q",
    "select x from (select name as x from countries where 1 = 0 [[ and code = {{ params.p }} ]]) c union all Q",
    "select {{ params.c | one_of(one: (select max(x) from (Q) q), two: 'two') }} as x from countries",
    "select x from {{ params.c | one_of(one: (Q), two: (select name as x from countries)) }} q",
    "select x from ({{> fragment }}) q",
    "/* ' */ select x from ( -- \"\n Q\n) q",
)
_PARAMS: Final = {
    "p": "text",
    "absent": "text",
    "c": {"type": "choice", "choices": ["one", "two"]},
}
_VIEWER: Final = {"p": "a", "c": "one"}


def placed(query: Attack, placement: str) -> Attack:
    """``query`` at this place."""
    if placement == "Q":
        return query
    inside = f"{query.text}\n" if "--" in query.text or "#" in query.text else query.text
    used = {name: kind for name, kind in _PARAMS.items() if f"params.{name}" in placement}
    viewer = {name: value for name, value in _VIEWER.items() if name in used}
    included = {"fragment": query.text} if "fragment" in placement else {}
    return replace(
        query,
        text=placement.replace("Q", inside),
        params={**query.params, **used},
        viewer={**query.viewer, **viewer},
        fragments={**query.fragments, **included},
    )


def everywhere(query: Attack) -> Iterator[Attack]:
    """``query`` at each place."""
    for placement in PLACEMENTS:
        yield placed(query, placement)
