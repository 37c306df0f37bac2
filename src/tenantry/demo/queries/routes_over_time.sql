/* ---
title: Mean delay of the busiest routes over time
description: The routes that a viewer chose, else the five busiest.
--- */
with own as ({{> own_flights }}),
busiest as (select route from own group by route order by count(*) desc, route limit 5)
select {{ params.step | trunc(day) }} as step, route, avg(dep_delay) as mean_delay
from own
where route in (select route from busiest)
group by 1, 2
order by 1, 2
