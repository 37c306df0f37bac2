-- One row per month of the year, whatever the period is: the page marks the months that the period touches.
select
    month,
    count(*) as flights,
    avg(dep_delay) as mean_delay
from flights
where carrier = {{ carrier }}
  and origin in {{ home_airports }}
group by month
order by month
