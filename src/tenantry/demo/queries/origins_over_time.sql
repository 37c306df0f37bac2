/* ---
title: Flights a day by airport
--- */
with own as ({{> own_flights }})
select {{ params.step | trunc(day) }} as step, origin, count(*) * 1e0 / count(distinct day) as flights
from own
group by 1, 2
order by 1, 2
