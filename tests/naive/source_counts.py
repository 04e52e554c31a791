"""Counts for compilers, written from docs/definitions.md ("Counts for compilers") alone, sample by sample."""
import collections

SUFFIXES = (".llvm.", ".part.", ".constprop.", ".isra.", ".cold", ".lto_priv.")


def base_name(linkage):
	return linkage[:min([linkage.find(suffix) for suffix in SUFFIXES if linkage.find(suffix) > 0], default=len(linkage))]


def base_discriminator(number):
	if number & 1:
		return 0
	number >>= 1
	return (number >> 1 & 0xfe0 | number & 0x1f) if number & 0x20 else number & 0x1f


def path_of(profile, node):
	"""(location, frame) of each frame, outermost first. A frame is None where code has no function of a file."""
	path = []
	while node:
		row = profile.nodes[node]
		location = profile.locations[row["location"]]
		is_file = profile.modules[location["module"]]["kind"] == 0 and location.get("first_frame") is not None
		first = location.get("first_frame")
		frames = profile.frames[first:first + location["frame_count"]] if is_file else [None]
		path = [(row["location"], frame) for frame in reversed(frames)] + path
		node = row["parent"]
	return path


def counts(profile, nesting, resource=0, chosen=lambda hit: True):
	"""{context: [head, {position: [own, {callee: hits}]}]}. A context is a tuple (name, position, name, ...)."""
	files = {base_name(profile.strings[function["linkage"]].decode()): function["file"] for function in profile.functions if function["line"]}
	is_calls = profile.strings[profile.resources[resource]["unit"]] == b"call"
	heads, calls, instructions = collections.Counter(), collections.Counter(), collections.Counter()
	for hit in profile.hits:
		if hit["resource"] != resource or not chosen(hit):
			continue
		context = None  # of the caller, with its position as last element
		seen = set()
		for location, frame in path_of(profile, hit["node"]):
			caller, context = context, None
			if is_calls:
				seen.clear()
			if frame is None or frame.get("kind", 0) != 0:
				continue
			function = profile.functions[frame["function"]]
			name = base_name(profile.strings[function["linkage"]].decode())
			if not name or set(name) & set(" \t\r\n:@[]#"):
				continue
			if caller:
				seen.add(("call", caller, name))
			if function["line"] == 0:
				continue
			continues = caller and name not in caller[0::2] and (frame["inlined"] or nesting == "all"
				or nesting == "file" and files[caller[0]] == function["file"])
			entered = (*caller, name) if continues else (name,)
			seen.add(("context", entered))
			if frame["line"] and frame["line"] >= function["line"]:
				context = (*entered, (frame["line"] - function["line"], base_discriminator(frame.get("discriminator", 0))))
		for kind, *key in seen:
			(calls if kind == "call" else heads)[tuple(key) if kind == "call" else key[0]] += hit["count"]
		if context:
			instructions[context, location] += hit["count"]
	result = {context: [head, {}] for context, head in heads.items()}

	def line(at):
		return result.setdefault(at[:-1], [0, {}])[1].setdefault(at[-1], [0, {}])
	for (at, _), hits in instructions.items():
		line(at)[0] = max(line(at)[0], hits)
	for (at, name), hits in calls.items():
		line(at)[1][name] = hits
	for _, lines in result.values():
		for row in lines.values():
			row[0] = max(row[0], sum(row[1].values()))
	return result
