-- Half of the time is spent below direct, three tenths below a recursion, two tenths below a function that the
-- interpreter's C code (string.gsub) calls.
local result = 1

local function work(x)
	for i = 0, 299999 do
		x = (x * 31 + i) % 65536
	end
	return x
end

local function direct(x)
	return work(x) + 1
end

local function descend(depth, x)
	if depth == 0 then
		return work(x) + 1
	end
	return descend(depth - 1, x) + 1
end

local function compare()
	result = work(result)
	return nil
end

local function through_c()
	string.gsub("a", "a", compare)
	return result + 1
end

local x = 1
for _ = 1, tonumber(arg[1] or 300) do
	for _ = 1, 5 do x = direct(x) end
	for _ = 1, 3 do x = descend(8, x) end
	for _ = 1, 2 do x = through_c() end
end
print("share direct;work 0.5\nshare descend;work 0.3\nshare through_c;work 0.2")
