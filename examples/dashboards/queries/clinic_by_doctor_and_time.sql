select {{ params.step | trunc(starts) }} as step, doctor, sum(balance) as balance
from appointments
where {{ params.period | within(starts) }}
[[ and doctor in {{ params.doctor }} ]]
group by 1, 2
order by 1, 2
