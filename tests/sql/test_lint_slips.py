"""Slips that authors make, each of which a lint finds, and right queries beside them, about which none complains.

``<id>`` and ``<region>`` are variables of the group, ``<null>`` is a viewer's that may be NULL.
"""

from __future__ import annotations

import pytest

from tenantry.sql import SQLTemplate
from tenantry.sql.checks.lint import lint

PROPERTIES = {"region", "statuses"}
TAGS = {"<id>": "{{ user_group.id }}", "<region>": "{{ region }}", "<null>": "{{ params.x | nullable }}"}


def codes(sql: str, dialect: str) -> list[str]:
    for name, tag in TAGS.items():
        sql = sql.replace(name, tag)
    return [each.code for each in lint(SQLTemplate(sql, dialect), properties=PROPERTIES)]


# code -> dialect -> queries
SLIPS = {
    "or-beside-guarded": {
        "postgresql": [
            "select * from t where customer_id = <id> and a or b",
            "select * from t where not (customer_id = <id> and a) or b",
            "select count(*) filter (where customer_id = <id> and a or b) from t where customer_id = <id>",
            "select * from t where {{ region | one_of(x: customer_id = <id> and a or b, y: customer_id = <id>) }}",
            "select * from t join u on left(t.a, 3) = u.a and u.customer_id = <id> and right(u.b, 1) = 'x' or u.b",
            "select * from t join u on u.a = <region> and left(t.a or t.b, 3) or u.b",
            "delete from t where customer_id = <id> and a or b",
            "select * from t where customer_id = <id> and a [[ or b = {{ params.b }} ]]",
            "with x as (select * from t where customer_id = <id> and a or b) select * from x",
            (
                "select * from t where exists (select 1 from u where customer_id = <id> and a or b) and customer_id ="
                " <id>"
            ),
        ],
        "mysql": [
            "select * from t where customer_id = <id> and a || b",
            "select * from t where customer_id = <id> and a xor b",
            "select * from t where customer_id = <id> && a or b",
        ],
    },
    "not-in-null": {
        "postgresql": [
            "select * from t where customer_id = <id> and a not in (select b from u where customer_id = <id>)",
            "select * from t where customer_id = <id> and not a in (select b from u where customer_id = <id>)",
            "select * from t where customer_id = <id> and not (a in (1, null))",
            "select * from t where customer_id = <id> and a <> all (select b from u where customer_id = <id>)",
            "select case when a not in (1, null) then 1 end from t where customer_id = <id>",
            "select a not in (1, null) from t where customer_id = <id>",
        ],
    },
    "compared-with-nullable": {
        "postgresql": [
            "select * from t where customer_id = <id> and a = <null>",
            "select * from t where customer_id = <id> and a = cast(<null> as int)",
            "select * from t where customer_id = <id> and a = <null>::int",
            "select * from t where customer_id = <id> and <null>::int = a",
            "select * from t where customer_id = <id> and a like <null>",
            "select * from t where customer_id = <id> and a between <null> and 3",
            "select case when a = <null> then 1 end from t where customer_id = <id>",
            "select count(*) filter (where a = <null>) from t where customer_id = <id>",
        ],
    },
}
# dialect -> queries
RIGHT = {
    "postgresql": [
        "select * from orders where customer_id = <id> and (a or b)",
        "select a || b from orders where customer_id = <id> and a || b = 'x'",
        "select date_trunc('day', at), count(*) from orders where customer_id = <id> group by 1 order by 1",
        (
            "select * from sales.orders o join sales.items i on i.order_id = o.id and i.customer_id = o.customer_id "
            "where o.customer_id = <id>"
        ),
        'select * from "Orders" o where o."customer_id" = <id>',
        'select * from "public"."orders" where "public"."orders"."customer_id" = <id>',
        "select * from public.orders where orders.customer_id = <id>",
        "select * from public.countries",
        'select * from "countries" c',
        (
            "with o as (select * from orders where customer_id = <id>), i as (select i.* from items i join o on o.id "
            "= i.order_id and o.customer_id = i.customer_id) select * from o join i using (id)"
        ),
        "with o(id, n) as (select id, n from orders where customer_id = <id>) select * from o",
        (
            "with o as not materialized (select * from orders where customer_id = <id>) select * from o a join o b on"
            " a.id = b.id"
        ),
        (
            "select * from orders where customer_id = <id> union all select * from refunds where customer_id = <id> "
            "order by 1"
        ),
        (
            "select * from (select * from orders where customer_id = <id>) o join lateral (select * from items i "
            "where i.customer_id = <id> and i.order_id = o.id) x on true"
        ),
        (
            "select * from orders o where o.customer_id = <id> and exists (select 1 from items i where i.order_id = "
            "o.id and i.customer_id = o.customer_id)"
        ),
        ("select * from orders where customer_id = <id> and extract(year from at) = 2026 and status in {{ statuses }}"),
        (
            "select * from orders where customer_id = <id> and at >= now() - interval '1 day' [[ and (a = {{ params.a"
            " }} or b = {{ params.a }}) ]]"
        ),
        (
            "select g, count(o.id) from generate_series(1, 3) g left join orders o on o.n = g and o.customer_id = "
            "<id> group by g"
        ),
        "select * from orders where customer_id = <id> and (status <> 'x' or status is null)",
        "select * from orders where customer_id = <id> and id not in {{ statuses }}",
        (
            "select * from orders where customer_id = <id> and id not in (select order_id from refunds where "
            "customer_id = <id> and order_id is not null)"
        ),
        (
            "select * from orders where customer_id = <id> and not exists (select 1 from refunds r where "
            "r.customer_id = orders.customer_id and r.order_id = orders.id)"
        ),
        "select sum(case when a or b then 1 else 0 end) from orders where customer_id = <id>",
        "select row_number() over (partition by a order by b) from orders where customer_id = <id>",
        "select count(*) filter (where a or b) from orders where customer_id = <id>",
        "select * from orders natural join items where orders.customer_id = <id>",
        (
            "with recursive r as (select * from nodes where customer_id = <id> union all select n.* from nodes n join"
            " r on n.parent = r.id where n.customer_id = <id>) select * from r"
        ),
        (
            "with recursive r as (select * from nodes where customer_id = <id> union all select n.* from nodes n join"
            " r on n.parent = r.id and n.customer_id = r.customer_id) select * from r"
        ),
        "select * from orders where customer_id = <id> and a is not distinct from <null>",
        "select * from orders where customer_id = <id> and (<null>::int is null or a = <null>)",
        "select * from orders where customer_id = <id> and a >= coalesce(<null>::int, 3)",
        "select * from orders where customer_id = any({{ statuses | array }})",
        "select * from orders where (customer_id, region) = (<id>, <region>) and customer_id = <id>",
        "select 1 from orders where orders.customer_id=<id> limit 3 offset 2",
        "select x.* from (values (1, 2)) x(a, b)",
        "select * from unnest(array[1,2]) x join orders o on o.n = x where o.customer_id = <id>",
        "select * from json_to_recordset('[]') as x(a int) join orders o on o.n = x.a where o.customer_id = <id>",
        "select * from orders o where o.customer_id = <id> order by o.a or o.b",
        (
            "with d as (select generate_series(1, 3) n) select * from d left join orders o on o.n = d.n and "
            "o.customer_id = <id>"
        ),
        "select * from orders as o(customer_id, b) where o.customer_id = <id>",
        "select * from orders tablesample system (10) where customer_id = <id>",
        "select * from orders where customer_id = <id> for update",
        "select * from only orders where customer_id = <id>",
        "select case when customer_id = <id> then 1 end from orders where customer_id = <id>",
        "with a as (select * from orders where customer_id = <id>) select * from a where id in (select id from a)",
        (
            "with a as (select * from orders where customer_id = <id>) select * from a, lateral (select max(id) from "
            "a b where b.x = a.x) y"
        ),
        "select * from information_schema.tables t where t.customer_id = <id>",
        "select * from orders where customer_id = <id>::uuid",
        "select * from orders where lower(customer_id) = <id> and customer_id = <id>",
        (
            "select * from orders o join items i on (i.order_id = o.id and i.customer_id = o.customer_id) where "
            "o.customer_id = <id>"
        ),
        (
            "select * from orders where (select count(*) from items i where i.customer_id = orders.customer_id) > 3 "
            "and customer_id = <id>"
        ),
    ],
    "mysql": [
        "select * from orders where customer_id = <id> and (a || b)",
        "select * from orders o use index (a) join items i using (customer_id) where o.customer_id = <id>",
        (
            "select * from orders straight_join items on items.customer_id = orders.customer_id where "
            "orders.customer_id = <id>"
        ),
    ],
    "sqlite": [
        "select * from orders where customer_id = <id> and a || b = 'x'",
    ],
    "tsql": [
        "select * from [dbo].[orders] o where o.[customer_id] = <id>",
        "select top (5) * from orders with (nolock) where customer_id = <id>",
        (
            "select * from orders o cross apply (select max(x) m from items i where i.customer_id = o.customer_id) z "
            "where o.customer_id = <id>"
        ),
        "select * from orders o cross apply string_split(o.tags, ',') z where o.customer_id = <id>",
    ],
    "bigquery": [
        "select * from `p.d.orders` o where o.customer_id = <id>",
        "select * from `p.d.countries`",
        "select * from `p.d.orders` o, unnest(o.tags) t where o.customer_id = <id>",
    ],
    "duckdb": [
        "from orders select a where customer_id = <id> qualify row_number() over (partition by a) = 1",
        "pivot (select * from orders where customer_id = <id>) on a using sum(b)",
    ],
    "clickhouse": [
        "select * from orders final prewhere customer_id = <id> where a or b",
        "select * from orders array join tags as tag where customer_id = <id>",
    ],
    "snowflake": [
        "select o.id, f.value from orders o, lateral flatten(input => o.tags) f where o.customer_id = <id>",
    ],
}


@pytest.mark.parametrize(
    ("code", "dialect", "sql"),
    [(code, dialect, sql) for code, each in SLIPS.items() for dialect, texts in each.items() for sql in texts],
)
def test_a_slip_is_found(code: str, dialect: str, sql: str) -> None:
    """Red for each when the word, the join or the clause that it is about is not known."""
    assert code in codes(sql, dialect)


@pytest.mark.parametrize(("dialect", "sql"), [(dialect, sql) for dialect, texts in RIGHT.items() for sql in texts])
def test_a_right_query_has_no_finding(dialect: str, sql: str) -> None:
    """Red for each when what it writes is not understood: a false alarm teaches authors not to look."""
    assert codes(sql, dialect) == []
