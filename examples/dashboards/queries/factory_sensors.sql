select distinct sensor from readings order by sensor
