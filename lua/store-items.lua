-- Stores a batch of items and ranks them.
-- KEYS[1] sorted set, KEYS[2..] item keys (absent: item keys and values alternate in ARGV)
-- ARGV[1] ttl in seconds, ARGV[2] score, ARGV[3..] values, or item key, value, item key, value...
-- Returns how many items were stored. O(M log N), M items of the call, N members of the sorted set.
local ttl, score = ARGV[1], ARGV[2]
local ranked, filled = {}, 0
local stored = 0

local function rank()
  if filled > 0 then redis.call('ZADD', KEYS[1], unpack(ranked, 1, filled)) end
  filled = 0
end

local function store(item, value)
  redis.call('SETEX', item, ttl, value)
  ranked[filled + 1], ranked[filled + 2] = score, item
  filled = filled + 2
  stored = stored + 1
  -- unpack pushes onto Lua's stack, which holds 8,000.
  if filled == 2000 then rank() end
end

if #KEYS > 1 then
  for i = 2, #KEYS do store(KEYS[i], ARGV[i + 1]) end
else
  for i = 3, #ARGV, 2 do store(ARGV[i], ARGV[i + 1]) end
end
rank()
return stored
