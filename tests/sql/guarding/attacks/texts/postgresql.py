"""Texts for PostgreSQL."""

from __future__ import annotations

from typing import Final

QUERIES: Final = """
select 'a' as x union all values ((select max(note) from t))
select 'a' as x union all values ((select max(note) from vault)), ('b')
with v as (values ((select max(note) from t))) select * from v
select s.note as x from t join lateral (table vault) s on true
select array(table vault)::text as x
select json_array(select note from vault)::text as x
select case when exists (table vault) then 'zqx' else 'no' end as x
select a as x from t as b(tenant, id, region, amount, a)
select b.tenant as x from t as b(a, id, region, amount, tenant)
select x from json_table((select json_agg(note) from t), '$[*]' columns (x text path '$')) j
select x from xmltable('/a' passing (select xmlelement(name a, max(note)) from t) columns x text path '.') j
select note as x from t limit (select count(*) from t)
select note as x from t order by (select max(note) from vault)
select note as x from graph_table (g match (a is t) columns (a.note))
select note as x from only t
select note as x from only (t)
select note as x from only public.t
select note as x from t *
select note as x from t * as a
select note as x from public.t as a
select public.t.note as x from t
select t.note as x from public.t
select (t).note as x from t
select (t.*)::text as x from t
select t::text as x from t
select cast(t as text) as x from t
select label(t) as x from t
select (t).label as x from t
select (t.*).label as x from t
select (null::t).label as x
select (null::t)."label" as x
select (null::t) . /* */ label as x
select ('select to_tsvector(note) from vault'::text).ts_stat::text as x
select ('select to_tsvector(note) from vault'::text)."ts_stat"::text as x
select (('select to_tsvector(note) from vault'::text).ts_stat).word as x
select ('select to_tsvector(note) from vault'::text).btrim.ts_stat::text as x
select (array['select to_tsvector(note) from vault'])[1].ts_stat::text as x
select s.w[1].ts_stat::text as x from (select array['select to_tsvector(note) from vault'] as w) s
select (w).ts_stat::text as x from (select 'select to_tsvector(note) from vault'::text as w) s
select name as x from countries order by ('select to_tsvector(note) from vault'::text).ts_stat::text desc
select ('/etc/passwd'::text).pg_read_file as x
select ('t'::regclass).pg_relation_filepath as x
select (null::int).pg_stat_get_activity::text as x
select f.ts_stat::text as x from unnest(array['select to_tsvector(note) from vault']) as f
select f.ts_stat::text as x from unnest(array['select to_tsvector(note) from vault']) as f(a)
select ts_stat.ts_stat::text as x from unnest(array['select to_tsvector(note) from vault']) as ts_stat(a)
select "F"."ts_stat"::text as x from unnest(array['select to_tsvector(note) from vault']) "F"
select unnest.ts_stat::text as x from unnest(array['select to_tsvector(note) from vault'])
select f.ts_stat::text as x from countries, lateral unnest(array['select to_tsvector(note) from vault']) f
select f.ts_stat::text as x from countries cross join string_to_table('select to_tsvector(note) from vault', '|') f
select f.ts_stat::text as x from (select 1 from unnest(array[1]) f(ts_stat)) q, unnest(array['select to_tsvector(note) from vault']) f
select f.pg_read_file as x from jsonb_array_elements_text('["/etc/passwd"]') f
select row_to_json(t)::text as x from t
select to_jsonb(t)::text as x from t
select json_agg(t)::text as x from t
select array_agg(note)::text as x from t
select string_agg(note, ',') as x from t
select array_to_string(array(select note from t), ',') as x
select unnest(array(select note from t)) as x
select (array(select note from t where id > 3))[1] as x
select (select t from t where id = 4)::text as x
select (select row(note) from t where id = 4)::text as x
select concat(t) as x from t
select format('%s', t) as x from t
select hashtext(t::text)::text as x from t
select s.note as x from countries, lateral (select note from t) s
select s.note as x from countries c left join lateral (select note from t where c.code <> '') s on true
select s.note as x from countries c cross join lateral (select note from t) as s
select note as x from all_t()
select (all_t()).note as x
select a.note as x from all_t() as a
select top_note() as x
select x from top_note() as x
select note as x from rows from (all_t()) as a
select note as x from rows from (all_t(), generate_series(1, 2)) as a
select query_to_xml('select note from t', true, true, '')::text as x
select table_to_xml('t', true, true, '')::text as x
select table_to_xml('t'::regclass, true, true, '')::text as x
select schema_to_xml('public', true, true, '')::text as x
select database_to_xml(true, true, '')::text as x
select word as x from ts_stat('select to_tsvector(note) from t')
select ts_rewrite('a'::tsquery, 'select note::tsquery, note::tsquery from t')::text as x
select 't'::regclass::text as x
select pg_relation_size('t')::text as x
select pg_total_relation_size('vault')::text as x
select pg_read_file('postgresql.conf') as x
select current_setting('config_file') as x
select relname::text as x from pg_class
select relname::text as x from pg_catalog.pg_class where relname = 'vault'
select most_common_vals::text as x from pg_stats
select table_name::text as x from information_schema.tables
select usename::text as x from pg_user
select query as x from pg_stat_activity
select prosrc as x from pg_proc where proname = 'all_t'
select note as x from t tablesample system (100)
select note as x from t tablesample bernoulli (100) repeatable (1)
select note as x from public.t tablesample system (100)
select note as x from t for update
select note as x from t for share
select note as x from t for key share of t
select note as x from t fetch first 9 rows only
select note as x from t order by id desc fetch first 2 rows with ties
select note as x from t limit all
select distinct on (region) note as x from t order by region, id desc
select note as x from t where tenant is distinct from {{ tenant }}
select note as x from t where tenant = any (array['zqx1', 'zqx2'])
select note as x from t where tenant = any (select tenant from t)
select note as x from t where (tenant, id) <> ('acme', 1)
select note as x from t where row(tenant, id) is not null
select note as x from t where note ~ 'z'
select note as x from t where note similar to 'z%'
select note as x from t where tenant = {{ tenant }} or true
select note as x from t where t is not null
select note as x from t where t = t
select t.note as x from t natural join (select 4 as id) k
select t.note as x from t join o using (id)
select j.note as x from (t join o using (id, tenant, note)) as j
select note as x from t join o using (id, tenant, note) as j
select t.note as x from t full join o on t.id = o.t_id
select t.note as x from o full outer join t using (id)
with t as materialized (select * from t) select note as x from t
with t as not materialized (select * from public.t) select note as x from t
with "T" as (select 'k' as note) select note as x from T
with t as (select 'k' as note) select note as x from "T"
with recursive t as (select note from public.t union all select note from t where false) select note as x from t
with recursive t(note) as (select note from public.t) select note as x from t
with recursive q as (select note from t union select note from q where false) select note as x from q
with recursive r as (select id, note from t union all select id, note from r where false) search depth first by id set s select note as x from r
with recursive r as (select id, note from t union all select id, note from r where false) cycle id set c using p select note as x from r
with d as (delete from t returning note) select note as x from d
with d as (update t set note = note returning note) select note as x from d
with d as (update o set note = t.note from t returning o.note) select note as x from d
with d as (insert into countries select id::text, note from t returning name) select name as x from d
with d as (delete from countries using t returning t.note) select note as x from d
with d as (merge into countries c using t on true when matched then update set name = t.note returning c.name) select name as x from d
with q as (table t) select note as x from q
with values as (select 'k' as note) select note as x from t
select note as x from (table t) s
select t.note as x from values t
select x from (values ((select max(note) from t))) v(x)
select column1 as x from (values ((select max(note) from t))) v
values ((select max(note) from t))
select note as x from t union all table_name
select q as x from t as a(b, c, d, e, q)
select tenant as x from t as a(note, id, region, amount, tenant)
select a.tenant as x from (select note as tenant from t) as a
select max(note) filter (where true) as x from t
select max(note) within group (order by id) as x from t
select percentile_disc(0.9) within group (order by note) as x from t
select mode() within group (order by note desc) as x from t
select max(note) as x from t group by grouping sets ((region), ())
select max(note) as x from t group by rollup (region)
select max(note) as x from t group by cube (region)
select last_value(note) over w as x from t window w as (order by id rows between unbounded preceding and unbounded following)
select note as x from t, generate_series(1, 1)
select g::text || note as x from generate_series(1, 1) g join t on true
select j.x from t, json_to_record(json_build_object('x', t.note)) as j(x text)
select j.value as x from t, jsonb_each_text(to_jsonb(t)) j
select j.x from t, json_table(to_jsonb(t), '$' columns (x text path '$.note')) j
select x from t, xmltable('/a' passing xmlelement(name a, note) columns x text path '.')
select xmlelement(name a, note)::text as x from t
select xmlforest(note)::text as x from t
select case when (select count(*) from t) > 3 then 'zqx' else 'no' end as x
select nextval('s')::text as x
select lo_import('/etc/passwd')::text as x
select set_config('role', 'postgres', false) as x
select coalesce(note, '') collate "C" as x from t
select note::varchar(3) as x from t
select t.note::text as x from t where 1::boolean
select note as x from ((select * from t)) s
select note as x from ((((t))))
select note as x from t as "t"
select note as x from t "public"
select note as x from pg_temp.t
select note as x from tenantry.public.t
select overlay(note placing '' from 1 for 0) as x from t
select substring(note from 1 for 3) as x from t
select trim(both from note) as x from t
select extract(year from placed) || note as x from (select note, date '2026-01-01' as placed from t) s
select note as x from t where extract(year from now()) > 1
select note as x from t where position('z' in note) > 0
select note as x from t where 'a' is not null and 1 in (select 1 from t)
select note as x from t where exists (table o)
select note as x from t where id in (table_id)
select note as x from t where id = any ((select array_agg(id) from t)::int[])
"""
ODD: Final = (
    "select note as x from t where $$ from countries $$ <> ''",
    "select note as x from t where $a$ ' $a$ <> ''",
    "select $$'$$ as y, note as x from t -- '",
    "select note as x from t where e'\\'' <> ''",
    "select note as x from t where E'\\\\' <> ' or '",
    "select note as x from t where '\\' <> '' --'",
    "select note as x from t where u&'\\0041' = 'A'",
    'select note as x from u&"\\0074"',
    'select note as x from U&"t"',
    "select note as x from u&\"!0074\" uescape '!'",
    "select note as x from t where 'a'\n'b' = 'ab'",
    "select note as x from t where b'1' = b'1'",
    "select note as x from t /* /* */ where tenant = 'acme' */",
    "select note as x from t /* /* */ -- */ \n */",
    "select note as x from t where 1=1/* -- */",
    'select note as x from t as "a""b"',
    "select note as x from t--",
    "select note as x from t where 1_000 > 1",
    "select note as x from t where 5 @>- 1 or true",
    "select note as x from t where n'a' <> ''",
    "select note as x from t where $1 is null or true",
)
STATEMENTS: Final = """
table only t
table public.t
table t *
select * from only t
select * from t *
select t.*::text from t
select (t).* from t
select (all_t()).*
select * from all_t()
select * from top_note()
select * into temp stolen from t
create temp table stolen as table t
copy t to stdout
copy (select * from t) to stdout
explain analyze select * from t
explain (format json) select * from t
select * from t for update skip locked
select * from rows from (all_t()) with ordinality
select * from t tablesample system (100)
select * from t natural full join o
select * from t join o using (id) as j
select j from (t join o using (id)) as j
select count(t) from t
select count(distinct t) from t
select t is not null from t
select t = t from t
select array_agg(t) from t
select sum(amount) filter (where tenant = {{ tenant }}) as mine, count(*) as n from t
select id, array(select qty from o where o.t_id = t.id) from t
select ctid, * from t
select xmin, id from t
select tableoid::regclass, id from t
select t.ctid from t
select max(ctid) from t
select * from pg_stat_user_tables
select reltuples from pg_class where relname = 't'
select * from pg_sequences
select * from pg_locks
select pg_sleep(0)
select pg_advisory_lock(1)
select * from json_populate_recordset(null::t, '[]')
select null::t
select (null::t).*
select (jsonb_populate_record(null::t, to_jsonb(t))).* from t
select * from dblink('', 'select * from t') as d(x text)
do $$ begin end $$
prepare p as select * from t
declare c cursor for select * from t
select * from t where current_setting('a', true) is null
select * from t limit (select count(*) from o)
select * from t offset (select 0 from o limit 1)
with recursive r as (select id from t where id = 1 union all select t.id from t join r on t.id = r.id + 1) select count(*) from r
values (1, (select count(*) from t)), (2, 0)
select grouping(region), count(*) from t group by rollup (region)
select count(*) from t a, t b
select * from t left join (o join items on items.o_id = o.id) on o.t_id = t.id
select * from (select * from t) t natural join o
"""
