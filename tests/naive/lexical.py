"""Lexical paths, written directly from docs/definitions.md."""


def within(function, host, nested):
	"""Whether `function` is nested in `host`, or in a function that is."""
	return any(f == function and (g == host or within(g, host, nested)) for f, g in nested)


def may_call_by_name(f, caller, called, nested):
	return caller == f or (f, caller) in called or any(within(caller, host, nested) for name, host in nested if name == f)


def lexical(path, taken, called, nested, functions):
	"""Returns the lexical path of a path of one thread that no other one started. `taken`, `called`, `nested`: sets of pairs (f, g).
	`functions`: of the whole profile."""
	paths = [] # of the frames up to each one
	for index, f in enumerate(path):
		above = paths[-1] if index else []
		takers = {g for name, g in taken | nested if name == f}
		if index and takers and not may_call_by_name(f, path[index - 1], called, nested):
			innermost = [at for at in range(index) if path[at] in takers]
			if innermost:
				above = paths[innermost[-1]]
			elif len(takers) == 1 and takers <= functions:
				above = [*takers]
		paths.append([*above, f])
	return paths[-1]
