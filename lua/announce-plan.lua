-- Announces in the target what is written there, for readers, for other writers and for cleaning up.
-- KEYS[1] hash of plans, ARGV[1] field, ARGV[2] the plan as JSON, ARGV[3] milliseconds it is to last,
-- ARGV[4] 'begin', 'renew' or 'end', ARGV[5] milliseconds after which a silent plan is no longer being written
-- Keeps the moment at which the same plan was first announced while it is announced without a break. A plan that
-- begins beside another one that is being written is not announced.
-- Returns the server's time in epoch milliseconds, and the other plan that is being written, or ''.
-- O(P), P plans there.
if redis.replicate_commands then redis.replicate_commands() end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local silent = tonumber(ARGV[5])

local function announced_in(text)
  local known, announced = pcall(cjson.decode, text)
  if known and type(announced) == 'table' and tonumber(announced.renewedMs) and tonumber(announced.ttlS) then return announced end
end

local before = redis.call('HGET', KEYS[1], ARGV[1])
local rival = ''
if redis.call('HLEN', KEYS[1]) > (before and 1 or 0) then
  local plans = redis.call('HGETALL', KEYS[1])
  for i = 1, #plans, 2 do
    local announced = announced_in(plans[i + 1])
    if plans[i] == ARGV[1] then
      -- Our own.
    elseif not announced or now - announced.renewedMs > 1000 * (math.max(180, 2 * announced.ttlS) + 60) then
      -- Its keys are gone: each plan says how long they last.
      redis.call('HDEL', KEYS[1], plans[i])
    elseif announced.ended ~= true and now - announced.renewedMs < silent then
      rival = plans[i + 1]
    end
  end
end
if rival ~= '' and ARGV[4] == 'begin' then return {now, rival} end

local first = now
if before then
  local announced = announced_in(before)
  -- The rest of the text must be the same, or it is another plan.
  if announced and now - announced.renewedMs < silent
    and string.sub(before, 1, #ARGV[2] - 1) == string.sub(ARGV[2], 1, -2) then
    first = announced.startedMs
  end
end
local announced = string.format('%s,"startedMs":%.0f,"renewedMs":%.0f,"ended":%s}', string.sub(ARGV[2], 1, -2),
  first, now, ARGV[4] == 'end' and 'true' or 'false')
redis.call('HSET', KEYS[1], ARGV[1], announced)
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
return {now, rival}
