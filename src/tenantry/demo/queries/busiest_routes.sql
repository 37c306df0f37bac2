/* ---
title: Busiest routes
--- */
with routes as ({{> routes }})
select route, flights
from routes
order by flights desc, route
limit 10
