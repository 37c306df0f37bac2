-- One row of flights.csv. The columns' affinity turns the text of numbers into integers.
insert into flights
values (?1, ?2, ?3, ?4, ?5, printf('2013-%02d-%02d', ?5, ?6), nullif(?7, ''), nullif(?8, ''))
