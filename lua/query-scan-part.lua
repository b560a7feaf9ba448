-- Filters a part of the documents by string matching; the caller goes on from the cursor, sorts and takes its page.
-- KEYS none: the documents are found by their names
-- ARGV cursor, pattern of the keys, about how many, status, lowest price, highest price, field to sort by, 1 = highest first
-- Returns the next cursor, and of each document that matches its key and what it is sorted by, '' without it. O(part)
local reply = redis.call('SCAN', ARGV[1], 'MATCH', ARGV[2], 'COUNT', ARGV[3])
local status = '"status":"' .. ARGV[4] .. '"'
local low, high = tonumber(ARGV[5]), tonumber(ARGV[6])
local sorted_by = '"' .. ARGV[7] .. '":([%d.]+)'
local sign = ARGV[8] == '1' and '-' or ''
local rows = {}
if #reply[2] > 0 then
  local texts = redis.call('MGET', unpack(reply[2]))
  for i, text in ipairs(texts) do
    if text and string.find(text, status, 1, true) then
      local price = tonumber(string.match(text, '"price":(%-?%d+)'))
      if price and price >= low and price <= high then
        local key = string.match(text, sorted_by)
        rows[#rows + 1] = reply[2][i]
        rows[#rows + 1] = key and sign .. key or ''
      end
    end
  end
end
return { reply[1], rows }
