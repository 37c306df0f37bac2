select taken, sensor, pressure
from readings
where {{ params.period | within(taken) }}
[[ and sensor in {{ params.sensor }} ]]
[[ and pressure >= {{ params.least }} ]]
order by taken, sensor
