-- One row per route, the busiest first, with what its delays cost at the group's own price of a minute.
select
    origin,
    dest,
    min(airports.name) as airport,
    min(distance) as distance,
    count(*) as flights,
    avg(case when arr_delay < 15 then 1e0 when arr_delay >= 15 then 0e0 end) as on_time_share,
    avg(dep_delay) as mean_delay,
    avg(case when dep_delay is null then 1e0 else 0e0 end) as cancelled_share,
    coalesce(sum(case when dep_delay > 0 then dep_delay end), 0) * {{ delay_cost }} as delay_cost
from flights
join airports on airports.airport = flights.dest
where carrier = {{ carrier }}
  and origin in {{ home_airports }}
  [[ and flight_date >= {{ params.from }} ]]
  [[ and flight_date <= {{ params.to }} ]]
group by origin, dest
order by flights desc, origin, dest
