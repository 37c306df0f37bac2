"""Texts that most engines read."""

from __future__ import annotations

from typing import Final

from tests.sql.guarding.attacks.trial import Attack

QUERIES: Final = """
select note as x from t
select note x from t
select t.note as x from t
select a.note as x from t a
select a.note as x from t as a
SELECT NOTE AS x FROM T
Select Note As x From t
select ^note^ as x from ^t^
select ^t^.^note^ as x from ^t^
select ^T^.note as x from ^T^
select note as x from SCHEMA.t
select t.note as x from SCHEMA.t
select SCHEMA.t.note as x from SCHEMA.t
select note as x from ^SCHEMA^.^t^
select note as x from SCHEMA . t
select note as x from SCHEMA.o
select x.note as x from t x
select note as x from (t)
select note as x from ((t))
select note as x from (select * from t) s
select x from (select note as x from (select * from t) a) b
select note as x from vault
select note as x from v_t
select note as x from items
select items.note as x from items
select i.note as x from items i join o on o.id = i.o_id
select i.note as x from items i left join o on o.id = i.o_id
select note as x from docs
select d.note as x from docs as d
select note as x from docs where hidden or not hidden
with q as (select * from t) select note as x from q
with t as (select * from t) select note as x from t
with T as (select * from t) select note as x from t
with ^t^ as (select 'k' as note) select note as x from T
with ^T^ as (select 'k' as note) select note as x from t
with t as (select 'k' as note) select note as x from ^t^
with t as (select 'k' as note) select note as x from SCHEMA.t
with t(note) as (select note from t) select note as x from t
with a as (with t as (select 'k' as note) select * from t) select t.note as x from t, a
with a as (select note from t), t as (select 'k' as note) select note as x from a
with a as (select note as x from t), b as (select x from a), c as (select x from b) select x from c
with o as (select 1 as id, 'acme' as tenant) select note as x from items
with o as (select 3 as id, 'acme' as tenant union all select 4, 'acme') select note as x from items
with o as (select 3 as id, 'acme' as tenant) select i.note as x from items i join o on o.id = i.o_id
with a as (with o as (select 4 as id, 'acme' as tenant) select note from items) select note as x from a
with countries as (select note as name from t) select name as x from countries
with c as (select note from t union all select note from o) select note as x from c
with a as (select id from t) select (select max(note) from t where t.id in (select id from a)) as x
with recursive t as (select * from t) select note as x from t
with recursive t as (select note from t union all select note from t where 1 = 0) select note as x from t
with recursive q as (select * from t) select note as x from q
with recursive t as (select note from SCHEMA.t union all select note from t where 1 = 0) select note as x from t
with recursive r as (select 1 as n union all select n + 1 from r where n < 9) select t.note as x from r join t on t.id = r.n
with recursive r as (select id, note from t where id = 1 union all select t.id, t.note from t join r on t.id = r.id + 1) select note as x from r
with recursive a as (select note from b), b as (select note from t) select note as x from a
with recursive t as (select 1 as n, 'k' as note union all select n + 1, note from t where n < 2), b as (select note from t) select note as x from b
with recursive r(n, note) as (select 1, 'k' union all select n + 1, (select max(note) from t) from r where n < 2) select note as x from r
with recursive t as (select 'k' as note union all by name select note from t) select note as x from t
with recursive t as (select 'k' as note union by name select note from t) select note as x from t
with recursive t as (select 'k' as note union all (select note from t)) select note as x from t
with recursive t as ((select 'k' as note) union all (select note from t)) select note as x from t
with recursive t as ((select 'k' as note union all select note from t)) select note as x from t
with recursive t as (select 'k' as note union all select note from t limit 5) select note as x from t
with recursive t as (select 'k' as note union all select note from t order by 1) select note as x from t
with recursive t as (select 'k' as note union all select note from t order by 1 limit 20) select note as x from t
with recursive t as (select 'k' as note union distinct select note from t) select note as x from t
with recursive t as (select 'k' as note union select note from t) select note as x from t
with recursive t as (select 'k' as note union all select note from o union all select note from t) select note as x from t limit 9
with recursive t as (select 'k' as note union all (select note from o union all select note from t)) select note as x from t limit 9
with recursive t as (select 'k' as note union all (select note from o union select note from t)) select note as x from t
with recursive t as (select 'k' as note union all select note from (select note from t) s) select note as x from t limit 9
with recursive t as (select 'k' as note union all select (select max(note) from t)) select note as x from t limit 9
with recursive t as (select 'k' as note union all select max(note) from t) select note as x from t limit 9
with recursive t as (select 'k' as note union all select note from o where exists (select 1 from t where tenant = 'zqx1')) select note as x from t limit 9
with recursive t as (select 'k' as note union all select note from (with t as (select 'j' as note) select note from t) s) select note as x from t limit 9
with recursive t as (select 'k' as note union all (with z as (select note from t) select note from z)) select note as x from t limit 9
with recursive t as (select 'k' as note except select note from t) select note as x from t
with recursive t as (select 'k' as note intersect select note from t) select note as x from t
with recursive t as (select 'k' as note except all select note from t) select note as x from t
with recursive t(note) as (select 'k' union all select note from t) select note as x from t limit 9
with recursive t(note) as (values ('k') union all select note from t) select note as x from t limit 9
with recursive t as (select 'k' as note union all select t.note from t, t u) select note as x from t limit 9
with recursive t as (select 'k' as note union all select a.note from countries c left join t a on true) select note as x from t limit 9
with recursive q as (select 'k' as note union all select note from t) select note as x from q
with recursive Q as (select 'k' as note union all select note from q) select note as x from q limit 5
with recursive T as (select 'k' as note union all select note from T) select note as x from T limit 5
with recursive t as not materialized (select 'k' as note union all select note from t) select note as x from t limit 9
with recursive a as (select 1 as n), t as (select note from t) select note as x from t
with recursive t as (from t) select note as x from t
with recursive t as (select 'k' as note union all from t select note) select note as x from t limit 9
with recursive t as (select 'k' as note union all select note from t where 1 = 0), u as (select note from t) select note as x from u union all select note from t
select 'k' as x union all with t as (select 'j' as note) select note as x from t union all select note from t
select 'k' as x union distinct with t as (select 'j' as note) select note as x from t union all select note from t
select 'k' as x except with t as (select 'j' as note) select note as x from t union all select note from t
select 'k' as x union all (with t as (select 'j' as note) select note as x from t) union all select note from t
(with t as (select 'j' as note) select note as x from t) union all select note from t
with t as (select 'j' as note) select note as x from t union all select note from t union all with u as (select 1) select note from t
with t as (select 'j' as note) select note as x from t union all (with u as (select 1) select note from t)
with t as (select 'j' as note) select note as x from t union all ((with u as (select 1) (select note from t)))
with t as (select 'j' as note) (with u as (select 1) select note as x from t) union all select note from t
with t as (select 'j' as note) select note as x from t union all (with u as (select 1) select note from t union all select note from t)
with t as (select 'j' as note) select note as x from (select 'k' as note union all (with u as (select 1) select note from t)) q
with q as (select 'k' as note union all with t as (select 'j' as note) select note from t union all select note from t) select note as x from q
with b as (select note from t), a as (select note from b) select note as x from a union all select note from t
select note as x from t where 1 = 1
select note as x from t where tenant = 'zqx1'
select note as x from t where tenant <> {{ tenant }}
select note as x from t where tenant = {{ tenant }} or 1 = 1
select note as x from t where tenant = {{ tenant }} or amount > 5
select note as x from t where not (tenant = {{ tenant }})
select note as x from t where tenant is null or tenant = {{ tenant }}
select note as x from t where tenant like '%c%'
select note as x from t where lower(tenant) = lower({{ tenant }})
select note as x from t where tenant >= {{ tenant }}
select note as x from t where tenant not in ({{ tenant }}, 'other')
select note as x from t where case when tenant = {{ tenant }} then 1 else 1 end = 1
select note as x from t where coalesce(tenant, '') <> ''
select note as x from t where {{ tenant }} = {{ tenant }}
select note as x from t where id in (select id from t)
select note as x from t where exists (select 1 from o where o.tenant = {{ tenant }})
select note as x from t where id > (select min(id) from t)
select note as x from t where tenant = tenant
select b.note as x from t a join t b on a.tenant = {{ tenant }}
select o.note as x from t join o on o.t_id = t.id where t.tenant = {{ tenant }}
select o.note as x from t left join o on o.t_id = t.id and t.tenant = {{ tenant }}
select t.note as x from o right join t on o.t_id = t.id
select t.note as x from countries c cross join t
select t.note as x from countries c, t
select t.note as x from t, o where t.id = o.t_id
select o.note as x from t inner join o on true where t.tenant = {{ tenant }}
select t.note as x from (t join o on o.t_id = t.id)
select t.note as x from (o left join (t join countries c on 1 = 1) on o.t_id = t.id)
select b.note as x from t as a join t as b on b.id = a.id + 3
select o.note as x from t as o
select t.note as x from o as t
select o.note as x from t as o, o as t
select t.note as x from t join items on items.id = t.id
select countries.note as x from t as countries
select a.note as x from t a join o b on a.id = b.t_id join items c on c.o_id = b.id
select max(note) as x from t
select min(note) as x from t where tenant <> 'acme'
select max(note) as x from t group by region
select region as x from t group by region having max(amount) > 100
select note as x from t group by note
select distinct note as x from t
select note as x from t order by note desc
select note as x from t order by id desc limit 3
select note as x from t where id > 3 order by id limit 3 offset 1
select max(note) over (partition by region) as x from t
select first_value(note) over (order by id desc) as x from t
select (select max(note) from t) as x
select (select max(note) from t where t.id = c.id) as x from (select 4 as id) c
select coalesce((select max(o.note) from o where o.t_id = t.id), '-') as x from t
select case when exists (select 1 from t where tenant = 'zqx1') then 'zqx' else 'no' end as x
select case when (select count(*) from t) > 3 then 'zqx' else 'no' end as x
select note as x from t union all select note from o
select note as x from t union select note from o union all select note from items
select 'k' as x union all select note from t
select note as x from o except select 'k' as x from t
(select note as x from t)
select x from (select 'k' as x union all (select note from t)) u
select name as x from countries union all (select note from t order by id desc limit 1)
select name as x from countries where name in (select 'peru' from t where id > 3)
select name as x from countries where exists (select 1 from t where tenant = 'zqx1')
select name as x from countries where (select count(*) from t) > 3
select name as x from countries c where exists (select 1 from t where tenant = 'zqx2' and c.code = 'pe')
select s.note as x from (select a.*, 1 as one from t a) s
select s.note as x from (select t.* from t) s where s.tenant = 'zqx1'
select cast(note as char(20)) as x from t
select concat(note, '') as x from t
select replace(note, 'a', 'b') as x from t
select upper(note) as x from t
select substr(note, 1, 3) as x from t where id > 3
select note as x from t where region in ('eu', 'us')
select note as x from t where amount between 0 and 9999999
select note as x from t where id in (4, 5)
select note as x from t where id = 4 or id = 5
select case amount when 1000004 then 'zqx' else 'no' end as x from t
select x from (select note as x, row_number() over (order by id desc) as n from t) r where n = 1
select t.note as x from (select 'acme' as tenant) c join t on c.tenant = c.tenant
select tenant as x from t
select t.tenant as x from t
select tenant as x from (select 'acme' as tenant, note from t) s where note like 'z%'
"""

