"""
Identities of locations and call paths (docs/format.md): cpprof computes the same identities as the decoder in tests/decoder/,
which follows the specification; and the same code on the same path has the same identity in every recording.
"""
import shutil
import subprocess
import sys

import pytest
from hooks_support import Counted, compile_once
from record_support import BUILD, PROGRAMS, REPOSITORY, build, needs_bpf, needs_perf, record, run_cpprof

sys.path.insert(0, str(REPOSITORY / "tests/decoder"))
import decode  # noqa: E402

PRINT_IDENTITIES = BUILD / "tests/unit/print_identities"
WRITE_SAMPLE = BUILD / "tests/unit/write_sample"


def agree(path):
	"""Compares all identities of a file. Returns the decoder's profile and its (locations, nodes)."""
	profile = decode.Profile(path.read_bytes())
	locations, nodes = profile.identities()
	printed = subprocess.run([PRINT_IDENTITIES, path], capture_output=True, text=True, check=True).stdout
	assert printed.splitlines() == [f"location {number:016x}" for number in locations] + [f"node {number:016x}" for number in nodes]
	return profile, (locations, nodes)


def module_of(profile, location):
	return profile.modules[profile.locations[location]["module"]]


def name_of(profile, location):
	return profile.strings[profile.functions[profile.frames[profile.locations[location]["first_frame"]]["function"]]["name"]]


def paths(profile, identities):
	"""Returns {path of a node with hits: its identity}. A path consists of the modules and addresses of its frames, as the file
	has them, and of the names of the kernel's functions."""
	found = {}
	for node in {hit["node"] for hit in profile.hits}:
		path, at = [], node
		while at != 0:
			location = profile.nodes[at]["location"]
			module = module_of(profile, location)
			code = tuple(module[f"id{i}"] for i in range(4)) if module["build_id_bytes"] else profile.strings[module["path"]]
			where = name_of(profile, location) if profile.is_kernel_code(module) else profile.locations[location]["address"]
			path.append((module["kind"], code, where))
			at = profile.nodes[at]["parent"]
		found[tuple(path)] = identities[1][node]
	return found


def are_consistent(*profiles):
	"""Checks that in all files equal paths have equal identities and different paths different identities. Returns the number of paths
	that all files share."""
	merged, of_each = {}, [paths(*profile) for profile in profiles]
	for found in of_each:
		for path, identity in found.items():
			assert merged.setdefault(path, identity) == identity
	assert len(set(merged.values())) == len(merged)
	return len(set.intersection(*map(set, of_each)))


@pytest.mark.parametrize("seed", range(8))
def test_random_profiles(tmp_path, seed):
	path = tmp_path / "sample.data"
	subprocess.run([WRITE_SAMPLE, str(seed + 1), path], check=True)
	profile, _ = agree(path)
	assert any(row["by_frames"] for row in profile.locations)


@pytest.mark.parametrize("name", ["forms", "names", "recursion"])
def test_imported_profiles(tmp_path, name):
	"""Locations without addresses are identified by names, in any order of the lines."""
	source = REPOSITORY / f"tests/golden/inputs/{name}.folded"
	turned = tmp_path / "turned.folded"
	turned.write_bytes(b"\n".join(reversed(source.read_bytes().splitlines())) + b"\n")
	texts = []
	for number, text in enumerate([source, turned]):
		path = tmp_path / f"{number}.data"
		assert run_cpprof("import", "-o", path, text).returncode == 0
		_, (locations, nodes) = agree(path)
		assert len(set(locations)) == len(locations) and len(set(nodes)) == len(nodes)
		texts.append((sorted(locations), sorted(nodes)))
	assert texts[0] == texts[1]


@needs_perf
def test_same_program_recorded_twice(tmp_path):
	"""A program that is copied to another folder keeps its identities: they depend on the build-id, not on the path."""
	program = build("page_faults.c")
	moved = tmp_path / "elsewhere"
	shutil.copy(program, moved)
	profiles = []
	for number, command in enumerate([program, moved]):
		folder = tmp_path / str(number)
		folder.mkdir()
		recorded = record(folder, [command, "200"], "-r", "page-faults/1")
		assert recorded.status == 0, recorded.err
		profiles.append(agree(recorded.path))
	assert are_consistent(*profiles) >= 2  # the two functions that touch pages


@pytest.mark.long("records a program for seconds")
@needs_perf
@pytest.mark.parametrize("other", ["preload", pytest.param("bpf", marks=needs_bpf)])
def test_same_program_by_two_backends(tmp_path, other):
	profiles = []
	for backend in ["perf", other]:
		folder = tmp_path / backend
		folder.mkdir()
		recorded = record(folder, [build("forms.c")], "--backend", backend, "-r", "cpu")
		assert recorded.status == 0, recorded.err
		profiles.append(agree(recorded.path))
	assert are_consistent(*profiles) > 0


@needs_perf
def test_threads_and_kernel(tmp_path):
	"""The markers of threads are part of the paths and have one identity."""
	folders = [tmp_path / "first", tmp_path / "second"]
	for folder in folders:
		folder.mkdir()
	profiles = [agree(record(folder, [build("threads.c"), "20", "20000"], "-r", "cpu").path) for folder in folders]
	marks = {identities[0][location] for profile, identities in profiles for location in range(len(profile.locations))
		if module_of(profile, location)["kind"] == 5}
	assert marks == {decode.xxh64(b"\4")}
	are_consistent(*profiles)


def test_regions_of_the_source(tmp_path):
	"""Functions and regions at the same address are distinguished by their names, and have the same identities in each run."""
	library = BUILD / "src/collect/agent/libcpprof.so"
	program = compile_once(["gcc", "-O2", "-g", "-pthread", f"-I{REPOSITORY / 'include'}", f"-Wl,-rpath,{library.parent}"],
		[PROGRAMS / "source/regions.c"], "regions", [library])
	found = []
	for number in range(2):
		counted = Counted([program], tmp_path, "paths", name=f"{number}.data")
		assert counted.status == 0, counted.err
		profile, (locations, nodes) = agree(counted.path)
		assert any(row["by_frames"] for row in profile.locations)
		hit = {nodes[hit["node"]] for hit in profile.hits if profile.resources[hit["resource"]]["kind"] == 2}
		assert len(set(locations)) == len(locations)
		found.append(hit)
	assert found[0] == found[1]
