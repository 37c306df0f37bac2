/* ---
title: Flights
description: The flights of one airline in the viewer's period. Every query of the demo asks these, and nothing else.
--- */
select day, week, weekday, weekday_name, origin, dest, route, airport, distance, dep_delay, arr_delay
from departures
where carrier = {{ carrier }}
  and origin in {{ home_airports }}
  and {{ params.period | within(day) }}
  and {{ params.origin | matches(origin) }}
  and {{ params.route | matches(route) }}
