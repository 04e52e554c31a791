"""A decoder of the profile file, written from docs/format.md alone: the oracle for the reader in src/profile_file/.

    decode.py FILE              the profile as folded stacks of its first resource
    decode.py --blocks FILE     each block: type, rows, bytes stored and raw
    decode.py --identities FILE the identities of locations and nodes
"""
import collections
import io
import pathlib
import struct
import sys

import xxhash
import zstandard

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "naive"))
import definitions  # noqa: E402

MAGIC = b"\x89CPP\r\n\x1a\n"
MASK = (1 << 64) - 1
# A name in a folded stack: what would end it or its line is written otherwise.
PLAIN = bytes.maketrans(b";\n\r", b":  ")
END, STRINGS, TOTALS, LOCATIONS, NODES, LOCATION_FRAMES, LABEL_SETS, FINDINGS = 0, 1, 2, 9, 10, 13, 17, 19
TAIL_STEPS_MOST = 64

# Block type: table, how rows join it, columns. A column is "name:kind", with the bits of a number's field; a "+" behind
# it: not in files of 1.0.
TABLES = {
	TOTALS: ("totals", "fields", "start_ns:64 end_ns:64 start_unix_ns:64 lost:64 symbolized:flag"),
	3: ("notes", "replace", "key:strings value:strings"),
	4: ("resources", "replace", "name:strings title:strings unit:strings backend:strings note:strings kind:8"
		" interval:64 total:64 lost:64"),
	5: ("processes", "replace", "pid:32 parent_pid:32 name:strings start:time end:time cgroup:strings+ user:32+"),
	6: ("threads", "replace", "tid:32 process:processes name:strings start:time end:time"),
	7: ("modules", "replace", "path:strings kind:8 build_id_bytes:8 id0:64 id1:64 id2:64 id3:64"),
	8: ("causes", "replace", "text:strings count:64 whole:flag completed:flag guessed:flag"),
	LOCATIONS: ("locations", "append", "module:modules address:64 by_frames:flag+ is_tail:flag+"),
	NODES: ("nodes", "append", "parent:nodes location:locations"),
	11: ("functions", "append", "name:strings linkage:strings module:modules? file:strings line:32 role:8 group:strings+"),
	12: ("frames", "append", "function:functions file:strings line:32 inlined:flag kind:8+ discriminator:32+"),
	LOCATION_FRAMES: ("locations", "fields", "first_frame:frames? frame_count:32"),
	14: ("hits", "append", "time:time thread:threads? node:nodes resource:resources count:64 more_samples:32+"),
	15: ("touches", "append", "time:time thread:threads? node:nodes resource:resources count:32 address:64"
		" mapping:strings"),
	16: ("labels", "append", "key:strings value:strings"),
	LABEL_SETS: ("label_sets", "append", "first_label:32 label_count:32"),
	18: ("hits", "fields", "labels:label_sets"),
	FINDINGS: ("findings", "replace", "severity:8 code:strings count:64 text:strings"),
	20: ("tail_calls", "append", "caller:locations callee:functions location:locations?"),
}

Block = collections.namedtuple("Block", "offset type rows first stored raw payload")


MARK = "a thread starts here"


class Damaged(Exception):
	pass


def role_of(frame):
	return frame["role"] if isinstance(frame, dict) else 0


def need(condition, what):
	if not condition:
		raise Damaged(what)


def deleted(path):
	"""A path without the kernel's mark of an unlinked file."""
	mark = b" (deleted)"
	return path[:-len(mark)] if path.endswith(mark) and len(path) > len(mark) else path


def xxh64(data):
	return xxhash.xxh64_intdigest(data, 0)


