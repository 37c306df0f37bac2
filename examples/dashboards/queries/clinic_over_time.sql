select {{ params.step | trunc(starts) }} as step, count(*) as booked, sum(fee) as fees
from appointments
where {{ params.period | within(starts) }}
[[ and doctor in {{ params.doctor }} ]]
group by 1
order by 1
