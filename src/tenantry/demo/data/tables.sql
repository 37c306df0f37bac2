-- The same for both sources. Dates are ISO 8601 text, which both compare alike; a flight without dep_delay never left.
create table airports (airport varchar not null primary key, name varchar not null);
create table flights (
    carrier varchar not null, origin varchar not null, dest varchar not null, distance integer not null,
    month integer not null, flight_date varchar not null, dep_delay integer, arr_delay integer
);
