"""Waiting for conditions, never for seconds."""

import time


class Timeout(AssertionError):
    pass


def wait_for(condition, what, timeout=10.0, interval=0.02):
    """Returns the first true result of condition(); raises Timeout naming `what` after `timeout` seconds.

    `what` may be a function, called for its text when time is up."""
    end = time.monotonic() + timeout
    while True:
        if result := condition():
            return result
        if time.monotonic() > end:
            raise Timeout(f"after {timeout} s still not: {what() if callable(what) else what}")
        time.sleep(interval)
