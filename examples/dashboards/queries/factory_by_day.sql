/* ---
params:
  unit: {type: choice, choices: [day], default: day}
--- */
select {{ params.unit | trunc(taken) }} as day, count(*) as readings
from readings
where {{ params.period | within(taken) }}
[[ and sensor in {{ params.sensor }} ]]
[[ and pressure >= {{ params.least }} ]]
group by 1
order by 1
