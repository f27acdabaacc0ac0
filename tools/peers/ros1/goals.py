"""actionlib's simple client without one defect of its own.

SimpleActionClient stores the handle of a goal when the goal is on its way, and throws away
what comes before: a goal that is refused at once then never ends for it ("Got a transition
callback on a goal handle that we're not tracking").
"""
import threading

import actionlib


class Client(actionlib.SimpleActionClient):
    def __init__(self, *args):
        self.sending = threading.Lock()
        super().__init__(*args)

    def send_goal(self, *args, **named):
        with self.sending:
            super().send_goal(*args, **named)

    # called by the threads that read topics; send_goal waits for no lock that these hold
    def _handle_transition(self, handle):
        with self.sending:
            pass  # until the handle is stored
        super()._handle_transition(handle)
