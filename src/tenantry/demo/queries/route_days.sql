/* ---
title: Days
--- */
with own as ({{> own_flights }})
select day, count(*) as departed, avg(dep_delay) as mean_delay, max(dep_delay) as longest_delay
from own
where dep_delay is not null
group by day
order by day
