/* ---
title: Airports of departure
description: What a viewer can choose from.
--- */
select distinct departures.origin, airports.name as label
from departures
join airports on airports.airport = departures.origin
where carrier = {{ carrier }} and origin in {{ home_airports }}
order by departures.origin
