-- Stores nothing: shows what calling a script with that many arguments costs before it has done anything.
-- KEYS and ARGV as of store-items.lua
-- Returns 0. O(N), N arguments; before Redis 7.0 up to O(N^2), where long values differ in few of their bytes.
return 0
