/* ---
title: Key figures over time
description: One row for each day, week or month.
--- */
with own as ({{> own_flights }})
select
    {{ params.step | trunc(day) }} as step,
    count(*) as flights,
    avg(case when arr_delay < 15 then 1e0 when arr_delay >= 15 then 0e0 end) as on_time_share,
    avg(dep_delay) as mean_delay,
    avg(arr_delay) as mean_arrival_delay,
    avg(case when dep_delay is null then 1e0 else 0e0 end) as cancelled_share,
    coalesce(sum(case when dep_delay > 0 then dep_delay end), 0) * {{ delay_cost }} as delay_cost
from own
group by 1
order by 1
