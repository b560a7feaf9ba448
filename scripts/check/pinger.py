"""An independent witness of what another application gets from a server: a process of its own, in another language, that
shares no code with the bystander and whose clock wakes within 0.1 ms. One PING at a random moment of each 20 ms on one
connection, timed from the moment it was due; or the SETEX of a value of so many bytes at an even rate.
  python3 scripts/check/pinger.py HOST PORT [HZ BYTES]     password in REDISCLI_AUTH; a line on stdin ends it
It prints { dueMs, latencies, lateness }: of each PING when it was due (epoch), its latency, and how much of that is its
own timer's; all in ms."""

import json
import os
import random
import select
import socket
import sys
import time

host, port = sys.argv[1:3]
is_even = len(sys.argv) > 3
EVERY_S = 1 / float(sys.argv[3]) if is_even else 0.02
value = "x" * int(sys.argv[4]) if is_even else ""
words = ["SETEX", "pinger", "60", value] if is_even else ["PING"]
COMMAND = ("*%d\r\n" % len(words) + "".join("$%d\r\n%s\r\n" % (len(word), word) for word in words)).encode()
connection = socket.create_connection((host, int(port)))
connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def ask(command):
    connection.sendall(command)
    line = b""
    while not line.endswith(b"\r\n"):
        more = connection.recv(256)
        if not more:
            sys.exit("the connection was closed")
        line += more
    return line


password = os.environ.get("REDISCLI_AUTH")
greeting = ask(f"AUTH {password}\r\n".encode() if password else b"PING\r\n")
if greeting not in (b"+OK\r\n", b"+PONG\r\n"):
    sys.exit(f"refused: {greeting!r}")
print("ready", flush=True)

due_ms, latencies, lateness = [], [], []
epoch = time.time() - time.monotonic()
slot = time.monotonic()
due = slot
woke = due
while not select.select([sys.stdin], [], [], 0)[0]:
    now = time.monotonic()
    if due > now:
        time.sleep(due - now)
        woke = time.monotonic()
    # All that was due in the sleep is as late as its timer.
    late = max(0, woke - due)
    ask(COMMAND)
    due_ms.append((epoch + due) * 1000)
    latencies.append((time.monotonic() - due) * 1000)
    lateness.append(late * 1000)
    slot += EVERY_S
    due = slot if is_even else slot + random.random() * EVERY_S
print(json.dumps({"dueMs": due_ms, "latencies": latencies, "lateness": lateness}))
