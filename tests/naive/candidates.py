"""Candidates for contextualization, written from docs/definitions.md alone, sample by sample."""
import collections
import math

import source_counts

LIBRARIES = ("/lib/", "/usr/lib/")


def stacks(profile, resource=0):
	"""Yields (frames, hits) from main inwards; a frame is (function's name, line, whether it is own code)."""
	for hit in profile.hits:
		if hit["resource"] != resource:
			continue
		frames = []
		for location, frame in source_counts.path_of(profile, hit["node"]):
			module = profile.modules[profile.locations[location]["module"]]
			if module["kind"] != 0:
				continue
			name = profile.strings[profile.functions[frame["function"]]["name"]].decode() if frame else "?"
			own = not profile.strings[module["path"]].decode().startswith(LIBRARIES)
			frames.append((name, frame["line"] if frame else 0, own))
		names = [name for name, _, _ in frames]
		yield frames[names.index("main") if "main" in names else 0:], hit["count"]


def ranked(profile, threshold):
	"""[(path, score, share, bits, function, {(line, callee): (here, elsewhere)})], the best first; with the categories that differ most."""
	mixes, hits, total = collections.defaultdict(collections.Counter), collections.Counter(), 0
	for frames, count in stacks(profile):
		total += count
		path, categories = (), {}
		for index, (name, line, own) in enumerate(frames):
			names = [step[0] for step in path]
			path = path[:names.index(name) + 1] if name in names else (*path, (name, own))
			callee = frames[index + 1][0] if index + 1 < len(frames) else None
			categories[path] = (line, callee)  # the innermost frame of the context
		for context, category in categories.items():
			mixes[context][category] += count
			hits[context] += count
	functions = collections.defaultdict(collections.Counter)
	for context, mix in mixes.items():
		functions[context[-1][0]].update(mix)
	contexts = collections.Counter(context[-1][0] for context in mixes)
	found = {}
	for context, mix in mixes.items():
		name = context[-1][0]
		if hits[context] < threshold * total or contexts[name] < 2:
			continue
		whole = functions[name].total()
		bits = sum(n / hits[context] * math.log2(n / hits[context] / (functions[name][category] / whole)) for category, n in mix.items())
		unit, freedom = 1 / (2 * hits[context] * math.log(2)), len(mix) - 1
		if bits <= (freedom + 2 * math.sqrt(2 * freedom)) * unit:
			continue
		bits -= freedom * unit
		score = bits * hits[context] / total
		shown = context[:next((i + 1 for i, (_, own) in enumerate(context) if not own), len(context))]
		parts = {category: n / hits[context] * math.log2(n / hits[context] / (functions[name][category] / whole)) for category, n in mix.items()}
		calls = {category: part for category, part in parts.items() if category[1] is not None and part > 0}
		most = max((calls or parts).values())
		rest = whole - hits[context]
		differences = {category: (mix[category] / hits[context], (functions[name][category] - mix[category]) / rest if rest else 0)
			for category, part in (calls or parts).items() if part > most - 1e-9}
		if len(shown) >= 2 and score > found.get(shown, (0,))[0]:
			found[shown] = (score, bits, name, differences)
	rows = []
	for context, (score, bits, function, differences) in found.items():
		length = next((n for n in range(2, len(context)) if not any(other[-n:] == context[-n:] for other in mixes if other != context)),
			len(context))
		rows.append((";".join(name for name, _ in context[-length:]), score, hits[context] / total, bits, function, differences))
	return sorted(rows, key=lambda row: (-row[1], row[0]))
