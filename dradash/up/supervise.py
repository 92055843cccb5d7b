"""The supervisor library, run in this process: it starts the programs, restarts what dies, and stops all."""

import signal
import sys
from contextlib import suppress
from pathlib import Path

from supervisor import events, poller
from supervisor.medusa import asyncore_25 as asyncore
from supervisor.options import ServerOptions
from supervisor.states import SupervisorStates
from supervisor.supervisord import Supervisor

from dradash.up.programs import STARTER_FAILED

# The library looks at its programs once a second; a start or a stop takes several looks.
LOOK_SECONDS = 0.1


def run(configuration: Path) -> int:
    """Run until a signal or a failed start; the exit code for the shell."""
    options = _Options()
    options.realize(["--configuration", str(configuration)])
    options.first, options.test = True, False
    options.poller = _ImpatientPoller(options)
    supervisor = _Supervisor(options)
    with suppress(asyncore.ExitNow):  # how the library ends
        supervisor.main()
    return 1 if supervisor.has_failed else 0


class _Options(ServerOptions):
    def get_signal(self) -> int | None:
        """A closed terminal (SIGHUP) stops everything too; the library would start it all again."""
        number: int | None = super().get_signal()
        return signal.SIGTERM if number == signal.SIGHUP else number


class _ImpatientPoller(poller.Poller):
    def poll(self, timeout: float) -> tuple[list[int], list[int]]:
        readable_writable: tuple[list[int], list[int]] = super().poll(min(timeout, LOOK_SECONDS))
        return readable_writable


class _Supervisor(Supervisor):
    has_failed = False

    def runforever(self) -> None:
        events.subscribe(events.ProcessLogStdoutEvent, _print)
        events.subscribe(events.ProcessStateExitedEvent, self._on_exit)
        super().runforever()

    def _on_exit(self, event: events.ProcessStateExitedEvent) -> None:
        if event.process.config.name == "starter" and event.process.exitstatus == STARTER_FAILED:
            self.has_failed = True
            self.options.mood = SupervisorStates.SHUTDOWN


def _print(event: events.ProcessLogStdoutEvent) -> None:
    text = event.data if isinstance(event.data, str) else event.data.decode("utf-8", "replace")
    sys.stdout.write(text)
    sys.stdout.flush()
