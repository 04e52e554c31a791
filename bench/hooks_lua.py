"""
Compares the calls that the hooks count with those that callgrind counts, for all functions of a program of another project: Lua,
built with each hook, without and with optimisation.

	bench/hooks_lua.py          prints a line for each build; `bench/run hooks` adds these lines to the results.

It uses helpers of the tests and therefore needs Debian's python, which has pytest.
"""
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "tests/cases"))
sys.dont_write_bytecode = True

from hooks_support import HOOKS, SYMBOLS, Callgrind, Counted, base_name, by_base_name # noqa: E402

WORK = HERE / "work"
SCRIPT = HERE / "programs/calls.lua"
LEVELS = ["-O0", "-O2"]
# Lua hashes by the time and by addresses, which differ between runs. Without both, each run makes the same calls.
SAME_EACH_TIME = ["-Dluai_makeseed(L)=42", "-DSTRCACHE_N=1", "-DSTRCACHE_M=1"]
COMPILERS = ["gcc", "clang"]


def build_lua(hook, compiler, level):
	"""Returns the program, and builds it if it does not exist. bench/setup has unpacked the sources."""
	source = next((WORK / "src").glob("lua5.4-*/src"))
	folder = WORK / f"lua-{hook}-{compiler}{level}"
	output = folder / "lua"
	if not output.exists():
		folder.mkdir(exist_ok=True)
		files = [path for path in sorted(source.glob("*.c")) if path.name != "luac.c"]
		command = shlex.join([compiler, level, SYMBOLS[compiler], "-DLUA_USE_LINUX", *SAME_EACH_TIME, *HOOKS[hook], "-o", str(output), *map(str, files), "-Wl,-E", "-lm", "-ldl"])
		subprocess.run(command, shell=True, check=True)
	return output


def own_functions(binary):
	"""Returns the base names of the functions in the binary. Functions of its start code have no hook."""
	listed = subprocess.run(["nm", "--defined-only", binary], capture_output=True, text=True, check=True).stdout
	return {base_name(name) for _, kind, name in (line.split() for line in listed.splitlines()) if kind in "tT"}


def compare(hook, compiler, level, measurement):
	"""Returns (number of called functions, number of calls, the functions whose counts differ)."""
	with tempfile.TemporaryDirectory() as folder:
		lua = build_lua(hook, compiler, level)
		counted = Counted([lua, SCRIPT], folder, measurement)
		assert counted.status == 0, counted.err
		# An inlined function still has its hooks, inside the caller. callgrind sees its calls only in a build without inlining.
		plain = build_lua(hook, compiler, "-O0") if hook == "cyg" else lua
		expected = Callgrind([plain, SCRIPT], hook, folder).hooked({"lua"})
		found = by_base_name(counted.calls())
	names = own_functions(plain) | own_functions(lua)
	wrong = [name for name in names if expected.get(name, 0) != found.get(name, 0)]
	for name in wrong:
		print(f"{name}: {found.get(name, 0)}, not {expected.get(name, 0)}", file=sys.stderr)
	return len(expected), sum(expected.values()), wrong


def builds():
	return [(hook, compiler, level, measurement) for hook in HOOKS for compiler in COMPILERS for level, measurement in zip(LEVELS, ["arcs", "paths"])]


def main():
	failed = False
	for build in builds():
		functions, calls, wrong = compare(*build)
		print(f"{' '.join(build)}: {functions} functions, {calls} calls, {len(wrong)} counts differ from callgrind's", flush=True)
		failed = failed or bool(wrong)
	return int(failed)


if __name__ == "__main__":
	sys.exit(main())
