/* ---
params:
  unit: {type: choice, choices: [month], default: month}
--- */
select {{ params.unit | trunc(returned) }} as month, count(*) as returns, sum(amount) as amount
from returns
where {{ params.period | within(returned) }}
[[ and product in {{ params.product }} ]]
group by 1
order by 1
