"""What must be undone when this program ends, however it ends (but by SIGKILL: see namespace.remove_abandoned)."""

import atexit
import signal
import sys

_actions = []


def at_end(action):
    """Registers a function; returns it so that it can be handed to forget()."""
    if not _actions:
        signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
        signal.signal(signal.SIGHUP, lambda number, frame: sys.exit(128 + number))
    _actions.append(action)
    return action


def forget(action):
    if action in _actions:
        _actions.remove(action)


@atexit.register
def run_all():
    """Newest first: processes end before the namespaces they run in."""
    while _actions:
        action = _actions.pop()
        try:
            action()
        except Exception as error:  # the rest must still be undone
            print(f"while cleaning up: {error}", file=sys.stderr)
