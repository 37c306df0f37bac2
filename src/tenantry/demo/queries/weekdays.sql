/* ---
title: Mean departure delay by week and weekday
--- */
with own as ({{> own_flights }})
select week, weekday_name as day_of_week, avg(dep_delay) as mean_delay
from own
group by week, weekday_name, weekday
order by weekday, week
