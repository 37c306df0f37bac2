select count(*) as returns, sum(amount) as amount, avg(days_kept) as mean_days, max(amount) as largest
from returns
where {{ params.period | within(returned) }}
[[ and product in {{ params.product }} ]]
