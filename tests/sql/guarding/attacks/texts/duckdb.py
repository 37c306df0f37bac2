"""Texts for DuckDB."""

from __future__ import annotations

from typing import Final

QUERIES: Final = """
select 'a' as x union all values ((select max(note) from t))
select 'a' as x union all values ((select max(note) from vault)), ('b')
with v as (values ((select max(note) from t))) select * from v
select t.note as x from (select 1 as a) s positional join t
select t['note'] as x from t
select struct_extract(t, 'note') as x from t
select unnest(list(t)).note as x from t
select x: note from t
from a: t select a.note as x
select a.note as x from a: vault
select max(x) as x from (select unnest((select list(note) from t)) as x)
select note as x from t qualify row_number() over (order by id) > 0
select note as x from t at (version => 1)
select note as x from memory.main.vault
select try((select max(note) from vault)) as x
with recursive t(id, note) using key (id) as (select 1, 'k' union select id + 1, note from recurring.t where id < 2) select note as x from t
with recursive vault(id, note) using key (id) as (select 1, 'k' union select v.id + 1, v.note from recurring.vault v where id < 2) select note as x from vault
select x from json_execute_serialized_sql(json_serialize_sql('select note as x from vault'))
select note as x from 't'
select note as x from main.'t'
select note as x from memory.main.t
select note as x from memory.t
select t.note as x from memory.main.t
select main.t.note as x from t
from t select note as x
from t as a select a.note as x
from main.t select note as x
from (from t) select note as x
from (from t select note) as s select s.note as x
from t, o select t.note as x
from t join o on true select o.note as x
select x from (from t select note as x)
select note as x from (from t)
with a as (from t) select note as x from a
with a as (from t select note as x) from a
with t as (from t) from t select note as x
with recursive t as (from t) select note as x from t
with t as materialized (select * from t) select note as x from t
with t as not materialized (select * from main.t) select note as x from t
with recursive t as (select note from main.t union all select note from t where false) select note as x from t
with recursive r using key (a) as (select 1 as a, note from t union select a + 1, note from r where a < 1) select note as x from r
select note as x from (table t)
select note as x from (pivot t on region using max(note)) p
select eu as x from (pivot t on region using max(note))
select eu as x from (pivot t on region in ('eu') using max(note) group by tenant)
select eu as x from t pivot (max(note) for region in ('eu'))
select v as x from (unpivot t on note into name n value v)
select v as x from t unpivot (v for n in (note))
select max as x from (summarize t)
select column_name as x from (describe t)
select column_name as x from (describe vault)
select max as x from (summarize select * from t)
select name as x from (show tables)
select note as x from query('select * from t')
select note as x from query('from t')
select note as x from query_table('t')
select note as x from query_table(['t'])
select note as x from query_table('vault')
select note as x from all_t()
select top_note() as x
select top_note() as x from countries
select note as x from t qualify tenant = {{ tenant }} or true
select note as x from t qualify row_number() over (order by id desc) < 3
select note as x from t tablesample 100%
select note as x from t tablesample 100 percent
select note as x from t using sample 100%
select note as x from t using sample 9 rows
select note as x from t semi join o on true
select note as x from t anti join o on false
select t.note as x from t positional join countries
select o.note as x from t asof join o on t.id >= o.id
select t.note as x from o natural right join t
select t.note as x from t full join o using (id)
select s.note as x from countries, lateral (select note from t) s
select s.note as x from countries c, lateral (select t.note from t where c.code <> '') s
select s.note as x from countries c left join lateral (select note from t) s on true
select unnest(array(select note from t)) as x
select unnest(list(note)) as x from t
select array_to_string(array(select note from t), ',') as x
select list(note)[1] as x from (select note from t order by id desc)
select string_agg(note, ',') as x from t
select max(columns('note')) as x from t
select columns('note') as x from t
select columns(c -> c = 'note') as x from t
select * exclude (tenant, id, region, amount) from t
select t.note as x from t group by all
select note as x from t order by all
select note as x from t where id in (from t select id)
select case when 4 in (from t select id) then 'zqx' else 'no' end as x
select case when 4 in (select id from t) then 'zqx' else 'no' end as x
select cast(t as varchar) as x from t
select t::varchar as x from t
select to_json(t)::varchar as x from t
select struct_extract(t, 'note') as x from t
select t['note'] as x from t
select (t).note as x from t
select row(note)::varchar as x from t
select {'a': note}.a as x from t
select [note][1] as x from t
select [a.note for a in [t]][1] as x from t
select list_transform([note], lambda v: v)[1] as x from t
select map {'a': note}['a'] as x from t
select max_by(note, id) as x from t
select arg_max(note, id) as x from t
select any_value(note order by id desc) as x from t
select first(note order by id desc) as x from t
select max(note) filter (where true) as x from t
select note as x from t where note similar to '.*'
select note as x from t where regexp_matches(note, 'z')
select note as x from t where tenant is distinct from {{ tenant }}
select x: note from t
select x: note, y: id from t
select a.note as x from a: t
select a.note as x from a: main.t
select note as x from t t(tenant, id, region, amount, note)
select q as x from t as t(a, b, c, d, q)
select tenant as x from t as t(note, id, region, amount, tenant)
select tenant as x from (select note as tenant, 'acme' as note from t)
select note as x from duckdb_tables(), t
select table_name as x from duckdb_tables()
select sql as x from duckdb_tables() where table_name = 'vault'
select table_name as x from information_schema.tables
select name as x from pragma_table_info('vault')
select getvariable('a') as x
select note as x from t at (version => 1)
select column0 as x from read_csv('/etc/passwd')
select content as x from read_text('/etc/passwd')
select x from (values ((select max(note) from t))) v(x)
select col0 as x from (values ((select max(note) from t)))
values ((select max(note) from t))
select note as x from t limit 100%
select note as x from t union by name select note as x from o
select note as x from t union all by name select name as note from countries
select note as x from t except all select note from o
select note as x from t intersect select note from t
select note as x from generate_series(1, 1) g(n), t
select note as x from range(1) r, t
select unnest(t) from t
select s.note as x from (select unnest(t) from t) s
select grouping(region)::varchar || max(note) as x from t group by rollup (region)
select max(note) as x from t group by grouping sets ((region), ())
select max(note) as x from t group by cube (region)
select json_serialize_sql('select note from t')::varchar as x
select * from json_execute_serialized_sql(json_serialize_sql('select note as x from t'))
select histogram(note)::varchar as x from t
select last_value(note) over (order by id rows between unbounded preceding and unbounded following) as x from t
select note as x from t window w as (order by id)
select t.note as x from values t
select values.note as x from t as values
select x from (from values ('k') v(x)) union all select note from t
select if(amount > 5, 'zqx', 'no') as x from t
select ifnull(note, '') as x from t
select t.note as x from t join t u using (id, tenant)
select note as x from from t
"""
ODD: Final = (
    *(
        text.format(word=word)
        for word in ("format", "settings", "offset", "apply", "sample", "only", "final")
        for text in (
            "select h.bin as x from countries {word}, histogram(t, note) h",
            "select h.bin as x from countries {word}, histogram('vault', note) h",
            "select h.bin as x from (select 1 as {word}) s join countries c on {word} = 1, histogram(o, note) h",
            "select h.bin as x from countries {word} join histogram(o, note) h on true",
        )
    ),
    "select note as x from t where $$ from countries $$ <> ''",
    "select note as x from t where $a$ ' $a$ <> ''",
    "select $$'$$ as y, note as x from t -- '",
    "select note as x from t where e'\\'' <> ''",
    "select note as x from t where 'a' 'b' <> ''",
    "select note as x from t where 'a'\n'b' <> ''",
    "select note as x from t /* /* */ -- */ \n",
    "select note as x from t where 1 == 1",
    "select note as x from t where 1_000 > 1",
    'select note as x from t as "a""b"',
    "select note as x, from t",
    "select note as x from t where x'7a' <> ''",
    "select note as x from t where note[1:3] = 'zqx'",
    "select note as x from t as 'b'",
    "select note as 'x' from t",
    "select @note as x from (select '1' as note) s, t",
    "select note as x from t --\x00",
)
STATEMENTS: Final = """
from t
from main.t
from 't'
from t, o
from (from t)
from t limit 9
from t where tenant = {{ tenant }} or true
from t select count(*)
from t order by all
with a as (from t) from a
summarize t
summarize select * from t
describe t
describe vault
show vault
show tables
pivot t on region using sum(amount)
pivot t on region using sum(amount) group by category
pivot t on region using count(*)
pivot (select * from t) on region using count(*)
with p as (pivot t on region using count(*)) from p
unpivot t on amount into name n value v
from t pivot (count(*) for region in ('eu', 'us'))
from query('from t')
from query_table('t')
from all_t()
call all_t()
call query('from t')
from t using sample 50%
from t tablesample reservoir(9)
select * from t positional join o
select * from t asof join o using (id)
select * replace (1 as id) from t
select * exclude (tenant) from t
select * rename (note as n) from t
select t.* exclude (tenant) from t
select columns(*) from t
select count(columns(*)) from t
select min(columns(* exclude (tenant))) from t
select * like 'n%' from t
select t, o from t, o
select struct_pack(t) from t
select rowid from t
select max(rowid) from t
select rowid, * from t
copy t to '/nonexistent/copy'
copy (select * from t) to '/nonexistent/copy'
export database '/nonexistent/copy'
create table stolen as from t
create or replace temp table stolen as from t
prepare p as select * from t
execute p
set variable a = (select max(note) from t)
select count(*) from duckdb_columns()
select estimated_size from duckdb_tables()
from pragma_storage_info('t')
from storage_info('t')
pragma table_info('t')
pragma storage_info('t')
from sqlite_master
from pg_catalog.pg_class
select * from t, unnest([t.id])
select count(*) from t a, t b
select * from histogram('t', 'note')
from histogram_values('t', 'note')
from duckdb_approx_database_count()
select approx_count_distinct(note) from t
select quantile_cont(amount, 0.9) from t
select * from t left join (o join items on items.o_id = o.id) on o.t_id = t.id
select * from t join lateral (select count(*) from o where o.t_id = t.id) c on true
select sum(amount) filter (where tenant = {{ tenant }}) as mine, count(*) as n from t
select id, array(select qty from o where o.t_id = t.id) from t
with recursive r as (select id from t where id = 1 union all select t.id from t join r on t.id = r.id + 1) select count(*) from r
select * from (merge into t using o on t.id = o.id when matched then delete)
"""