def blocks_of(data):
	"""The whole blocks of a file, up to its end or to where it was cut."""
	need(data[:8] == MAGIC and len(data) >= 16, "not a profile")
	major, _, check = struct.unpack("<HHI", data[8:16])
	need(check == xxh64(data[:12]) & 0xFFFFFFFF, "file header")
	need(major == 1, "newer version")
	offset = 16
	while len(data) - offset >= 40:
		header = data[offset:offset + 40]
		type_, codec, rows, stored, raw, first, payload_check, header_check = struct.unpack("<HHIIIQQQ", header)
		need(header_check == xxh64(header[:32]), f"header at {offset}")
		payload = data[offset + 40:offset + 40 + stored]
		if len(payload) < stored:
			return
		need(payload_check == xxh64(payload), f"payload at {offset}")
		if codec == 1:
			reader = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(payload), read_across_frames=True)
			payload = reader.read()
		need(codec in (0, 1) and len(payload) == raw, f"size at {offset}")
		yield Block(offset, type_, rows, first, stored, raw, payload)
		if type_ == END:
			return
		offset += 40 + stored


class Payload:
	def __init__(self, data):
		self.data = data
		self.at = 0

	def is_at_end(self):
		return self.at == len(self.data)

	def take(self, count):
		need(count <= len(self.data) - self.at, "payload is too short")
		self.at += count
		return self.data[self.at - count:self.at]

	def signed_varint(self):
		value = shift = 0
		while True:
			byte = self.take(1)[0]
			value |= (byte & 0x7F) << shift
			shift += 7
			if not byte & 0x80:
				break
		need(shift <= 70, "varint")
		value &= MASK
		return value >> 1 if value % 2 == 0 else -(value >> 1) - 1

	def column(self, rows):
		form = self.take(1)[0]
		width, delta = form & 15, form >> 7
		need(width <= 8 and form & 0x70 == 0, "form of a column")
		value = self.signed_varint() if delta else 0
		base = self.signed_varint()
		planes = [self.take(rows) for _ in range(width)]
		numbers = []
		for i in range(rows):
			step = base + sum(plane[i] << 8 * rank for rank, plane in enumerate(planes))
			value = (value + step if delta else step) & MASK
			numbers.append(value)
		return numbers


def field_of(kind, number):
	"""A number of a column as its value; an id of nothing is None."""
	if kind == "flag":
		need(number <= 1, "flag")
		return bool(number)
	if kind == "time":
		return number
	if kind.isdigit():
		need(number < 1 << int(kind), "number does not fit")
		return number
	need(number < 1 << 32, "id does not fit")
	if kind.endswith("?"):
		return number - 1 if number else None
	return number


