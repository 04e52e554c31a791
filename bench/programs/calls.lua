-- Calls most kinds of Lua's functions, to compare the counts of their calls. Each run does the same work.
collectgarbage("generational")
local seen = {}
for i = 1, 300 do
	seen[#seen + 1] = ("%d:%s"):format(i, string.rep("x", i % 7))
end
table.sort(seen, function(a, b) return #a < #b or (#a == #b and a < b) end)
local words = 0
for word in table.concat(seen, " "):gmatch("%d+:x*") do
	words = words + #word
end
local made = setmetatable({}, { __index = function(t, k) local v = k * k; rawset(t, k, v); return v end })
local sum = 0
for i = 1, 200 do
	sum = sum + made[i % 50] // 1
end
local co = coroutine.wrap(function(n)
	for i = 1, n do
		coroutine.yield(i)
	end
end)
for _ = 1, 50 do
	sum = sum + co(50)
end
for i = 1, 50 do
	local ok, message = pcall(function() if i % 2 == 0 then error({ code = i }) end return nil + i end)
	sum = sum + (type(message) == "table" and message.code or #message)
end
local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end
sum = sum + fib(15) + load("return 6 * 7")()
collectgarbage()
assert(words > 0 and sum > 0)
print(words, sum)
