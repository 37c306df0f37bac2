"""Texts for MariaDB."""

from __future__ import annotations

from typing import Final

QUERIES: Final = """
select x.note as x from {oj vault x}
select x.note as x from {oj t x left join vault y on x.id = y.id}
select {x (select max(note) from vault)} as x
select {fn top_note()} as x
select next value for sq as x
select note as x from seq_1_to_3, t
select note as x from t for system_time all
select note as x from .vault
select v.note as x from (t, (vault v))
select j.x from json_table((select json_arrayagg(note) from t), '$[*]' columns (x varchar(20) path '$')) j
select extractvalue((select concat('<a>', max(note), '</a>') from t), '/a') as x
select note as x from `t`
select `t`.`note` as x from `t`
select note as x from SCHEMA.`t`
select note as x from `SCHEMA`.t
select SCHEMA.t.note as x from t
select SCHEMA.a.note as x from t as a
select .t.note as x from t
select note as x from t use index ()
select note as x from t ignore index (primary)
select note as x from t force index for join (primary)
select note as x from t partition (p0)
select note as x from t for system_time all
select note as x from t for system_time as of now()
select straight_join t.note as x from t join o
select t.note as x from t straight_join o
select t.note as x from t straight_join o on o.t_id <> t.id
select high_priority note as x from t
select sql_no_cache note as x from t
select sql_calc_found_rows note as x from t
select sql_small_result distinct note as x from t
select all note as x from t
select distinctrow note as x from t
select note as x from t lock in share mode
select note as x from t for update
select note as x from t procedure analyse()
select t.note as x from t join o
select t.note as x from t cross join o
select t.note as x from t inner join o using (id)
select t.note as x from {oj t left join o on t.id = o.t_id}
select t.note as x from { oj t left outer join o on t.id = o.t_id }
select a.note as x from (t a, o b)
select a.note as x from (t a join o b)
select t.note as x from countries left join (t, o) on 1
select t.note as x from (countries, t)
select group_concat(note) as x from t
select group_concat(distinct note order by id separator ';') as x from t
select json_arrayagg(note) as x from t
select json_objectagg(id, note) as x from t
select json_object('a', note) as x from t
select j.x from t, json_table(json_array(note), '$[*]' columns (x text path '$')) j
select j.x from json_table('[1]', '$[*]' columns (x text path '$')) j, t
select top_note() as x
select top_note() as x from countries
select SCHEMA.top_note() as x
select `top_note`() as x
select if(amount > 5, 'zqx', 'no') as x from t
select ifnull(note, '') as x from t
select note <=> '' as x from t
select note as x from t where tenant <=> null or 1
select note as x from t where not tenant <=> {{ tenant }}
select note as x from t where tenant = 0
select note as x from t where tenant = {{ tenant }}
select note as x from t where tenant = binary {{ tenant }} or 1
select note as x from t where tenant = {{ tenant }} || 1
select note as x from t where tenant = {{ tenant }} xor 1
select note as x from t where tenant = {{ tenant }} && 1 or 1
select note as x from t where 1 div 1
select note as x from t where note rlike 'z'
select note as x from t where note regexp 'z'
select note as x from t where note sounds like 'zqx'
select note as x from t where tenant in ({{ tenant }})
select note as x from t where tenant collate utf8mb4_bin <> {{ tenant }}
select note as x from t where (tenant, id) in (select tenant, id from t)
select note as x from t limit 9
select note as x from t limit 2, 5
select note as x from t having x > 'q'
select note as x from t group by note with rollup
select max(note) as x from t group by region with rollup
select note as x from t order by id limit 9 rows examined 1000
select note as x from t offset 1 row fetch first 5 rows only
select note as x from t window w as (order by id)
select last_value(note) over (order by id rows between unbounded preceding and unbounded following) as x from t
with t as (select * from t) select note as x from t
with a as (with b as (select * from t) select * from b) select note as x from a
select s.note as x from (with a as (select note from t) select note from a) s, (with b as (select 1 as n) select n from b) r
select s.note as x from (with t as (select 'k' as note) select note from t) r, (with b as (select note from t) select note from b) s
select note as x from (with a as (select note from t) select note from a) s where exists (with t as (select 1 as n) select n from t)
(with a as (select note as x from t) select x from a) union (with t as (select note as x from o) select x from t)
with a as (select * from t) select note as x from (with b as (select * from a) select * from b) s
with t as (select 'k' as note) select note as x from (with b as (select 1 as one) select t.note from t, b) s
with t as (select 'k' as note) select x from (with b as (select note as x from t) select x from b) s
with t as (select 'k' as note) select (with b as (select max(note) as x from t) select x from b) as x
with t as (select 'k' as note) select note as x from `t`
with T as (select 'k' as note) select note as x from t
with `T` as (select 'k' as note) select note as x from t
with t as (select 'k' as note), b as (with c as (select note from t) select note from c) select note as x from b
with recursive t as (select note from SCHEMA.t union all select note from t where 0) select note as x from t
with recursive t(note) as (select note from t) select note as x from t
with recursive r as (select 1 as n, cast('k' as char(50)) as note union all select n + 1, (select max(note) from t) from r where n < 2) select note as x from r
with recursive r as (select id, note from t union select id, note from r where 0) cycle id restrict select note as x from r
select x from (values ((select max(note) from t))) v(x)
values ((select max(note) from t))
select note as x from t intersect select note from t
select note as x from t except all select note from o
select note as x from t union distinct select note from o
(select note as x from t) union all (select note from o) order by x limit 99
(select note as x from t limit 99)
select x from ((select note as x from t)) s
select note as x from (((select * from t))) s
select table_name as x from information_schema.tables
select column_name as x from information_schema.columns where table_name = 'vault'
select table_name as x from information_schema.innodb_sys_tables
select info as x from information_schema.processlist
select user as x from mysql.user
select load_file('/etc/passwd') as x
select @@datadir as x
select @a := note as x from t
select note as x from t where @a := 1
select sleep(0) as x from t
select get_lock('a', 0) as x from t
select nextval(s) as x
select next value for s as x
select extractvalue(concat('<a>', note, '</a>'), '/a') as x from t
select updatexml(note, '/a', note) as x from t
select column_json(column_create('a', note)) as x from t
select convert(note using utf8mb4) as x from t
select cast(note as char) as x from t
select note collate utf8mb4_bin as x from t
select binary note as x from t
select t.note as x from t natural join (select 4 as id) k
select t.note as x from t natural left join o
select t.note as x from o natural right join t
select trim(both from note) as x from t
select substring(note from 1 for 3) as x from t
select extract(year from now()) + length(note) as x from t
select position('z' in note) as x from t
select note as x from t where match (note) against ('zqx')
select default(note) as x from t
select values(note) as x from t
select value(note) as x from t
select note as x from dual, t
select note as x from t as dual
select t.note as x from t as t join SCHEMA.t as u
select note as x from seq_1_to_2, t
select interval(amount, 5) as x from t
select _utf8mb4'zqx' as x from t where amount > 5
select n'zqx' as x from t where amount > 5
"""
ODD: Final = (
    "select note as x from t # comment\n",
    "select note as x from # t\n t",
    "select note as x from t -- \n",
    "select note as x from t --1",
    "select note as x from t where 1--1",
    "select note as x from t where 2--1 = 3",
    "select note as x from /*! t */",
    "select note as x from /*!50000 t */",
    "select note as x from /*M! t */",
    "select note as x from /*M!100000 t */",
    "select note as x from countries /*! , t */",
    "select note as x from t /*!99999 where tenant = 'acme' */",
    "select note as x from t /*! where 1 */",
    "select /*+ no_index(t) */ note as x from t",
    "select /*! straight_join */ t.note as x from t",
    "select note as x from t where \"it's\" <> ''",
    "select note as x from t where '\\'' <> ''",
    "select note as x from t where 'a\\\\' <> ' or '",
    'select note as x from t where "\\"" <> \'\'',
    "select note as x from t where 'a' 'b' = 'ab'",
    "select note as x from t where 'a' \"b\" = 'ab'",
    "select note as x from t as 'b'",
    'select note as x from t as "b"',
    'select note as "x" from t',
    "select note as x from t as `a``b`",
    "select note as x from t as `from countries`",
    "select note as x from t where x'7a' = 'z'",
    "select note as x from t where 0x7a = 'z'",
    "select note as x from t where b'1'",
    "select note as x from t where 1e0",
    "select 1e1.note as x from t as 1e1",
    "select 1a.note as x from t as 1a",
    "select note as x from t /* /* */",
    "select note as x from t where '\\\n' <> ''",
    "select note as x from t where 1 = 1 \x00",
    "select note as x from SCHEMA.t where `t`.note <> ''",
    "select $a.note as x from t as $a",
    "select é.note as x from t as é",
)
STATEMENTS: Final = """
table t
select * from t procedure analyse()
select * from t into outfile '/nonexistent/copy'
select note from t into @a
select max(note) into @a from t
show tables
show create table vault
show columns from vault
show index from t
describe vault
desc t
explain t
explain extended select * from t
analyze select * from t
analyze format=json select * from t
check table t
checksum table t
call nothing()
do (select count(*) from t)
set @a = (select max(note) from t)
prepare p from 'select * from t'
execute immediate 'select * from t'
select * from t use index for order by ()
select * from t, o, items
select * from t join o join items
select * from t straight_join o
select * from (t, o)
select * from t left join (o, items) on o.t_id = t.id
select * from t left join (o join items on items.o_id = o.id) on o.t_id = t.id
select sql_calc_found_rows * from t limit 1
select found_rows()
select count(*) from t having count(*) > 3
select region, count(*) from t group by region with rollup
select count(distinct note, id) from t
select bit_and(id), bit_or(amount), bit_xor(id) from t
select std(amount), variance(amount) from t
select not exists(select 1 from t where id > 3)
select (select count(*) from t) = 3
select 4 in (select id from t)
select (4, 'zqx t4') in (select id, note from t)
select 4 = any (select id from t), 4 > all (select id from t), 4 = some (select id from t)
select * from t where tenant = {{ tenant }} or null is null
select * from t where id = all (select id from o)
select benchmark(1, (select max(note) from t))
select json_value(json_arrayagg(note), '$[5]') from t
select * from information_schema.table_statistics
select * from information_schema.statistics
select * from performance_schema.table_io_waits_summary_by_table
select * from mysql.innodb_table_stats
select table_rows from information_schema.tables where table_name = 't'
select update_time from information_schema.tables
insert into countries values ('a', 'b') returning (select max(note) from t)
delete from countries where 0 returning (select max(note) from t)
replace into countries select tenant, note from t
load data infile '/etc/passwd' into table countries
begin not atomic select * from t; end
if 1 then select * from t; end if
for r in (select * from t) do select r.note; end for
values (1, (select count(*) from t)), (2, 0)
with recursive r as (select id from t where id = 1 union all select t.id from t join r on t.id = r.id + 1) select count(*) from r
select * from t for update nowait
select * from t for update skip locked
select * from t lock in share mode wait 1
"""
