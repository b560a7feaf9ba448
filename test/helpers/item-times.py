"""Times the items that pass between a writer and its server, each from the first byte of the first of its commands to the
reply to the last of them. Prints its port, and when its input ends, as JSON, the microseconds of every item.

usage: item-times.py HOST PORT HELD_MS (how long each reply to a ZADD is held back)
"""
import json
import socket
import sys
import threading
import time

HOST, PORT, HELD_S = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) / 1000
COMMANDS = 2  # of an item: SETEX and ZADD
lock = threading.Lock()
under_way = {}  # item: [when its first command began, replies to come]
took_us = []


class Reader:
    """The values of a stream, each with when its first byte came and its bytes."""

    def __init__(self, connection):
        self.connection, self.bytes, self.at, self.came = connection, b"", 0, []

    def more(self):
        chunk = self.connection.recv(1 << 16)
        if not chunk:
            raise EOFError
        self.came.append((len(self.bytes), time.monotonic()))
        self.bytes += chunk

    def line(self):
        while (end := self.bytes.find(b"\r\n", self.at)) < 0:
            self.more()
        text, self.at = self.bytes[self.at : end], end + 2
        return text

    def value(self):
        line = self.line()
        kind, rest = line[:1], line[1:]
        if kind in b"$=" and int(rest) >= 0:
            while len(self.bytes) < self.at + int(rest) + 2:
                self.more()
            text = self.bytes[self.at : self.at + int(rest)]
            self.at += int(rest) + 2
            return text
        if kind in b"*~>%":
            return [self.value() for _ in range(max(0, int(rest)) * (2 if kind == b"%" else 1))]
        return line

    def next(self):
        while not self.bytes:
            self.more()
        value = self.value()
        whole, began = self.bytes[: self.at], self.came[0][1]
        self.bytes = self.bytes[self.at :]
        self.came = [(max(0, at - self.at), when) for at, when in self.came]
        while len(self.came) > 1 and self.came[1][0] == 0:
            self.came.pop(0)
        if not self.bytes:
            self.came = []
        self.at = 0
        return value, whole, began


def items_of(command):
    name = command[0].upper()
    return [command[1]] if name == b"SETEX" else command[3::2] if name == b"ZADD" else []


def questions(client, server, asked):
    reader = Reader(client)
    while True:
        command, whole, began = reader.next()
        items = items_of(command)
        with lock:
            for item in items:
                under_way.setdefault(item, [began, COMMANDS])
            asked.append((command[0].upper(), items))
        server.sendall(whole)


def answers(client, server, asked):
    reader = Reader(server)
    while True:
        _, whole, _ = reader.next()
        with lock:
            name, items = asked.pop(0)
        if name == b"ZADD":
            time.sleep(HELD_S)
        now = time.monotonic()
        with lock:
            for item in items:
                one = under_way[item]
                one[1] -= 1
                if one[1] == 0:
                    took_us.append(round((now - one[0]) * 1e6))
                    del under_way[item]
        client.sendall(whole)


def pump(work, client, server, asked):
    try:
        work(client, server, asked)
    except (EOFError, OSError):
        for one in (client, server):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def accept(listener):
    while True:
        client, _ = listener.accept()
        server = socket.create_connection((HOST, PORT))
        asked = []
        for one in (client, server):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for work in (questions, answers):
            threading.Thread(target=pump, args=(work, client, server, asked), daemon=True).start()


listening = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=accept, args=(listening,), daemon=True).start()
print(listening.getsockname()[1], flush=True)
sys.stdin.read()
print(json.dumps(took_us))
