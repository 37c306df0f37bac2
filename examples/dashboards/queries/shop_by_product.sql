select product, sum(amount) as amount, count(*) as returns
from returns
where {{ params.period | within(returned) }}
[[ and product in {{ params.product }} ]]
group by product
order by product
