-- Filters all documents by string matching, sorts what matches and returns a page of it.
-- KEYS none: the documents are found by their names
-- ARGV pattern of the keys, status, lowest price, highest price, field to sort by, 1 = highest first, offset, limit
-- Returns keys of documents. O(documents): no other client is served meanwhile
local status = '"status":"' .. ARGV[2] .. '"'
local low, high = tonumber(ARGV[3]), tonumber(ARGV[4])
local sorted_by = '"' .. ARGV[5] .. '":([%d.]+)'
local sign = ARGV[6] == '1' and -1 or 1
local rows = {}
local seen = {}
local cursor = '0'
repeat
  local reply = redis.call('SCAN', cursor, 'MATCH', ARGV[1], 'COUNT', 1000)
  cursor = reply[1]
  if #reply[2] > 0 then
    local texts = redis.call('MGET', unpack(reply[2]))
    for i, text in ipairs(texts) do
      if text and not seen[reply[2][i]] and string.find(text, status, 1, true) then
        local price = tonumber(string.match(text, '"price":(%-?%d+)'))
        if price and price >= low and price <= high then
          local key = tonumber(string.match(text, sorted_by))
          seen[reply[2][i]] = true
          rows[#rows + 1] = { key and sign * key or math.huge, reply[2][i] }
        end
      end
    end
  end
until cursor == '0'
table.sort(rows, function(a, b) return a[1] < b[1] end)
local page = {}
local from = tonumber(ARGV[7])
for i = from + 1, math.min(#rows, from + tonumber(ARGV[8])) do page[#page + 1] = rows[i][2] end
return page