class Profile:
	def __init__(self, data):
		self.ended = False
		self.unknown = 0
		self.strings = [b""]
		self.totals = [dict(start_ns=0, end_ns=0, start_unix_ns=0, lost=0, symbolized=False)]
		for name, _, _ in TABLES.values():
			if name != "totals":
				setattr(self, name, [])
		self.nodes = [dict(parent=None, location=None)]
		self.label_sets = [dict(first_label=0, label_count=0)]
		for block in blocks_of(data):
			if block.type == END:
				self.ended = True
			elif block.type == STRINGS:
				self.add_strings(block)
			elif block.type in TABLES:
				self.add_rows(block)
			else:
				self.unknown += 1
		self.check()
		self.insert_tail_calls()

	def add_strings(self, block):
		need(block.first == len(self.strings), "strings do not follow")
		payload = Payload(block.payload)
		for length in payload.column(block.rows):
			self.strings.append(payload.take(length))

	def add_rows(self, block):
		name, rule, columns = TABLES[block.type]
		table = getattr(self, name)
		need(1 <= block.rows <= 65536, "number of rows")
		if rule == "append":
			need(block.first == len(table), f"{name} do not follow")
		elif rule == "replace":
			need(block.first <= len(table), f"{name} have a gap")
		else:
			need(block.first + block.rows <= len(table), f"{name} do not exist")
		table.extend({} for _ in range(block.first + block.rows - len(table)))
		payload = Payload(block.payload)
		for column in columns.split():
			field, kind = column.rstrip("+").split(":")
			if column.endswith("+") and payload.is_at_end():
				break
			for row, number in enumerate(payload.column(block.rows), block.first):
				table[row][field] = field_of(kind, number)

	def check(self):
		for name, _, columns in TABLES.values():
			for column in columns.split():
				field, kind = column.rstrip("+").split(":")
				target = getattr(self, kind.rstrip("?"), None)
				if target is None:
					continue
				for row in getattr(self, name):
					value = row.get(field)
					need(value is None or value < len(target), f"{field} of {name}")
		for number, node in enumerate(self.nodes[1:], 1):
			need(node["parent"] < number, "a node's parent comes later")
		for hit in self.hits:
			need(hit["count"] > 0, "a hit of nothing")
		for touch in self.touches:
			need(touch["count"] > 0, "a touch of nothing")

		need(all(row["location"] is None or self.locations[row["location"]].get("is_tail") for row in self.tail_calls), "a tail call")
		need(all(finding["severity"] <= 2 for finding in self.findings), "severity of a finding")
		self.check_labels()

	def callee_at(self, location):
		"""The function of a location that was called: the outermost one."""
		row = self.locations[location]
		first = row.get("first_frame")
		return None if first is None else self.frames[first + row["frame_count"] - 1]["function"]

	def insert_tail_calls(self):
		"""Inserts the nodes that table 20 describes."""
		rows = {(row["caller"], row["callee"]): row["location"] for row in self.tail_calls}
		nodes, numbers, inserted = [self.nodes[0]], [0], {}
		for node in self.nodes[1:]:
			parent, callee = numbers[node["parent"]], self.callee_at(node["location"])
			caller = self.nodes[node["parent"]]["location"]
			for _ in range(TAIL_STEPS_MOST):
				caller = rows.get((caller, callee))
				if caller is None or node["parent"] == 0:
					break
				if (parent, caller) not in inserted:
					inserted[parent, caller] = len(nodes)
					nodes.append(dict(parent=parent, location=caller))
				parent = inserted[parent, caller]
			numbers.append(len(nodes))
			nodes.append(dict(parent=parent, location=node["location"]))
		self.nodes = nodes
		for row in self.hits + self.touches:
			row["node"] = numbers[row["node"]]

	def all_findings(self):
		"""(severity, code, count, text) of each, the findings of older files among them."""
		found = [(finding["severity"], self.strings[finding["code"]], finding["count"], self.strings[finding["text"]])
			for finding in self.findings]
		return found + [(1, b"warning", 0, self.strings[note["value"]]) for note in self.notes
			if self.strings[note["key"]] == b"warning"]

	def check_labels(self):
		need(all(label["key"] != 0 for label in self.labels), "a label without a key")
		first = 0
		for number, a_set in enumerate(self.label_sets):
			need(a_set["first_label"] == first, "label sets do not follow")
			first += a_set["label_count"]
			need(first <= len(self.labels), "labels of a set")
			keys = [key for key, _ in self.labels_of(number)]
			need(all(a < b for a, b in zip(keys, keys[1:])), "keys of a label set do not rise")

	def labels_of(self, number):
		"""The (key, value) pairs of a label set."""
		first, count = self.label_sets[number]["first_label"], self.label_sets[number]["label_count"]
		return [(self.strings[label["key"]], self.strings[label["value"]]) for label in self.labels[first:first + count]]

	def labels_of_hit(self, hit):
		return dict(self.labels_of(hit.get("labels", 0)))

	def is_mark(self, location):
		return self.modules[self.locations[location]["module"]]["kind"] == 5

	def is_kernel_code(self, module):
		return module["kind"] == 3 and self.strings[module["path"]] == b"[kernel]"

	def location_identity(self, location):
		row = self.locations[location]
		module = self.modules[row["module"]]
		is_kernel = self.is_kernel_code(module)
		if module["kind"] == 5:
			data = b"\4"
		elif module["kind"] == 4:
			data = b"\3"
		else:
			size, path = module["build_id_bytes"], self.strings[module["path"]]
			build_id = struct.pack("<4Q", *(module[f"id{i}"] for i in range(4)))[:size]
			data = bytes([1, size]) + build_id if size else bytes([2, module["kind"]]) + deleted(path) + b"\0"
			data += b"" if is_kernel else struct.pack("<Q", row["address"])
		if module["kind"] == 4 or row.get("by_frames") or is_kernel:
			first = row.get("first_frame")
			for frame in self.frames[first:first + row["frame_count"]] if first is not None else []:
				name = self.strings[self.functions[frame["function"]]["name"]]
				data += name + b"\0" + struct.pack("<Q", frame["line"])
		return xxh64(data)

	def identities(self):
		"""The identities of all locations and of all nodes."""
		locations = [self.location_identity(number) for number in range(len(self.locations))]
		nodes = [0]
		for node in self.nodes[1:]:
			nodes.append(xxh64(struct.pack("<QQ", nodes[node["parent"]], locations[node["location"]])))
		return locations, nodes

	def frames_of(self, location, inlines):
		"""Functions at a location, outermost first; a text if it was never symbolized."""
		place = self.locations[location]
		if self.is_mark(location):
			return [MARK]
		if place.get("first_frame") is None:
			path = self.strings[self.modules[place["module"]]["path"]]
			return [b"%s+0x%x" % (path.rsplit(b"/", 1)[-1], place["address"])]
		last = place["first_frame"] + place["frame_count"] - 1
		first = place["first_frame"] if inlines else last
		return [self.functions[self.frames[i]["function"]] for i in range(last, first - 1, -1)]

	def is_interpreted(self, node):
		place = self.locations[self.nodes[node]["location"]]
		return place.get("first_frame") is not None and self.frames[place["first_frame"]]["kind"] == 3

	def caller_of(self, node):
		"""Returns the node that a node follows: an interpreted function follows the nearest one outside of the interpreter's file."""
		caller = self.nodes[node]["parent"]
		if caller == 0 or not self.is_interpreted(node):
			return caller
		file = self.locations[self.nodes[caller]["location"]]["module"]
		is_file = self.modules[file]["kind"] == 0
		while is_file and caller != 0 and self.locations[self.nodes[caller]["location"]]["module"] == file and not self.is_interpreted(caller):
			caller = self.nodes[caller]["parent"]
		return caller

	def folded(self, resource=0, inlines=True, trim=True, stitch=True, chosen=lambda hit: True):
		"""Returns the lines that `cpprof export --format folded` writes for the `chosen` hits."""
		hits = collections.Counter()
		for hit in self.hits:
			if hit["resource"] == resource and chosen(hit):
				hits[hit["node"]] += hit["count"]
		lines = collections.Counter()
		for node, count in hits.items():
			path = []
			while node != 0:
				path = self.frames_of(self.nodes[node]["location"], inlines) + path
				node = self.caller_of(node)
			path = definitions.shown(path, role_of, MARK, trim, stitch)
			names = [f if isinstance(f, bytes) else self.strings[f["name"]] for f in path] or [b"[no stack]"]
			lines[b";".join(name.translate(PLAIN) for name in names)] += count
		return b"".join(b"%s %d\n" % (line, lines[line]) for line in sorted(lines))


def main(words):
	if words[:1] == ["--blocks"]:
		with open(words[1], "rb") as file:
			for block in blocks_of(file.read()):
				name = {END: "end", STRINGS: "strings"}.get(block.type) or TABLES.get(block.type, ("?",))[0]
				print(f"{block.offset:10} {block.type:3} {name:10} {block.rows:7} rows {block.stored + 40:8} stored"
					f" {block.raw:8} raw")
	elif words[:1] == ["--identities"]:
		with open(words[1], "rb") as file:
			locations, nodes = Profile(file.read()).identities()
			print("".join([f"location {number:016x}\n" for number in locations] + [f"node {number:016x}\n" for number in nodes]),
				end="")
	else:
		with open(words[0], "rb") as file:
			sys.stdout.buffer.write(Profile(file.read()).folded())


if __name__ == "__main__":
	main(sys.argv[1:])
