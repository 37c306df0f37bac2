-- The flights on days of the last twelve months: each is moved by as many whole weeks (52 at a time) as bring it nearest
-- to today. So ranges such as the last 30 days have flights, and a weekday stays what it was. A year has a day more than
-- 52 weeks: its last one is left out, for it would come on the day of its first one.
create view departures as
with recursive year (flight_date) as (
    select '2013-01-01' union all select date(flight_date, '+1 day') from year where flight_date < '2013-12-30'
),
calendar as (
    select
        flight_date,
        date(flight_date, (cast(julianday('now', 'start of day') - julianday(flight_date) as integer) / 364 * 364) || ' days') as day
    from year
)
select
    day, date(day, 'weekday 0', '-6 days') as week, (strftime('%w', day) + 6) % 7 + 1 as weekday,
    substr('SunMonTueWedThuFriSat', strftime('%w', day) * 3 + 1, 3) as weekday_name,
    carrier, origin, dest, origin || ' → ' || dest as route, airports.name as airport, distance, dep_delay, arr_delay
from calendar
cross join flights using (flight_date) -- in this order: the index is of carrier and day
join airports on airports.airport = flights.dest;
