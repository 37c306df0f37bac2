-- The flights on days of the last twelve months: each is moved by as many whole weeks (52 at a time) as bring it nearest
-- to today. So ranges such as the last 30 days have flights, and a weekday stays what it was. A year has a day more than
-- 52 weeks: its last one is left out, for it would come on the day of its first one.
create view departures as
with year as (
    select date '2013-01-01' + cast(i as integer) as own_day, date '1970-01-01' + cast(floor(epoch(now()) / 86400) as integer) as today
    from range(364) as days (i)
),
calendar as (
    select strftime(own_day, '%Y-%m-%d') as flight_date, own_day + cast((today - own_day) // 364 * 364 as integer) as day
    from year
)
select
    day, cast(date_trunc('week', day) as date) as week, isodow(day) as weekday, strftime(day, '%a') as weekday_name,
    carrier, origin, dest, origin || ' → ' || dest as route, airports.name as airport, distance, dep_delay, arr_delay
from calendar
join flights using (flight_date)
join airports on airports.airport = flights.dest;
