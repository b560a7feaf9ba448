"""An independent witness of queries: it reads the documents from the server itself and evaluates the queries over them, in
another language and without a line of the code under test.
  python3 test/helpers/query-witness.py HOST PORT PREFIX < lines     password in REDISCLI_AUTH
Each line is JSON: { status, min, max, sort, offset, limit, ids }. It prints { documents, queries, wrong, quoted, unicode,
without_price, without_rating, updates }: how many documents there are, of which kinds, which lines have another answer, and
how many updates the documents show."""

import json
import os
import re
import socket
import sys

host, port, prefix = sys.argv[1:4]
connection = socket.create_connection((host, int(port)))
stream = connection.makefile("rb")


def encoded(words):
    data = [word.encode() for word in words]
    return b"*%d\r\n" % len(data) + b"".join(b"$%d\r\n%s\r\n" % (len(one), one) for one in data)


def ask(commands):
    connection.sendall(b"".join(encoded(words) for words in commands))
    return [reply() for _ in commands]


def reply():
    line = stream.readline()
    kind, rest = line[:1], line[1:-2]
    if kind == b"*":
        return [reply() for _ in range(int(rest))]
    if kind == b"$":
        return None if rest == b"-1" else stream.read(int(rest) + 2)[:-2].decode()
    if kind == b"-":
        sys.exit(f"refused: {rest!r}")
    return rest.decode()


if os.environ.get("REDISCLI_AUTH"):
    ask([("AUTH", os.environ["REDISCLI_AUTH"])])

numeric = ("price", "rating", "created", "stock", "version")
read = {"string": "GET", "hash": "HGETALL", "ReJSON-RL": "JSON.GET"}
documents = {}
cursor = None
while cursor != "0":
    [[cursor, keys]] = ask([("SCAN", cursor or "0", "MATCH", prefix + "doc:*", "COUNT", "1000")])
    kinds = ask([("TYPE", key) for key in keys])
    values = ask([(read[kind], key) for kind, key in zip(kinds, keys)])
    for key, kind, value in zip(keys, kinds, values):
        if kind == "hash":
            pairs = zip(value[::2], value[1::2])
            documents[key] = {name: float(text) if name in numeric else text for name, text in pairs}
        else:
            documents[key] = json.loads(value)

wrong = []
lines = [json.loads(line) for line in sys.stdin if line.strip()]
for number, line in enumerate(lines):
    field = line["sort"].replace("-desc", "")
    sign = -1 if line["sort"].endswith("-desc") else 1

    def place(key):
        value = documents[key].get(field)
        return (1, 0) if value is None else (0, sign * float(value))

    matching = [
        key
        for key, document in documents.items()
        if document["status"] == line["status"]
        and document.get("price") is not None
        and line["min"] <= document["price"] <= line["max"]
    ]
    page = sorted(place(key) for key in matching)[line["offset"] : line["offset"] + line["limit"]]
    # Documents with equal values may come in any order, each once.
    given = line["ids"]
    are_matching = len(set(given)) == len(given) and set(given) <= set(matching)
    if not are_matching or [place(key) for key in given] != page:
        wrong.append(number)

texts = [json.dumps(document, ensure_ascii=False) for document in documents.values()]
fields = [field for document in documents.values() for field in document.items()]
found = {
    "documents": len(documents),
    "queries": len(lines),
    "wrong": wrong,
    "quoted": sum('\\"' in text for text in texts),
    "unicode": sum(not text.isascii() for text in texts),
    "without_price": sum("price" not in document for document in documents.values()),
    "without_rating": sum("rating" not in document for document in documents.values()),
    "updates": sum(int(value) for name, value in fields if re.fullmatch(r"w[0-9]+", name)),
}
print(json.dumps(found))
