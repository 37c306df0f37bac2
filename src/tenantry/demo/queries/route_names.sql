/* ---
title: Routes to choose from
--- */
select distinct route
from departures
where carrier = {{ carrier }} and origin in {{ home_airports }}
order by route
