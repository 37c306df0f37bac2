/* ---
params:
  unit: {type: choice, choices: [day], default: day}
--- */
select {{ params.unit | trunc(taken) }} as day, sensor, count(*) as readings, avg(leak) as mean_leak, avg(pressure) as mean_pressure
from readings
where {{ params.period | within(taken) }}
[[ and sensor in {{ params.sensor }} ]]
[[ and pressure >= {{ params.least }} ]]
group by 1, 2
order by 1, 2
