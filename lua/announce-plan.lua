-- Says in the target what is being written there, for readers and for whoever finds the keys.
-- KEYS[1] hash of plans, ARGV[1] field, ARGV[2] the plan as JSON, ARGV[3] milliseconds it is to last,
-- ARGV[4] '1' when the writer has ended
-- Keeps the moment at which the same plan was first announced while it is announced without a break.
-- Returns the server's time in epoch milliseconds. O(1), of a plan that is new O(P), P plans there.
if redis.replicate_commands then redis.replicate_commands() end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local first = now
local before = redis.call('HGET', KEYS[1], ARGV[1])
if not before then
  -- A new plan clears away those whose keys are gone: each says how long they last.
  local plans = redis.call('HGETALL', KEYS[1])
  for i = 1, #plans, 2 do
    local known, card = pcall(cjson.decode, plans[i + 1])
    if not known or type(card) ~= 'table' or not tonumber(card.renewedMs) or not tonumber(card.ttlS)
      or now - card.renewedMs > 1000 * (math.max(180, 2 * card.ttlS) + 60) then
      redis.call('HDEL', KEYS[1], plans[i])
    end
  end
else
  local known, card = pcall(cjson.decode, before)
  -- 30 s: a lease. The rest of the text must be the same, or it is another plan.
  if known and type(card) == 'table' and tonumber(card.renewedMs) and now - card.renewedMs < 30000
    and string.sub(before, 1, #ARGV[2] - 1) == string.sub(ARGV[2], 1, -2) then
    first = card.startedMs
  end
end
local card = string.format('%s,"startedMs":%.0f,"renewedMs":%.0f,"ended":%s}', string.sub(ARGV[2], 1, -2),
  first, now, ARGV[4] == '1' and 'true' or 'false')
redis.call('HSET', KEYS[1], ARGV[1], card)
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
return now
