select distinct product from returns order by product
