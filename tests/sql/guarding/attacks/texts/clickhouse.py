"""Texts for ClickHouse."""

from __future__ import annotations

from typing import Final

QUERIES: Final = """
with 'acme' as `t.tenant` select note as x from t
select note as x from t join (select 'acme' as `t.tenant`) s on 1 = 1
with [3] as `o.id`, 3 as `items.o_id` select note as x from items
select note as x from t array join ['acme'] as `t.tenant`
select note as x from {p:Identifier}
select note as x from viewIfPermitted(select note from vault else null('note String'))
select note as x from values('note String', (select max(note) from vault))
select note as x from t order by id with fill interpolate (note as (select max(note) from vault))
select if(arrayExists(y -> y in vault, [('zqx1', 2, 'zqx v2')]), 'zqx', 'no') as x
select if(('zqx1', 2, 'zqx v2') in tuple(vault), 'zqx', 'no') as x
select note as x from t order by (select max(note) from vault)
select note as x from `t`
select note as x from default.`t`
select note as x from "default"."t"
select default.t.note as x from t
with ((a, b) -> 1) as equals select note as x from t
with ((a, b) -> 1) as ^equals^ select note as x from t
with (a, b) -> 1 as and select note as x from t
with (a -> 'k') as toString select note as x from t
with tuple(((a, b) -> 1) as equals) as k select note as x from t
with identity(((a, b) -> 1) as equals) as k select note as x from t
with arrayExists(((a) -> 1) as `not`, [1]) as k select note as x from docs
with plus as equals select note as x from t
with 'acme' as owner, 0 as hidden select note as x from docs
with 'acme' as tenant select note as x from t
with cast(tuple('acme'), 'Tuple(tenant String)') as t select note as x from t
with cast(tuple(3), 'Tuple(id Int64)') as o select note as x from items
select x from (select 'acme' as owner, 0 as hidden) c, (select note as x from docs) d
select note as x from t final
select note as x from t as a final
select a.note as x from default.t as a final
select note as x from t sample 1
select note as x from t sample 1/1 offset 0
select note as x from t sample 1000000
select note as x from t prewhere 1
select note as x from t prewhere tenant = {{ tenant }} or 1
select note as x from t prewhere id > 3 where 1
from t select note as x
from t as a select a.note as x
from t final select note as x
from (select * from t) select note as x
with 1 as y select note as x from t
with 1 as t select note as x from t
with 'k' as t select note as x from t
with (select 1) as t select note as x from t
with (select max(note) from t) as m select m as x
with (select max(note) from t) as m select m as x from countries
with (v -> v) as t select note as x from t
with t as y select note as x from t
with note as y select y as x from t
with t as (select * from t) select note as x from t
with t as (select 'k' as note) select note as x from default.t
with (select 'k' as note) as t select note as x from t
with a as (select * from t), 1 as t select note as x from t
with q as (select note from t) select note as x from q union all select note from q
with recursive t as (select note from default.t union all select note from t where 0) select note as x from t
with recursive q as (select note, 1 as n from t union all select note, n + 1 from q where n < 2) select note as x from q
with materialized_t as materialized (select * from t) select note as x from materialized_t
select (select max(note) from t) as m, m as x
select max(note) as m, m as x from t
select note as x, x as y from t
select x from (select note as x from t)
select note as x from t array join [1, 2] as n
select n as x from t array join [note] as n
select n as x from t left array join [note] as n
select arrayJoin([note]) as x from t
select arrayJoin(groupArray(note)) as x from t
select groupArray(note)[1] as x from (select note from t order by id desc)
select arrayStringConcat(groupArray(note), ',') as x from t
select toString(groupUniqArray(note)) as x from t
select toString(tuple(note)) as x from t
select toString(tuple(*)) as x from t
select toString((note, id)) as x from t
select toString(map('a', note)) as x from t
select argMax(note, id) as x from t
select anyLast(note) as x from t
select max(note) as x from t group by region with totals
select max(note) as x from t group by region with rollup
select max(note) as x from t group by region with cube
select maxIf(note, 1) as x from t
select quantileExactHigh(0.9)(amount) || '' as x from t
select toString(topK(9)(note)) as x from t
select toString(sumMap(map(note, 1))) as x from t
select note as x from t limit 1 by note
select note as x from t limit 0, 5
select note as x from t order by id desc limit 2 with ties
select note as x from t order by id with fill
select note as x from t qualify row_number() over (order by id desc) < 3
select note as x from t window w as (order by id)
select last_value(note) over (order by id rows between unbounded preceding and unbounded following) as x from t
select note as x from t where id in (select id from t)
select note as x from t where id global in (select id from t)
select note as x from t where id not in (select id from o)
select note as x from t where id global not in (select id from o)
select case when ('zqx1', 4, 'eu', 1000004, 'zqx t4') in t then 'zqx' else 'no' end as x
select if(('zqx1', 2, 'zqx v2') in vault, 'zqx', 'no') as x
select if(('zqx1', 2, 'zqx v2') in default.vault, 'zqx', 'no') as x
select if(('zqx1', 2, 'zqx v2') in (vault), 'zqx', 'no') as x
select if(('zqx1', 2, 'zqx v2') global in vault, 'zqx', 'no') as x
select if(('zqx1', 2, 'zqx v2') not in vault, 'no', 'zqx') as x
select if(in(('zqx1', 2, 'zqx v2'), vault), 'zqx', 'no') as x
select if(in(('zqx1', 2, 'zqx v2'), (select * from vault)), 'zqx', 'no') as x
select if(notIn(4, (select id from t)), 'no', 'zqx') as x
select if(globalIn(4, (select id from t)), 'zqx', 'no') as x
select if(exists(select 1 from t where id > 3), 'zqx', 'no') as x
select amount > 5 ? 'zqx' : 'no' as x from t
select name as x from countries where ('zqx1', 4, 'eu', 1000004, 'zqx t4') in t
select t.note as x from t any left join o on t.id = o.t_id
select t.note as x from t all inner join o on t.id = o.t_id
select o.note as x from t any join o using id
select t.note as x from t semi left join o on t.id = o.t_id
select t.note as x from t left anti join o on t.id = o.t_id
select t.note as x from t asof join o on t.region <> o.note and t.id >= o.id
select t.note as x from t global any left join o using (id)
select t.note as x from t global join o on t.id = o.t_id
select t.note as x from t paste join (select 1 as n) p
select t.note as x from t full join o using (id)
select t.note as x from countries right join t on t.region = countries.code
select t.note as x from o natural right join t
select note as x from merge('default', 't')
select note as x from merge('t')
select note as x from merge(default, 'vault')
select note as x from merge(currentDatabase(), 'vault')
select note as x from view(select * from t)
select note as x from view(select note from vault)
select explain as x from viewExplain('EXPLAIN', '', (select * from t))
select explain as x from (explain select * from t)
select note as x from loop(default, t) limit 9
select note as x from cluster('default', default.t)
select note as x from clusterAllReplicas('default', default, t)
select note as x from remote('127.0.0.1', default.t)
select note as x from remote('127.0.0.1', default, t)
select note as x from remote('127.0.0.1', view(select * from t))
select note as x from dictionary('d_t')
select note as x from dictionary(d_t)
select note as x from d_t
select note as x from default.d_t
select note as x from j_t
select note as x from mergeTreeIndex(default, t)
select dictGet('d_t', 'note', toUInt64(4)) as x
select dictGet('default.d_t', 'note', toUInt64(4)) as x
select dictGet(d_t, 'note', toUInt64(4)) as x
select dictGetString('d_t', 'note', toUInt64(4)) as x
select dictGetOrDefault('d_t', 'note', toUInt64(4), '') as x
select dictGetOrNull('d_t', 'note', toUInt64(4)) as x
select toString(dictHas('d_t', toUInt64(4))) as x
select DICTGET('d_t', 'note', toUInt64(4)) as x
select joinGet('j_t', 'note', toInt64(4)) as x
select joinGet(j_t, 'note', toInt64(4)) as x
select joinGet('default.j_t', 'note', toInt64(4)) as x
select joinGetOrNull('j_t', 'note', toInt64(4)) as x
select top_note() as x
select top_note() as x from countries
select toString(hasColumnInTable('default', 'vault', 'note')) as x
select name as x from system.tables
select create_table_query as x from system.tables where name = 'vault'
select name as x from system.columns where table = 'vault'
select table as x from system.parts
select query as x from system.processes
select name as x from information_schema.tables
select table_name as x from Information_schema.TABLES
select toString(eval('1')) as x
select file('/etc/passwd') as x
select x from file('/etc/passwd', 'LineAsString', 'x String')
select x from input('x String')
select c1 as x from values('c1 String', 'k') v, t
select t.note as x from values t
select note as x from numbers(1) n, t
select note as x from numbers(1), t
select note as x from t, numbers(1)
select toString(number) || note as x from numbers(1) cross join t
select note as x from generateSeries(1, 1), t
select note as x from system.one, t
select note as x from system.numbers join t on number = id limit 3
select columns('note') as x from t
select columns('no.*') from t
select t.columns('note') from t
select * except (tenant, id, region, amount) from t
select * except tenant from (select tenant, note as x from t)
select * apply toString from (select note as x from t)
select * replace ('k' as tenant) from (select tenant, note as x from t)
select a.note as x from t as a, t as b
select a.note as x from t a inner join t b on a.id = b.id
select t.note as x from t inner join default.t as u on u.id = t.id
select note as x from t settings final = 1
select note as x from t settings max_threads = 1
select note as x from t settings additional_table_filters = {'t': 'id > 3'}
select note as x from t settings additional_result_filter = 'x > \\'q\\''
select note as x from t format JSON
select note as x from t union distinct select note from o
select note as x from t except distinct select note from o
select note as x from t intersect select note from t
(select note as x from t) union all (select note from o)
select note::String as x from t
select cast(note, 'String') as x from t
select note as x from t where 1 settings optimize_move_to_prewhere = 0
select transform(amount, [1000004], ['zqx'], 'no') as x from t
select multiIf(amount > 5, 'zqx', 'no') as x from t
select neighbor(note, 1) as x from t
select runningAccumulate(s) || '' as x from (select sumState(amount) as s from t group by id)
select note as x from t where not ignore(*)
select identity(note) as x from t
select materialize(note) as x from t
select formatRow('CSV', note) as x from t
select note as x from t where like(note, 'z%')
select note as x from t where equals(tenant, {{ tenant }}) or 1
select note as x from t where tenant = {{ tenant }} or 1
select note as x from t where tenant ilike {{ tenant }}
select note as x from t where tenant != {{ tenant }}
select note as x from t where tenant == {{ tenant }} or notEmpty(note)
select untuple((note, 1)) from t
select s.1 as x from (select tuple(note, 1) as s from t)
select x.1 from (select tuple(note) as x from t)
select interpolated as x from (select note as interpolated from t)
select distinct on (region) note as x from t
select top 5 note as x from t
select any(note) as x from t where id > 3
select lambda(v -> v)(note) as x from t
select arrayMap(v -> v, [note])[1] as x from t
select arrayMap(t -> t, [note])[1] as x from t
select arrayFirst(v -> 1, groupArray(note)) as x from t
"""
ODD: Final = (
    "select note as x from t # comment\n",
    "select note as x from t #! comment\n",
    "select note as x from t // comment\n",
    "select note as x from // countries\n t",
    "select note as x from t /* /* */ where 1 = 0 */",
    "select note as x from t where $$ from countries $$ != ''",
    "select note as x from t where $a$ ' $a$ != ''",
    "select note as x from t where '\\'' != ''",
    "select note as x from t where 'a\\\\' != ' or '",
    "select note as x from t where \u2018a\u2019 != ''",
    "select note as x from \u201ct\u201d",
    "select note as x from t where 'it''s' != ''",
    "select note as x from t as `a\\`b`",
    "select note as x from `\\x74`",
    "select note as x from t as `from countries`",
    "select note as x from t where x'7a' = 'z'",
    "select note as x from t where 0x7a > 1 and 1_000 > 1",
    "select note as x from t where 1\u22121 = 0",
    "select note as x from t where 1 = 1;",
    "select note as x,from t",
    "select note as x from t where t.`note` != ''",
    "select note as x from t \\G",
    "select note as x from t where -- \n 1",
    "select note as x from t where 1 --not a comment\n",
    "select note as x from t where b'1' != ''",
)
STATEMENTS: Final = """
from t
from t select *
select * from t final
select * from t sample 1
select * from t prewhere 1
select * from t array join [1]
select * from t limit 1 by region
select * from t any join o using id
select * from t paste join o
select t.* from t
select t.*, o.* from t, o
select count() from t
select count() from items
select count from (select count() as count from t)
select uniq(note) from t
select sum(amount), avg(amount) from t
select sumState(amount) from t
select groupArray((id, note)) from t
select groupBitmap(toUInt64(id)) from t
select _part, id from t
select _table, id from t
select _partition_id, count() from t group by 1
select * from t where _part != ''
select region, count() from t group by region with totals
select count() from t settings optimize_trivial_count_query = 1
describe t
describe vault
describe table t
describe (select * from t)
show tables
show create table vault
show columns from vault
exists table vault
exists vault
explain select * from t
explain syntax select * from t
explain ast select * from t
explain query tree select * from t
explain estimate select * from t
select * from (explain estimate select * from t)
select * from (describe t)
select * from (show tables)
check table t
watch t
optimize table t
select * from t into outfile '/nonexistent/copy'
select * from t format Null
insert into countries select tenant, note from t
create table stolen engine = Memory as select * from t
select * from merge('default', '.*')
select _table, * from merge('default', '(t|o)')
select * from view(select * from t)
select * from loop(t) limit 3
select * from dictionary('d_t')
select * from d_t
select * from j_t
select * from system.tables
select total_rows from system.tables where name = 't'
select * from system.query_log
select * from system.parts
select * from information_schema.tables
select * from default.vault
select 4 in (select id from t)
select (4, 'zqx t4') in (select id, note from t)
select 4 in t
select * from numbers(2) where number in (select id from t)
select * from t where id in o
select * from t where id in (o)
select * from t where id in default.o
select 1 in (1, 2), * from t
with (select count() from t) as n select n
with (select groupArray(note) from t) as n select n
with n as (select count() from t) select * from n
select (select count() from t) as n, n + 1
select arrayJoin((select groupArray(note) from t))
select * from t where tenant = {{ tenant }} or tenant is null
select * from (select * from t) t join (select * from o) o on o.t_id = t.id
select * from t left join (select * from o join items on items.o_id = o.id) q on q.t_id = t.id
select * from (select 1 as id) a join t using id
parallel with select * from t
select * from t union all select * from t
kill query where 1
values (1)
"""
