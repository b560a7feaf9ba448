-- Fetches the live items of one or more sorted sets with their values, newest first where there is a limit.
-- KEYS[1..] sorted sets, ARGV[1] oldest score that lives, ARGV[2] how many items at most, 0 = all
-- The item keys are the members, which KEYS cannot name: they must lie on this node (one server, or the only
-- master of a cluster).
-- Returns the sets' cardinality, then id, score and value (nil where there is none) of each item.
-- O(log N + M log M), N members, M items; the server does nothing else meanwhile.
local limit = tonumber(ARGV[2])
local cardinality = 0
local found, scores = {}, {}
for _, set in ipairs(KEYS) do
  cardinality = cardinality + redis.call('ZCARD', set)
  local members
  if limit > 0 then
    members = redis.call('ZREVRANGEBYSCORE', set, '+inf', ARGV[1], 'WITHSCORES', 'LIMIT', 0, limit)
  else
    members = redis.call('ZRANGEBYSCORE', set, ARGV[1], '+inf', 'WITHSCORES')
  end
  for i = 1, #members, 2 do
    found[#found + 1] = members[i]
    scores[members[i]] = members[i + 1]
  end
end
if limit > 0 and #KEYS > 1 then
  table.sort(found, function(a, b)
    local x, y = tonumber(scores[a]), tonumber(scores[b])
    if x ~= y then return x > y end
    return a > b
  end)
end
local reply = {cardinality}
local count = limit > 0 and math.min(limit, #found) or #found
for i = 1, count do
  local at = #reply
  reply[at + 1] = found[i]
  reply[at + 2] = scores[found[i]]
  reply[at + 3] = redis.call('GET', found[i])
end
return reply