_WORDS: Final = (
    *("format", "settings", "offset", "fetch", "window", "qualify", "limit", "having", "group", "order", "union"),
    *("except", "intersect", "select", "apply", "lateral", "only", "array", "final", "sample", "where", "distinct"),
)
"""Words that end a list of tables on some engine, and are names on another."""
_AFTER_WORDS: Final = (
    "select v.note as x from countries {word}, vault v",
    "select v.note as x from countries {word}, values v",
    "select v.note as x from countries as {word}, values as v",
    "select v.note as x from (countries {word} cross join values v)",
    "select v.note as x from (select 1 as {word}) s join countries c on {word} = 1, values v",
    "select v.note as x from (select 1 as {word}) s join countries c on s.{word} = 1, values v",
)
ODD_QUERIES: Final = (
    *(text.format(word=word) for text in _AFTER_WORDS for word in _WORDS),
    "select note as x from/**/t",
    "select note as x from /* a */ t /* b */",
    "select note as x from -- comment\n t",
    "select note as x from\tt",
    "select note as x from\n\nt\n",
    "select note as x from\r\nt",
    "select note as x from\x0ct",
    "select note as x from\x0bt",
    "select note as x from\u00a0t",
    "select note as x from\u3000t",
    "select note as x from\u2003t",
    "select note as x from\u2028t",
    "select note as x from\u0085t",
    "select note as x from\ufefft",
    "select note as x from t\u00a0a",
    "select note as x from t -- ' \n where 1 = 1",
    "select note as x from t where '--' = '--'",
    "select note as x from t where '/*' <> '*/'",
    "select note as x from t where 'it''s' = 'it''s'",
    "select note as x from t where '\\' = '\\'",
    "select note as x from t where '\\'' <> ' or 1 = 1'",
    "select note as x from t where ^note^ <> '' -- \"",
    "select note as x /* from countries */ from t",
    "select 'from countries' as y, note as x from t",
    "select note as x from t /* where tenant = {{ tenant }} */",
    "select note as x from t -- where tenant = {{ tenant }}\n",
    "select '(select * from t where tenant = ?) as t' as y, note as x from t",
    "select note as x from t as ^(select * from t where tenant = 'acme')^",
    "select note as x from t as ^a b^",
    "select note as x from t as ^from^",
    "select ^x^.note as x from t as ^x^ where ^x^.note <> ')'",
    "select note as x from t where note <> '{{ tenant }}'",
    "select note as x from t where '\\{{ tenant }}' <> ''",
    "select note as x from(t)",
    "select(note)as x from(select*from t)s",
    "select note as x from t where(1=1)",
    "select note as x from t where 1=1--\n",
    "select note as x from t where note<>'a'or 1=1",
)

