"""Texts for SQLite."""

from __future__ import annotations

from typing import Final

QUERIES: Final = """
select 'a' as x union all values ((select max(note) from t))
select 'a' as x union all values ((select max(note) from vault)), ('b')
with v as (values ((select max(note) from t))) select * from v
select case when ('zqx1', 2, 'zqx v2') in main.vault then 'zqx' else 'no' end as x
select case when ('zqx1', 2, 'zqx v2') in [vault] then 'zqx' else 'no' end as x
select case when 'vault' in (select name from pragma_table_list) then 'zqx' else 'no' end as x
select name as x from pragma_table_list
select sql as x from sqlite_schema where name = 'vault'
select value as x from json_each((select json_group_array(note) from t))
select json_object(*) as x from t
select note as x from t limit (select count(*) from t)
select column1 as x from (values ((select max(note) from t)))
select 'vault'.note as x from t as 'vault'
; select note as x from t
;; ;select note as x from t
select note as x from [t]
select [t].[note] as x from [t]
select note as x from `t`
select note as x from 't'
select note as x from main.[t]
select note as x from main.'t'
select note as x from temp.t
select "note" as x from 't' as "t"
select note as x from t indexed by sqlite_autoindex_t_1
select note as x from t not indexed
select name as x from countries where 'zqx t4' in t
select case when 4 in (select id from t) then 'zqx' else 'no' end as x
select case when ('pe', 'peru') in countries then note else '' end as x from t
select case when ('acme', 1, 'eu', 1, 'own t1') in t then 'own' else 'zqx' end as x
select case when ('zqx1', 4, 'eu', 1000004, 'zqx t4') in t then 'zqx' else 'no' end as x
select case when ('zqx1', 4, 'eu', 1000004, 'zqx t4') in main.t then 'zqx' else 'no' end as x
select case when ('zqx1', 4, 'eu', 1000004, 'zqx t4') in "t" then 'zqx' else 'no' end as x
select case when ('zqx1', 4, 'eu', 1000004, 'zqx t4') in (t) then 'zqx' else 'no' end as x
select case when ('zqx1', 4, 'eu', 1000004, 'zqx t4') in (select * from t) then 'zqx' else 'no' end as x
select case when ('zqx1', 2, 'zqx v2') in vault then 'zqx' else 'no' end as x
select case when ('zqx1', 2, 'zqx v2') not in vault then 'no' else 'zqx' end as x
select group_concat(note) as x from t
select json_group_array(note) as x from t
select value as x from t, json_each('["' || t.note || '"]')
select j.value as x from t join json_each(json_array(note)) j
select cast(rowid as text) as x from t
select cast(t.rowid as text) as x from t
select cast(_rowid_ as text) as x from t
select cast(oid as text) as x from t
select note as x from t where rowid > 3
select sql as x from sqlite_master
select sql as x from sqlite_schema
select name as x from main.sqlite_master where name = 'vault'
select name as x from pragma_table_info('t')
select name as x from pragma_table_list
select name as x from pragma_table_list()
select note as x from t where note glob '*'
select note as x from t where note is not null
select note as x from t where tenant is not {{ tenant }}
select note as x from t where tenant collate nocase = {{ tenant }}
select note as x from t where tenant == {{ tenant }} or 1
select note as x from t full join o using (id)
select t.note as x from o full outer join t on o.id = t.id
select t.note as x from t cross join o
select iif(amount > 5, 'zqx', 'no') as x from t
select printf('%s', note) as x from t
select format('%s', note) as x from t
select hex(note) as x from t
select quote(note) as x from t
select note as x from t limit 9
select note as x from t order by id desc limit 2, 2
with t as not materialized (select * from t) select note as x from t
with t as materialized (select * from main.t) select note as x from t
with t(tenant, note) as (values ('acme', 'k')) select note as x from main.t
with recursive t(note) as (values ('k') union all select note from main.t limit 20) select note as x from t
with recursive t(note) as (select note from t) select note as x from t
select max(note) filter (where 1) as x from t
select string_agg(note, ',') as x from t
select note as x from t window w as (order by id)
select last_value(note) over w as x from t window w as (order by id rows between unbounded preceding and unbounded following)
select column1 as x from (values ((select max(note) from t)))
select x from (values (1)) v, (select note as x from t)
select t.note as x from t, t as u
select note as x from t union all values ('k')
values ((select max(note) from t))
select note || '' as x from t
select x'7a' || note as x from t
select "t" as x from t
select likely(note) as x from t
select unlikely(1) || note as x from t
select note as x from t where note regexp 'z'
select coalesce(null, note) as x from t
select max(note, '') as x from t
select min(note) as x from t where id > 3
select total(amount) || '' as x from t
select note ->> '$' as x from (select json_quote(note) as note from t)
select note as x from t where (1, 2) = (1, 2)
select note as x from t where id between 4 and 9 and note not like 'own%'
select note as x from t as "main"
select note as x from t as main
select t.note as x from t inner join t as t2 on t2.id >= t.id
"""
ODD: Final = (
    "select note as x from t /* not closed",
    "select note as x from\x1ft",
    "select note as x from t where 'a\x00b' <> ''",
    "select note as x from t where \"\" = ''",
    "select note as x from t where '\\' <> '' --'",
    "select note as x from [t]]",
    "select note as x from t where [note] <> ''",
    "select note as x from t as [from countries]",
    'select note as x from t as "a""b"',
    "select note as x from t where 1.e1 > 0x1",
    "select note as x from t where $a is null or 1",
)
STATEMENTS: Final = """
select rowid, * from t
select * from t where rowid = 4
select max(rowid) from t
select t.rowid from t
pragma table_info(t)
select * from pragma_table_info('vault')
select * from sqlite_master
select * from dbstat
select * from t where t match 'z'
with q as (select * from t) select count(*), total(amount) from q
explain query plan select * from t
replace into countries select tenant, note from t
attach ':memory:' as other
vacuum into '/nonexistent/copy'
values (1), ((select count(*) from t))
select count(*) filter (where id > 3) from t
select * from t, json_each(json_array(t.id))
select changes(), * from t
select * from t where tenant = {{ tenant }} or tenant is null
select * from countries, t where 1
"""
