"""The same app in each framework, mounted as its users mount it: ``uvicorn tests.middleware.frameworks.litestar:app``.

``/me`` shows all that it sees of its request, ``/stream`` and the websocket ``/live`` say the group's name again and
again. What the tests ask beside it is in ``control``.
"""
