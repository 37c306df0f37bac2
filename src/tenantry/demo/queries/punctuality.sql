/* ---
title: Departures by how late they were
--- */
with own as ({{> own_flights }})
select
    {{ params.step | trunc(day) }} as step,
    sum(case when dep_delay < 15 then 1 else 0 end) as under_15_min,
    sum(case when dep_delay >= 15 and dep_delay < 60 then 1 else 0 end) as from_15_to_59_min,
    sum(case when dep_delay >= 60 then 1 else 0 end) as over_59_min,
    sum(case when dep_delay is null then 1 else 0 end) as cancelled
from own
group by 1
order by 1
