"""Functions that the resolvers of IFUNC symbols call: they have hooks, and run before the library of the hooks can count."""
import os
import re
import subprocess

import pytest
from hooks_support import FOLDER, HOOKS, Counted, by_base_name, compile_once
from record_support import BUILD, CPPROF, LINKAGES, run_cpprof

RUNTIME = BUILD / "src/collect/agent"
ARCHIVE = RUNTIME / "libcpprof.a"
SOURCES = [FOLDER / "resolvers.c", FOLDER / "resolvers.lib.c"]
KINDS = {**{hook: ([], words) for hook, words in HOOKS.items()}, "blocks": ([], ["-fsanitize-coverage=trace-pc"]),
	"probes": ([CPPROF, "cc", "--rule", "tiny on", "--"], [])}
CALLS = {"main": 1, "impl": 1000, "library_impl": 1000}


def built(kind, linkage):
	"""The program, linked with libcpprof, which is searched before the program's own library and so relocated after it."""
	before, words = KINDS[kind]
	command = [*before, "gcc", "-O2", "-g", "-pthread", *words]
	if linkage.startswith("static"):
		return compile_once([*command, *LINKAGES[linkage]], SOURCES, f"resolvers_{linkage}", [ARCHIVE])
	soname = next(path for path in RUNTIME.glob("libcpprof.so.*") if path.is_file() and not path.is_symlink()).name
	library = compile_once([*command, *LINKAGES["shared"], "-Wl,-z,now", "-Wl,-soname,libresolvers.so"], SOURCES[1:], "libresolvers.so")
	return compile_once([*command, *LINKAGES[linkage], f"-Wl,-rpath,{RUNTIME}:{library.parent}", "-Wl,--no-as-needed",
		f"-L{RUNTIME}", f"-l:{soname}"], SOURCES[:1], "resolvers", [library])


@pytest.mark.parametrize("linkage", ["pie", "no-pie", "static", "static-pie"])
@pytest.mark.parametrize("kind", KINDS)
def test_resolvers_have_hooks(kind, linkage, tmp_path):
	program = built(kind, linkage)
	measurement = "blocks" if kind == "blocks" else "paths"
	alone = subprocess.run([program], cwd=tmp_path, env={**os.environ, "CPPROF_MEASURE": measurement}, capture_output=True, text=True, check=False)
	assert (alone.returncode, alone.stderr) == (0, "")
	counted = Counted([program], tmp_path, measurement)
	assert counted.status == 0, counted.err
	if kind == "blocks":
		assert int(re.search(r" (\d+) blocks, ", counted.err)[1]) > 2000, counted.err
	else:
		calls = by_base_name(counted.calls())
		assert {name: calls.get(name) for name in CALLS} == CALLS


@pytest.mark.parametrize("measurement", ["arcs", "paths", "paths-timed", "trace", "counts"])
def test_hooks_are_preloaded(measurement, tmp_path):
	"""The preloaded library is relocated before the program, but after the program's libraries."""
	library = compile_once(["gcc", "-O2", "-g", "-finstrument-functions", "-Wl,-z,now", *LINKAGES["shared"]], SOURCES[1:], "libresolvers.so")
	program = compile_once(["gcc", "-O2", "-g", "-finstrument-functions", f"-Wl,-rpath,{library.parent}"], SOURCES[:1], "resolvers", [library])
	counted = Counted([program], tmp_path, measurement)
	assert counted.status == 0, counted.err
	calls = by_base_name(counted.calls())
	assert {name: calls.get(name) for name in CALLS} == CALLS
