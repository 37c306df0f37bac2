/* ---
title: Departures by minutes of delay
description: Steps of five minutes, from half an hour early to three hours late, with the share of all flights that left up to each.
--- */
with own as ({{> own_flights }}),
steps as (
    select
        dep_delay - ((dep_delay % 5) + 5) % 5 as minutes,
        count(*) as flights,
        sum(count(*)) over (order by dep_delay - ((dep_delay % 5) + 5) % 5 nulls last) * 1e0 / sum(count(*)) over () as share
    from own
    group by 1
)
select minutes, minutes + 5 as up_to, flights, share
from steps
where minutes between -30 and 175
order by minutes
