select order_id, returned, product, reason, amount, days_kept
from returns
where {{ params.period | within(returned) }}
[[ and product in {{ params.product }} ]]
