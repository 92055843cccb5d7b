"""One way of logging for every process: structlog in front, the standard library behind."""

import logging
import logging.config
from typing import Any

import structlog

SHARED: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.stdlib.ExtraAdder(),
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.StackInfoRenderer(),
]

CONSOLE = structlog.dev.ConsoleRenderer(
    colors=False, exception_formatter=structlog.dev.plain_traceback
)
# Each says a line for every task, of which there are several a second.
CHATTY = ("celery.beat", "celery.worker.strategy", "celery.app.trace", "httpx", "urllib3")

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")


def configure(*, level: str, as_json: bool) -> None:
    """Make structlog and the standard library print the same lines, with what was bound to the context (cluster, sync)."""
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *SHARED,
            structlog.stdlib.PositionalArgumentsFormatter(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    logging.config.dictConfig(_standard_library(level=level, as_json=as_json))


def _standard_library(*, level: str, as_json: bool) -> dict[str, object]:
    last: list[Any] = (
        [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
        if as_json
        else [CONSOLE]
    )
    formatter = {
        "()": structlog.stdlib.ProcessorFormatter,
        "foreign_pre_chain": SHARED,
        "processors": [structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last],
    }
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": formatter},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "loggers": {name: {"level": "WARNING"} for name in CHATTY},
        "root": {"handlers": ["stderr"], "level": level},
    }
