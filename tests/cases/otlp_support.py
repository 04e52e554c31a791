"""Decodes OTLP profiles by the wire format of Protocol Buffers and by the messages of opentelemetry-proto 1.11 (profiles/v1development,
common/v1 and resource/v1), independently of the exporter. An unknown field fails."""
import struct

from pprof_support import fields, numbers

# MESSAGE: FIELD=NUMBER TYPE; `*` is repeated, `packed` is a repeated number.
MESSAGES = """
ProfilesData: resource_profiles=1 *ResourceProfiles, dictionary=2 ProfilesDictionary
ResourceProfiles: resource=1 Resource, scope_profiles=2 *ScopeProfiles, schema_url=3 string
Resource: attributes=1 *KeyValue
ScopeProfiles: scope=1 Scope, profiles=2 *Profile, schema_url=3 string
Scope: name=1 string, version=2 string
Profile: sample_type=1 ValueType, samples=2 *Sample, time_unix_nano=3 fixed64, duration_nano=4 number, period_type=5 ValueType, period=6 number, attribute_indices=11 packed
ValueType: type_strindex=1 number, unit_strindex=2 number
Sample: stack_index=1 number, attribute_indices=2 packed, link_index=3 number, values=4 packed, timestamps_unix_nano=5 packed64
ProfilesDictionary: mapping_table=1 *Mapping, location_table=2 *Location, function_table=3 *Function, link_table=4 *Link, string_table=5 *string, attribute_table=6 *KeyValueAndUnit, stack_table=7 *Stack
Mapping: memory_start=1 number, memory_limit=2 number, file_offset=3 number, filename_strindex=4 number, attribute_indices=5 packed
Stack: location_indices=1 packed
Location: mapping_index=1 number, address=2 number, lines=3 *Line, attribute_indices=4 packed
Line: function_index=1 number, line=2 number, column=3 number
Function: name_strindex=1 number, system_name_strindex=2 number, filename_strindex=3 number, start_line=4 number
KeyValueAndUnit: key_strindex=1 number, value=2 AnyValue, unit_strindex=3 number
KeyValue: key=1 string, value=2 AnyValue
AnyValue: string_value=1 string, int_value=3 number
Link: trace_id=1 string, span_id=2 string
"""


def schema():
	found = {}
	for line in MESSAGES.strip().splitlines():
		name, members = line.split(": ")
		found[name] = {}
		for member in members.split(", "):
			field, kind = member.split(" ")
			key, number = field.split("=")
			found[name][int(number)] = (key, kind)
	return found


SCHEMA = schema()


def value_of(kind, value):
	if kind == "string":
		return value.decode()
	if kind == "packed":
		return numbers(value)
	if kind == "packed64":
		assert len(value) % 8 == 0
		return list(struct.unpack(f"<{len(value) // 8}Q", value))
	if kind == "fixed64":
		return struct.unpack("<Q", value)[0]
	return decode(kind, value) if kind in SCHEMA else value


def decode(name, data):
	message = {key: [] for key, kind in SCHEMA[name].values() if kind.startswith("*") or kind.startswith("packed")}
	for number, value in fields(data):
		key, kind = SCHEMA[name][number]
		if kind.startswith("*"):
			message[key].append(value_of(kind[1:], value))
		else:
			assert key not in message or not message[key], (name, key)
			message[key] = value_of(kind, value)
	return message


class Otlp:
	"""`samples`: [(resource's name, unit, process, stack of (function, file, line) outermost first, values, times, attributes)]."""

	def __init__(self, data):
		document = decode("ProfilesData", data)
		self.dictionary = dictionary = document["dictionary"]
		self.strings = dictionary["string_table"]
		assert self.strings[0] == "" and len(set(self.strings)) == len(self.strings)
		for table in ("mapping_table", "location_table", "function_table", "link_table", "attribute_table", "stack_table"):
			assert not any(dictionary[table][0].values()), f"element 0 of {table} is not the zero value"
		self.locations = [self.location(row) for row in dictionary["location_table"]]
		self.mappings = {self.strings[row["filename_strindex"]]: dict(map(self.attribute, row["attribute_indices"]))
			for row in dictionary["mapping_table"][1:]}
		assert len(self.mappings) == len(dictionary["mapping_table"]) - 1, "two mappings of one file"
		assert all(row.get("mapping_index", 0) < len(dictionary["mapping_table"]) for row in dictionary["location_table"])
		self.samples, self.profiles, self.processes = [], [], []
		for process in document["resource_profiles"]:
			attributes = {row["key"]: next(iter(row["value"].values())) for row in process["resource"]["attributes"]}
			self.processes.append(attributes)
			for scope in process["scope_profiles"]:
				assert scope["scope"]["name"] == "cpprof" and scope["scope"]["version"]
				for profile in scope["profiles"]:
					self.profiles.append(profile)
					self.add_profile(profile, attributes)

	def location(self, row):
		lines = [(self.dictionary["function_table"][line["function_index"]], line.get("line", 0)) for line in row["lines"]]
		return [(self.strings[function["name_strindex"]], self.strings[function.get("filename_strindex", 0)], line) for function, line in lines]

	def attribute(self, index):
		row = self.dictionary["attribute_table"][index]
		assert index > 0 and len(row["value"]) == 1
		return self.strings[row["key_strindex"]], next(iter(row["value"].values()))

	def add_profile(self, profile, process):
		kind = profile["sample_type"]
		name, unit = self.strings[kind["type_strindex"]], self.strings[kind.get("unit_strindex", 0)]
		identities = set()
		for sample in profile["samples"]:
			identity = (sample.get("stack_index", 0), frozenset(sample["attribute_indices"]))
			assert identity not in identities, "equal samples are not combined"
			identities.add(identity)
			times = sample["timestamps_unix_nano"]
			assert sample["values"] and (not times or len(times) == len(sample["values"]))
			assert bool(times) == bool(profile["samples"][0]["timestamps_unix_nano"]), "the samples have different shapes"
			start = profile.get("time_unix_nano", 0)
			assert all(start <= time <= start + profile["duration_nano"] for time in times)
			row = self.dictionary["stack_table"][identity[0]]
			stack = [frame for index in row["location_indices"] for frame in self.locations[index]][::-1]
			self.samples.append((name, unit, process, tuple(stack), sample["values"], times, dict(map(self.attribute, sample["attribute_indices"]))))

	def total(self, resource):
		return sum(sum(sample[4]) for sample in self.samples if sample[0] == resource)

	def inclusive(self, resource):
		found = {}
		for name, _, _, stack, values, _, _ in self.samples:
			for function in {function for function, _, _ in stack} if name == resource else ():
				found[function] = found.get(function, 0) + sum(values)
		return {name: value for name, value in found.items() if value}
