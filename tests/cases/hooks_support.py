"""Helpers for the tests of compiler instrumentation: they build programs with a hook and count their calls in two ways, by valgrind,
which does not depend on the hooks, and by `cpprof record --instrumented`."""
import hashlib
import os
import re
import subprocess
import tempfile
from pathlib import Path

from json_support import valid_json
from record_support import BUILD, CHECKED, LINKAGES, PROGRAMS, SECONDS_ALLOWED, run_cpprof

FOLDER = PROGRAMS / "hooks"
HOOKS = {
	"mcount": ["-pg"],
	"fentry": ["-pg", "-mfentry"],
	"cyg": ["-finstrument-functions"],
}
HOOK_FUNCTIONS = {"mcount": "mcount", "fentry": "__fentry__", "cyg": "__cyg_profile_func_enter"}
# Compilers assume the C library's malloc, but this program defines its own.
FLAGS = {"allocator": ["-fno-builtin"]}
# Debian 12's valgrind cannot read clang's DWARF 5.
SYMBOLS = {"gcc": "-g", "clang": "-gdwarf-4"}
CXX = {"gcc": "g++", "clang": "clang++"}


def compile_once(command, sources, output_name, libraries=()):
	"""Runs a compiler, unless an earlier run compiled the same text with the same command. Returns the output's path."""
	key = hashlib.sha256(repr(command).encode())
	for source in [*sources, *libraries, *sorted(FOLDER.glob("*.h"))]:
		key.update(source.read_bytes())
	output = BUILD / "tests/programs/hooks" / key.hexdigest()[:16] / output_name
	if not output.exists():
		output.parent.mkdir(parents=True, exist_ok=True)
		partial = output.with_name(f"{output.name}.{os.getpid()}")
		subprocess.run([*command, "-o", partial, *sources, *libraries], check=True)
		partial.rename(output)
	return output


def compiler_for(source, compiler):
	return CXX[compiler] if source.suffix == ".cpp" else compiler


class Program:
	"""A program of tests/programs/hooks, built with a hook, with its library if it has one (NAME.lib.c)."""

	def __init__(self, name, hook, compiler="gcc", level="-O2", linkage="pie", libraries=()):
		self.source = next(FOLDER.glob(f"{name}.c*"))
		self.libraries = sorted(FOLDER.glob(f"{name}.lib.*"))
		self.hook, self.level = hook, level
		common = [level, SYMBOLS[compiler], "-D_GNU_SOURCE", "-pthread", *CHECKED, *HOOKS[hook]]
		own_libraries = [compile_once(
			[compiler_for(source, compiler), *common, "-fPIC", "-shared", "-fsemantic-interposition", f"-Wl,-soname,lib{name}.so"],
			[source], f"lib{name}.so") for source in self.libraries]
		self.words = [str(library) for library in own_libraries] if name == "plugins" else []
		linked = [] if name == "plugins" else own_libraries
		command = [compiler_for(self.source, compiler), *common, *LINKAGES[linkage], *FLAGS.get(name, ())]
		for library in linked:
			command += [f"-L{library.parent}", f"-Wl,-rpath,{library.parent}", f"-Wl,--push-state,--no-as-needed,-l:{library.name},--pop-state"]
		self.path = compile_once(command, [self.source], name, libraries)
		self.command = [str(self.path), *self.words]
		self.objects = {name, *(f"lib{name}.so" for _ in own_libraries)}

	def functions(self):
		"""Names of the functions that the sources define, without those that have no hooks. Finds them by the layout of the source."""
		text = "".join(source.read_text() for source in [self.source, *self.libraries])
		names = set(re.findall(r"(~?\w+)(?=\([^;{}]*\)[^;{}]*\{)", text))
		text = (FOLDER / "hooks.h").read_text() + text
		names -= set(re.findall(r"no_instrument_function\)\)[^(]*?(\w+)\(", text))
		return names | {f"small_{number}" for number in range(1000, 4000)} if "small_##n" in text else names


# --- by valgrind ---

POSITION = re.compile(r"^(ob|fn|cob|cfn)=(.*)$")


