select
    count(*) as booked,
    avg(case when attended then 1e0 when not attended then 0e0 end) as attended_share,
    sum(fee) as fees,
    sum(balance) as balance
from appointments
where {{ params.period | within(starts) }}
[[ and doctor in {{ params.doctor }} ]]
