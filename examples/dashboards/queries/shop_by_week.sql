/* ---
params:
  unit: {type: choice, choices: [week], default: week}
--- */
select {{ params.unit | trunc(returned) }} as week, count(*) as returns
from returns
where {{ params.period | within(returned) }}
[[ and product in {{ params.product }} ]]
group by 1
order by 1
