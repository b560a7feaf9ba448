# Exact LRU in bytes: reads 'memory key size' a line from stdin, the memory first, and prints the hits of the second half.
import sys
from collections import OrderedDict

lines = sys.stdin.read().split('\n')
memory = float(lines[0])
requests = [line.split() for line in lines[1:] if line]
cache, used, hits = OrderedDict(), 0.0, 0
for i, (key, size) in enumerate(requests):
    size = float(size)
    if key in cache:
        cache.move_to_end(key)
        if i >= len(requests) // 2:
            hits += 1
        continue
    while cache and used + size > memory:
        used -= cache.popitem(last=False)[1]
    if size <= memory:
        cache[key] = size
        used += size
print(hits)
