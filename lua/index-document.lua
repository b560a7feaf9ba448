-- Stores a document, or takes the one that is stored, and keeps the indexes in step with it: sorted sets by price and by
-- the field to sort by, and a set for each status.
-- KEYS document, sorted set of prices, sorted set of the field to sort by
-- ARGV text of the document or '' for the stored one, field to sort by, 1 = highest first, head of the names of the sets
-- Returns OK. O(log documents)
local before = redis.call('GET', KEYS[1])
local text = ARGV[1]
if text == '' then text = before else redis.call('SET', KEYS[1], text) end
local document = cjson.decode(text)
if before then
  local old = cjson.decode(before)
  if old.status ~= document.status then redis.call('SREM', ARGV[4] .. old.status, KEYS[1]) end
end
redis.call('SADD', ARGV[4] .. document.status, KEYS[1])
if document.price then redis.call('ZADD', KEYS[2], document.price, KEYS[1]) end
local key = document[ARGV[2]]
redis.call('ZADD', KEYS[3], key and (ARGV[3] == '1' and -1 or 1) * key or '+inf', KEYS[1])
return redis.status_reply('OK')
