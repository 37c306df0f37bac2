/* ---
title: Flights by airport over time
--- */
with own as ({{> own_flights }})
select {{ params.step | trunc(day) }} as step, origin, count(*) as flights
from own
group by 1, 2
order by 1, 2
