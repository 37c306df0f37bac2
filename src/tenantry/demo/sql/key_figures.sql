-- One row: the key figures of a period. A period without flights gives zero and nulls.
select
    count(*) as flights,
    avg(case when arr_delay < 15 then 1e0 when arr_delay >= 15 then 0e0 end) as on_time_share,
    avg(dep_delay) as mean_delay,
    avg(case when dep_delay is null then 1e0 else 0e0 end) as cancelled_share
from flights
where carrier = {{ carrier }}
  and origin in {{ home_airports }}
  [[ and flight_date >= {{ params.from }} ]]
  [[ and flight_date <= {{ params.to }} ]]
