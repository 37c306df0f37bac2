/* ---
title: Departures by how late they were
--- */
with own as ({{> own_flights }})
select
    {{ params.step | trunc(day) }} as step,
    sum(case when dep_delay < 15 then 1 else 0 end) as on_time,
    sum(case when dep_delay >= 15 and dep_delay < 60 then 1 else 0 end) as late,
    sum(case when dep_delay >= 60 then 1 else 0 end) as very_late,
    sum(case when dep_delay is null then 1 else 0 end) as cancelled
from own
group by 1
order by 1
