"""Decodes pprof profiles by the wire format of Protocol Buffers and the field numbers of profile.proto, independently of the exporter."""
import gzip


def varint(data, at):
	number = shift = 0
	while True:
		byte = data[at]
		number |= (byte & 0x7f) << shift
		at, shift = at + 1, shift + 7
		if not byte & 0x80:
			return number, at


def fields(data):
	"""Yields (number of the field, value): a number, or the bytes of a string, message or fixed64."""
	at = 0
	while at < len(data):
		key, at = varint(data, at)
		if key & 7 == 0:
			value, at = varint(data, at)
		else:
			assert key & 7 in (1, 2), key
			size, at = varint(data, at) if key & 7 == 2 else (8, at)
			value, at = data[at:at + size], at + size
			assert len(value) == size
		yield key >> 3, value


def message(data, repeated=()):
	found = {number: [] for number in repeated}
	for number, value in fields(data):
		if number in repeated:
			found[number].append(value)
		else:
			assert number not in found, number
			found[number] = value
	return found


def numbers(data):
	found, at = [], 0
	while at < len(data):
		number, at = varint(data, at)
		found.append(number)
	return found


class Pprof:
	"""`types`: [(name, unit)]; `samples`: [(stack of (function, file, line), outermost first; values; labels)]."""

	def __init__(self, data):
		profile = message(gzip.decompress(data), repeated=(1, 2, 3, 4, 5, 6, 13))
		self.strings = [text.decode() for text in profile[6]]
		assert self.strings[0] == "" and len(set(self.strings)) == len(self.strings)
		text = self.strings.__getitem__
		self.types = [(text(row[1]), text(row.get(2, 0))) for row in map(message, profile[1])]
		functions = {row[1]: (text(row[2]), text(row.get(4, 0))) for row in map(message, profile[5])}
		self.mappings = {row[1]: (text(row[5]), text(row.get(6, 0))) for row in map(message, profile[3])}
		self.locations = {}
		for data in profile[4]:
			row = message(data, repeated=(4,))
			lines = [message(line) for line in row[4]]
			self.locations[row[1]] = [(*functions[line[1]], line.get(2, 0)) for line in lines]
			assert row.get(2, 0) == 0 or row[2] in self.mappings
		assert 0 not in self.locations and 0 not in functions and 0 not in self.mappings
		self.samples = [self.sample(data) for data in profile[2]]
		self.comments = [text(number) for number in profile[13]]
		self.duration = profile.get(10, 0)
		self.period = profile.get(12, 0)

	def sample(self, data):
		row = message(data, repeated=(3,))
		stack = [frame for number in numbers(row[1]) for frame in self.locations[number]][::-1]
		values = numbers(row[2])
		assert len(values) == len(self.types)
		labels = {}
		for label in map(message, row[3]):
			labels.setdefault(self.strings[label[1]], self.strings[label[2]] if 2 in label else label.get(3, 0))
		return tuple(stack), values, labels

	def totals(self):
		return [sum(values[i] for _, values, _ in self.samples) for i in range(len(self.types))]

	def inclusive(self, index):
		"""The value of each function, once per sample."""
		found = {}
		for stack, values, _ in self.samples:
			for name in {name for name, _, _ in stack}:
				found[name] = found.get(name, 0) + values[index]
		return {name: value for name, value in found.items() if value}


def encode_varint(number):
	data = b""
	while number > 0x7f:
		data, number = data + bytes([number & 0x7f | 0x80]), number >> 7
	return data + bytes([number])


def encode_field(number, value):
	"""Returns a field with a number, or with bytes."""
	if isinstance(value, int):
		return encode_varint(number << 3) + encode_varint(value)
	return encode_varint(number << 3 | 2) + encode_varint(len(value)) + value
