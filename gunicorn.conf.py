"""Read by gunicorn on its own, for `dradash up` and for the image alike; the address is given on the command line."""

from dradash.loading import finish_loading

wsgi_app = "dradash.wsgi"
worker_class = "gthread"
workers = 2
threads = 4
# Django is loaded once and then forked. Nothing opens a connection while it loads.
preload_app = True
timeout = 60
graceful_timeout = 3
keepalive = 15
control_socket_disable = True


def when_ready(server: object) -> None:
    """Before the first fork: what is loaded here is in memory once, and no garbage collector touches it again."""
    del server
    finish_loading()