MANY: Final = ", ".join(f"k{number}: c{number}" for number in range(12))
TEMPLATES: Final = (
    Attack("select note as x from t [[ where region = {{ params.r }} ]]", {"r": "text"}),
    Attack("select note as x from t [[ where region = {{ params.r }} ]]", {"r": "text"}, viewer={"r": "eu"}),
    Attack("select note as x from t where 1 = 1 [[ or region = {{ params.r }} ]]", {"r": "text"}, viewer={"r": "eu"}),
    Attack("select t.note as x from t [[ join o on o.t_id = t.id and o.note <> {{ params.r }} ]]", {"r": "text"}),
    Attack(
        "select t.note as x from t [[ join o on o.t_id = t.id and o.note <> {{ params.r }} ]]",
        {"r": "text"},
        viewer={"r": "-"},
    ),
    Attack(
        "select name as x from countries [[ , o where o.note <> {{ params.r }} ]]", {"r": "text"}, viewer={"r": "-"}
    ),
    Attack(
        "select name as x from countries where 1 = 1 [[ and exists (select 1 from t where note > {{ params.r }}) ]]",
        {"r": "text"},
        viewer={"r": "q"},
    ),
    Attack(
        "select note as x from {{ params.r | one_of(a: t, b: o) }}",
        {"r": {"type": "choice", "choices": ["a", "b"]}},
        viewer={"r": "a"},
    ),
    Attack(
        "select note as x from {{ params.r | one_of(a: t, b: (select * from o)) }} s",
        {"r": {"type": "choice", "choices": ["a", "b"]}},
        viewer={"r": "b"},
    ),
    Attack(
        "select {{ params.r | one_of(a: note, b: (select max(note) from o)) }} as x from t",
        {"r": {"type": "choice", "choices": ["a", "b"]}},
        viewer={"r": "b"},
    ),
    Attack(
        "select name as x from countries where {{ params.r | one_of(a: 1 = 1, b: name < (select max(note) from t)) }}",
        {"r": {"type": "choice", "choices": ["a", "b"]}},
        viewer={"r": "b"},
    ),
    *(
        Attack(text, {"r": "text", "s": "text"}, viewer={"r": "c", "s": "c"})
        for text in (
            (
                "with {{ params.r | one_of(a: c1, c: o) }} as (select 3 as id, 'acme' as tenant)"
                " select note as x from {{ params.s | one_of(c: items, b: t) }}"
            ),
            (
                "with {{ params.r | one_of(a: c1, c: O) }} as (select 3 as id, 'acme' as tenant)"
                " select note as x from {{ params.s | one_of(c: items, b: t) }}"
            ),
            (
                "with {{ params.r | one_of(a: c1, c: ^o^) }} as (select 3 as id, 'acme' as tenant)"
                " select note as x from {{ params.s | one_of(c: items, b: t) }}"
            ),
            (
                "with q as (select 3 as id, 'acme' as tenant), {{ params.r | one_of(c: o, b: c1) }} as (select * from q)"
                " select note as x from {{ params.s | one_of(a: t, c: items) }}"
            ),
            (
                f"with {{{{ params.r | one_of({MANY}, c: o) }}}} as (select 3 as id, 'acme' as tenant)"
                " select note as x from items"
            ),
            (
                "with c1 as (select 1 as id), {{ params.r | one_of(a: c2, c: o) }} as (select 3 as id, 'acme' as tenant)"
                " select name as x from countries {{ params.s | one_of(a: , c: union all select note from items) }}"
            ),
            (
                "[[ with o as (select 3 as id, 'acme' as tenant, {{ params.r }} as z) ]] select note as x from"
                " {{ params.s | one_of(a: t, c: items) }}"
            ),
        )
    ),
    Attack("select note as x from t where tenant = {{ params.r }}", {"r": "text"}, viewer={"r": "zqx1"}),
    Attack("select note as x from t where {{ params.r | matches(tenant) }}", {"r": "text"}, viewer={"r": "zqx1"}),
    Attack("select note as x from t where {{ params.r | matches(t.tenant) }}", {"r": "text"}),
    Attack("select note as x from t where tenant in {{ params.r }}", {"r": "list of text"}, viewer={"r": ["zqx1"]}),
    Attack("select note as x from t where tenant not in {{ others }}"),
    Attack("select note as x from t where tenant like '%{{ params.r }}%'", {"r": "text"}, viewer={"r": "z"}),
    Attack("select note as x from ({{> mine }}) m", fragments={"mine": "select * from t"}),
    Attack("with t as ({{> mine }}) select note as x from t", fragments={"mine": "select * from t"}),
    Attack(
        "with o as (select 3 as id) select note as x from ({{> mine }}) m", fragments={"mine": "select * from items"}
    ),
    Attack(
        "select note as x from ({{> outer }}) m",
        fragments={"outer": "select * from ({{> inner }}) n", "inner": "select * from t -- )"},
    ),
    Attack(
        "select note as x from ({{> mine }}) m",
        {"r": "text"},
        {"mine": "select * from t [[ where note <> {{ params.r }} ]]"},
        {"r": "-"},
    ),
)

