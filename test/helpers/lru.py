# Exact LRU in bytes: reads the memories, then 'key size' a line from stdin, and prints the hits of the second half, a line a memory.
import sys
from collections import OrderedDict

lines = sys.stdin.read().split('\n')
requests = [line.split() for line in lines[1:] if line]
for memory in map(float, lines[0].split()):
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
