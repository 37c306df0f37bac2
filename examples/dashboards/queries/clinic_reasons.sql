select reason, count(*) as booked, sum(balance) as balance
from appointments
where {{ params.period | within(starts) }}
[[ and doctor in {{ params.doctor }} ]]
group by reason
order by booked desc
