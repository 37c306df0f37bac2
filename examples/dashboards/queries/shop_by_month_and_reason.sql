/* ---
params:
  unit: {type: choice, choices: [month], default: month}
--- */
select {{ params.unit | trunc(returned) }} as month, reason, count(*) as returns, sum(amount) as amount
from returns
where {{ params.period | within(returned) }}
[[ and product in {{ params.product }} ]]
group by 1, 2
order by 1, 2
