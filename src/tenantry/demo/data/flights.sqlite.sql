-- One row of flights.csv. The columns' affinity turns the text of numbers into integers.
insert into flights
select column1, column2, column3, column4, column5,
  printf('2013-%02d-%02d', column5, column6), nullif(column7, ''), nullif(column8, '')
from (values (?, ?, ?, ?, ?, ?, ?, ?))
