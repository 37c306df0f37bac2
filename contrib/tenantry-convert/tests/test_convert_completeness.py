"""Nothing is left out of a conversion in silence: texts made of every construct, in every position."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from tenantry.sql import SQLTemplate
from tenantry_convert import ConvertedQuery, convert

POSITIONS = (
    "select {0} from t",
    "select '{0}' from t",
    "select 'a {0} b' from t",
    'select "{0}" from t',
    "select 1 from {0}",
    "select 1 from t where {0}",
    "select 1 from t where a = {0} and b > {0}",
    "select 1 from t where a in ({0})",
    "select 1 from t where a not in ({0})",
    "select 1 from t where a like '%{0}%'",
    "select 1 from t order by {0} desc",
    "select 1 from t limit {0}",
    "select 1 -- {0}",
    "select /* {0} */ 1",
    "select $${0}$$",
    "select date '{0}'",
    "select a{0} from t",
    "select 1 from t where a = {0}::int",
)
GRAFANA = (
    *("$x", "${x}", "${x:csv}", "${x:regex}", "[[x]]", "[[x:csv]]", "$__from", "${__to:date:iso}", "$__interval"),
    *("$__timeFilter(at)", "$__timeGroup(at, '5m')", "$__timeGroup(at, $__interval, 0)", "$__unknown(a)", "$__x"),
    *("${__user.login}", "$__timeFrom()", "$__timeFilter(at", "{{legend}}", "{% x %}"),
)
METABASE = (
    *("{{x}}", "{{ x y }}", "[[ and a = {{x}} ]]", "[[{{x}} --]] 'a'", "[[{{x}} --]] now()", "{{snippet: a}}"),
    *("{{#5-a}}", "{{mb.time_grouping('u', 'at')}}", "{{mb.other('a')}}", "{{x + 1}}", "{{}}", "{{x", "{% x %}", "]]"),
    *("[[ no tag ]]", "{{x|y}}", "{{'a'}}"),
)

_GRAFANA_SIGN = re.compile(r"\$\{?[A-Za-z_]\w*|\[\[\w+(?::\w+)?\]\]")
_METABASE_SIGN = re.compile(r"\{\{(?!\s*(?:params\.\w+(?:\s*\||\s*\}\})|>))|\{%")
_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)


def texts(constructs: tuple[str, ...]) -> st.SearchStrategy[str]:
    one = st.builds(lambda position, construct: position.replace("{0}", construct), st.sampled_from(POSITIONS),
                    st.sampled_from(constructs))  # fmt: skip
    return st.lists(one, min_size=1, max_size=3).map("\nunion all ".join)


def check(query: ConvertedQuery, foreign: re.Pattern[str]) -> None:
    """Of a whole query nothing foreign remains, and it compiles; what remains of another one is listed."""
    if query.whole:
        SQLTemplate(query.body, query.dialect, params=query.params, fragments={})
        assert foreign.search(_COMMENT.sub(" ", query.body.replace(r"\{", " "))) is None, query.body
    else:
        assert "not converted" in query.text
    for item in query.items:
        assert item.reason
        assert item.line >= 1
        assert item.column >= 1


@given(texts(GRAFANA))
def test_grafana(text: str) -> None:
    """Red when ``_GrafanaReader`` passes a construct over: without the branch of macros, of ``[[x]]``, of formats."""
    for query in convert(text, "grafana"):
        check(query, _GRAFANA_SIGN)


@given(texts(METABASE))
def test_metabase(text: str) -> None:
    """Red when ``_MetabaseReader`` passes a construct over, or takes a default with its comment."""
    for query in convert(text, "metabase"):
        check(query, _METABASE_SIGN)
