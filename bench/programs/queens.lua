-- All solutions of the queens puzzle on an N x N board, N from the command line (default 9), repeated R times.
local n = tonumber(arg[1]) or 9
local rounds = tonumber(arg[2]) or 240

local function safe(columns, row, column)
	for i = 1, row - 1 do
		local other = columns[i]
		if other == column or other - i == column - row or other + i == column + row then
			return false
		end
	end
	return true
end

local function place(columns, row)
	if row > n then
		return 1
	end
	local found = 0
	for column = 1, n do
		if safe(columns, row, column) then
			columns[row] = column
			found = found + place(columns, row + 1)
		end
	end
	return found
end

local found
for _ = 1, rounds do
	found = place({}, 1)
end
print(n, found)
