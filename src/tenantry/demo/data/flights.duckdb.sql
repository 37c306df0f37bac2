-- DuckDB reads the packed file by itself; it is given every type and guesses none.
insert into flights
select carrier, origin, dest, distance, month, format('2013-{:02d}-{:02d}', month, day), dep_delay, arr_delay
from read_csv($file, header = true, columns = {
    'carrier': 'varchar', 'origin': 'varchar', 'dest': 'varchar', 'distance': 'integer',
    'month': 'integer', 'day': 'integer', 'dep_delay': 'integer', 'arr_delay': 'integer'
})
where list_contains($carriers, carrier);