def base_name(name):
	"""The function's name without parameters, namespace, template arguments, clone suffix (`name.constprop.0`), callgrind's suffix for a
	deeper level of recursion (`name'2`), and cpprof's `@object`. cpprof appends that where two objects have functions of the same name:
	a shell that a program starts has a main as well, which is in the profile if a tick interrupted it."""
	name = re.sub(r"'\d+", "", name)
	name = re.sub(r"@[^@]*$", "", name)
	name = re.sub(r" \[clone [^\]]*\]", "", name)
	name = re.sub(r"\([^()]*\)( const)?$", "", name)
	name = re.sub(r"<[^<>]*>", "", name)
	name = name.split("::")[-1]
	return re.sub(r"\.(?:constprop|isra|part|\d).*$", "", name)


def add_callgrind_file(path, calls):
	"""Adds the calls of one process to `calls`: {(caller, callee): calls}, each of the two as (object, function)."""
	current, called = {"ob": "", "fn": ""}, {}
	for line in path.read_text().splitlines():
		position = POSITION.match(line)
		if position:
			where, value = position.groups()
			(called if where.startswith("c") else current)[where.removeprefix("c")] = value
		elif line.startswith("calls="):
			caller = (Path(current["ob"]).name, current["fn"])
			callee = (Path(called.get("ob", current["ob"])).name, called["fn"])
			calls[caller, callee] = calls.get((caller, callee), 0) + int(line[len("calls="):].split()[0])
			called = {}


class Callgrind:
	"""One run under valgrind, with hooks that do nothing: all calls of all its processes."""

	def __init__(self, command, hook, folder):
		folder = Path(tempfile.mkdtemp(prefix="callgrind", dir=folder))
		hooks = compile_once(["gcc", "-fPIC", "-shared"], [FOLDER / "none.c"], "none.so")
		valgrind = ["valgrind", "--tool=callgrind", "--trace-children=yes", f"--callgrind-out-file={folder}/%p",
			"--compress-strings=no", "--compress-pos=no", "--main-stacksize=67108864"]
		result = subprocess.run([*valgrind, *command], cwd=folder, capture_output=True, text=True, check=False,
			timeout=SECONDS_ALLOWED, env={**os.environ, "LD_PRELOAD": str(hooks), "LD_BIND_NOW": "1"})
		assert result.returncode == 0, result.stderr
		self.hook, self.calls = HOOK_FUNCTIONS[hook], {}
		for path in folder.glob("[0-9]*"):
			add_callgrind_file(path, self.calls)

	def hooked(self, objects):
		"""{function: calls of the hook by it} of the functions of these objects. That is how often each was entered, including what is
		inlined into it. callgrind records the hooks of signal handlers and of a thread's first function too, but not the calls of these."""
		found = {}
		for ((binary, function), callee), count in self.calls.items():
			if callee[1] == self.hook and binary in objects:
				name = base_name(function.removesuffix(".cold"))
				found[name] = found.get(name, 0) + count
		return found

	def total(self):
		"""Calls of the hook by all functions."""
		return sum(count for (_, callee), count in self.calls.items() if callee[1] == self.hook)


# --- by cpprof ---


class Counted:
	"""One run of `cpprof record --instrumented`: its status, the output of cpprof and the program, and the calls that were counted."""

	def __init__(self, command, folder, measurement="arcs", options=(), name="out.data", **settings):
		self.path = Path(folder) / name
		result = run_cpprof("record", f"--instrumented={measurement}", "-o", self.path, *options, "--", *command,
			**{"cwd": folder, **settings})
		self.status, self.out, self.err = result.returncode, result.stdout, result.stderr

	def stated(self):
		"""{function: calls} that the program itself counted."""
		return {name: int(count) for name, count in re.findall(r"^calls (\w+) (\d+)$", self.out, re.MULTILINE)}

	def calls(self):
		return counted_calls(self.path)


def counted_calls(path):
	"""{function as cpprof names it: calls} of a profile."""
	result = run_cpprof("report", "--body", "-r", "calls", "--no-inlines", "--untrimmed", "-n", 0, "-t", 0, "--format", "json", path)
	assert result.returncode == 0, result.stderr
	return {entry["path"][-1]: entry["hits"] for entry in valid_json(result.stdout)["results"][0]["entries"]}


def by_base_name(calls):
	found = {}
	for function, count in calls.items():
		name = base_name(function)
		found[name] = found.get(name, 0) + count
	return found


def differences(expected, found, names):
	"""One line for each of these functions whose two counts differ."""
	return [f"{name}: {found.get(name, 0)} calls counted, not {expected.get(name, 0)}"
		for name in sorted(names) if expected.get(name, 0) != found.get(name, 0)]
