select
    doctor,
    count(*) as booked,
    sum(balance) as balance,
    avg(case when attended then 1e0 when not attended then 0e0 end) as attended_share,
    avg(minutes) as mean_minutes
from appointments
where {{ params.period | within(starts) }}
[[ and doctor in {{ params.doctor }} ]]
group by doctor
