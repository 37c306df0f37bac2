/* ---
title: Departures by minutes of delay
description: Steps of five minutes, from half an hour early to three hours late, with the share of flights up to each.
--- */
with own as ({{> own_flights }}),
steps as (
    select dep_delay - ((dep_delay % 5) + 5) % 5 as minutes
    from own
    where dep_delay between -30 and 179
)
select
    minutes,
    minutes + 5 as up_to,
    count(*) as flights,
    sum(count(*)) over (order by minutes) * 1e0 / sum(count(*)) over () as share
from steps
group by minutes
order by minutes
