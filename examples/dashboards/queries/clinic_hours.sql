select extract(hour from starts) as hour, dayname(starts) as weekday, count(*) as booked
from appointments
where {{ params.period | within(starts) }}
[[ and doctor in {{ params.doctor }} ]]
group by 1, 2, isodow(starts)
order by isodow(starts), 1
