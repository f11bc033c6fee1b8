"""The model worker's entry: `python -I -m afterturn.models.worker REQUESTS_FD REPLIES_FD SERVER_PID`.

It is started by the server alone, which also decides its environment (models/worker_environment.py).
"""

import sys


def main() -> None:
    """Serve the server that started this process until it goes."""
    from afterturn.child.isolation import die_with, give_way, take_pipes

    requests_fd, replies_fd, parent = take_pipes(sys.argv[1:])
    die_with(parent)
    give_way()
    from afterturn.models.worker.serving import Serving

    Serving(requests_fd, replies_fd).run()


if __name__ == "__main__":
    main()
