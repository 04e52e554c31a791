"""The libraries of the agent never call an interposed function by its name: the program may define that name too, and may call the
agent's definition from there, as Erlang's sigaction does. Such a call would not end."""
import subprocess

import pytest
from record_support import BUILD

RUNTIME = BUILD / "src/collect/agent"
# Functions of cpprof's own interface: the preloaded library takes the place of the library that the program is linked with.
OWN = "cpprof_"


def called_by_name(library):
	"""The functions that a library defines for everyone, and calls so that the dynamic linker looks for their definition."""
	symbols = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
	relocations = subprocess.run(["readelf", "-rW", library], capture_output=True, text=True, check=True).stdout
	defined = {line.split()[2].partition("@")[0] for line in symbols.splitlines() if line.split()[1] in "TWi"}
	used = {words[4].partition("@")[0] for words in map(str.split, relocations.splitlines()) if len(words) > 4}
	assert defined & {"malloc", "cpprof_start", "f"}, defined
	return sorted(defined & used)


@pytest.mark.parametrize("name", ["libcpprof-preload.so", "libcpprof-hooks.so", "libcpprof-wrap.so", "libcpprof.so"])
def test_no_interposed_name_is_called(name):
	assert [function for function in called_by_name(RUNTIME / name) if not function.startswith(OWN)] == []


@pytest.mark.parametrize("second, found", [("{ return f(x); }", ["f"]), ("{ static int (*volatile p)(int) = f; return p(x); }", ["f"]),
	("__attribute__((alias(\"f\")));", [])])
def test_a_call_by_name_is_found(second, found, tmp_path):
	source = tmp_path / "library.c"
	source.write_text(f"int f(int x) {{ __asm__ volatile(\"\"); return x; }}\nint __f(int x) {second}\n")
	subprocess.run(["gcc", "-O1", "-fPIC", "-shared", "-fsemantic-interposition", "-o", tmp_path / "library.so", source], check=True)
	assert called_by_name(tmp_path / "library.so") == found
