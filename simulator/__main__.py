"""`python -m simulator`: a simulated cluster of its own, until it is told to stop."""

import argparse
import signal
import sys
import threading

from simulator.server import start


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    has_life = options.workload == "fleet" and options.speed > 0
    with start(
        options.workload,
        port=options.port,
        life=has_life,
        seed=options.seed,
        speed=options.speed,
        token=options.token,
        # The ground truth is for tests, which are in the same process.
        log_kept=0,
    ) as simulator:
        sys.stdout.write(f"simulated cluster: {simulator.url}\n")
        sys.stdout.flush()
        stopped = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stopped.set())
        stopped.wait()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m simulator", description=__doc__)
    parser.add_argument("--port", type=int, default=25400, help="on 127.0.0.1; 0 chooses one")
    parser.add_argument("--seed", type=int, default=7, help="the same seed, the same cluster")
    parser.add_argument(
        "--speed",
        type=float,
        default=1.0,
        help="how fast simulated time passes; 0 stands still (default: %(default)s)",
    )
    parser.add_argument("--workload", choices=("fleet", "S", "L", "X"), default="fleet")
    parser.add_argument("--token", help="the bearer token that clients must send")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