STATEMENTS: Final = """
select * from t
select t.* from t
select * from t, o
select * from items
select * from docs
select * from vault
select * from v_t
select * from SCHEMA.t
select SCHEMA.t.* from SCHEMA.t
select count(*) from t
select sum(amount) from t
select avg(amount), max(id) from t where tenant = {{ tenant }} or 1 = 1
select count(*) from items
select count(*) from docs
select id, amount from t
select id, amount from t where amount > 1000000
select * from t join o using (id)
select * from t natural join o
select * from t natural join items
select * from t left join items using (id)
select t from t
select o from t o
select note from t;
select note from t; select note from o
select note from t;;
select 1; select note from t
table t
(table t)
select * from (table t) s
with q as (table t) select * from q
values ((select max(note) from t))
select * from (values ((select max(note) from t))) v
select count(*) from t where exists (select * from o where t.id = o.t_id)
select count(*), region from t group by region
select region, count(*) from t group by 1 order by 2
explain select * from t
describe t
describe select * from t
show tables
select * from information_schema.tables
select * from information_schema.columns where table_name = 't'
select id, lag(note) over (order by id desc) from t
select amount * 1.0 / (select sum(amount) from t) from t where tenant = {{ tenant }}
select sum(amount) over () from t where tenant = {{ tenant }} or id > 0
select * from t where (tenant, id) in (select tenant, id from t)
select (select count(*) from t) + (select count(*) from o)
select * from t limit 100
select * from t order by id limit (select count(*) from o)
select name from countries order by (select count(*) from t), name
select name, (select count(*) from t) from countries
delete from t
update t set note = ''
insert into countries select tenant, note from t
create table stolen as select * from t
select * into stolen from t
with d as (delete from t returning note) select * from d
with d as (update t set note = note returning note) select * from d
with d as (insert into o select tenant, id, id, amount, note from t returning note) select * from d
select note from t for update
"""
