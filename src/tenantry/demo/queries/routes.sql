/* ---
title: Routes
description: One row for each route, the busiest first, with what its delays cost at the airline's own price of a minute.
--- */
with own as ({{> own_flights }})
select
    route,
    min(origin) as origin,
    min(airport) as destination,
    min(distance) as distance,
    count(*) as flights,
    avg(case when arr_delay < 15 then 1e0 when arr_delay >= 15 then 0e0 end) as on_time_share,
    avg(dep_delay) as mean_delay,
    avg(case when dep_delay is null then 1e0 else 0e0 end) as cancelled_share,
    coalesce(sum(case when dep_delay > 0 then dep_delay end), 0) * {{ delay_cost }} as delay_cost
from own
group by route
order by flights desc, route
