select id, starts, doctor, reason, minutes, attended, fee, balance
from appointments
where {{ params.period | within(starts) }}
[[ and doctor in {{ params.doctor }} ]]
order by starts, id
