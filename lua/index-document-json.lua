-- Stores a document, or takes the one that is stored, and keeps the index in step with it: for each status a sorted set by
-- price, whose members are JSON with all that an answer needs.
-- KEYS document
-- ARGV text of the document or '' for the stored one, head of the names of the sorted sets
-- Returns OK. O(log documents)
local function entry(text)
  local document = cjson.decode(text)
  if not document.price then return end
  local rating = document.rating and string.format('%.1f', document.rating) or 'null'
  local member = '{"key":%s,"created":%.0f,"rating":%s}'
  return ARGV[2] .. document.status, document.price, string.format(member, cjson.encode(KEYS[1]), document.created, rating)
end
local before = redis.call('GET', KEYS[1])
local text = ARGV[1]
if text == '' then text = before else redis.call('SET', KEYS[1], text) end
local index, price, member = entry(text)
if before then
  local old, _, was = entry(before)
  if old and old ~= index then redis.call('ZREM', old, was) end
end
if index then redis.call('ZADD', index, price, member) end
return redis.status_reply('OK')
