from tenantry.aio.backoff import Breaker as Breaker
from tenantry.aio.backoff import reconnect_forever as reconnect_forever
from tenantry.aio.loop_local import LoopLocal as LoopLocal
from tenantry.aio.loop_local import silence_destroy_warning as silence_destroy_warning
from tenantry.aio.publish_queue import Message as Message
from tenantry.aio.publish_queue import PublishQueue as PublishQueue
from tenantry.aio.read_ahead import ReadAhead as ReadAhead
