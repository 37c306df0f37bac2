select avg(leak) as mean_leak, avg(pressure) as mean_pressure, count(*) as readings, sum(batches) as batches
from readings
where {{ params.period | within(taken) }}
[[ and sensor in {{ params.sensor }} ]]
[[ and pressure >= {{ params.least }} ]]
