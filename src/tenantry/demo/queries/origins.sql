/* ---
title: Flights by airport
--- */
with own as ({{> own_flights }})
select origin, count(*) as flights
from own
group by origin
order by flights desc, origin
