"""What the tests of compiler instrumentation share: building programs with a hook, counting their calls by valgrind, which knows
nothing of hooks, and by `cpprof record --instrumented`."""
import hashlib
import os
import re
import subprocess
import tempfile
from pathlib import Path

from json_support import valid_json
from record_support import BUILD, LINKAGES, PROGRAMS, SECONDS_ALLOWED, run_cpprof

FOLDER = PROGRAMS / "hooks"
HOOKS = {
	"mcount": ["-pg"],
	"fentry": ["-pg", "-mfentry"],
	"cyg": ["-finstrument-functions"],
}
HOOK_FUNCTIONS = {"mcount": "mcount", "fentry": "__fentry__", "cyg": "__cyg_profile_func_enter"}
# Compilers know what malloc does, and of this one it is not so.
FLAGS = {"allocator": ["-fno-builtin"]}
# Debian 12's valgrind cannot read clang's DWARF 5.
SYMBOLS = {"gcc": "-g", "clang": "-gdwarf-4"}
CXX = {"gcc": "g++", "clang": "clang++"}


def compile_once(command, sources, output_name, libraries=()):
	"""Runs a compiler unless it did so before, on the same text by the same command; returns the output's path."""
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
		common = [level, SYMBOLS[compiler], "-D_GNU_SOURCE", "-pthread", *HOOKS[hook]]
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
		"""Names of the functions that its sources define, as they are laid out, but for those that are not to be counted."""
		text = "".join(source.read_text() for source in [self.source, *self.libraries])
		names = set(re.findall(r"(~?\w+)(?=\([^;{}]*\)[^;{}]*\{)", text))
		text = (FOLDER / "hooks.h").read_text() + text
		names -= set(re.findall(r"no_instrument_function\)\)[^(]*?(\w+)\(", text))
		return names | {f"small_{number}" for number in range(1000, 4000)} if "small_##n" in text else names


# --- by valgrind ---

POSITION = re.compile(r"^(ob|fn|cob|cfn)=(.*)$")


def base_name(name):
	"""The function of `name(int)`, `space::name<int>`, `name.constprop.0`, `name'2` (callgrind's second level of a recursion), `name@object`
	(where two objects have functions of that name in the profile: a shell that a program starts has a main, too, if a tick found it there)."""
	name = re.sub(r"'\d+", "", name)
	name = re.sub(r"@[^@]*$", "", name)
	name = re.sub(r" \[clone [^\]]*\]", "", name)
	name = re.sub(r"\([^()]*\)( const)?$", "", name)
	name = re.sub(r"<[^<>]*>", "", name)
	name = name.split("::")[-1]
	return re.sub(r"\.(?:constprop|isra|part|\d).*$", "", name)


def add_callgrind_file(path, calls):
	"""Adds {((object, function), (object, function)): calls} of one process: of a caller, and what it calls."""
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
	"""A run by valgrind, with hooks that do nothing, and all calls of all its processes."""

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
		"""{function: calls of the hook by it} of these objects' functions: how often each was entered, whoever called it, and what is
		inlined into it as well. (That is known of handlers and of the first function of a thread, too; calls of them are not.)"""
		found = {}
		for ((binary, function), callee), count in self.calls.items():
			if callee[1] == self.hook and binary in objects:
				name = base_name(function.removesuffix(".cold"))
				found[name] = found.get(name, 0) + count
		return found

	def total(self):
		"""Calls of the hook by all there are."""
		return sum(count for (_, callee), count in self.calls.items() if callee[1] == self.hook)


# --- by cpprof ---


class Counted:
	"""One run of `cpprof record --instrumented`: what it and the program said, and what was counted."""

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
	"""Lines that say for which of these functions the counts differ; none if all agree."""
	return [f"{name}: {found.get(name, 0)} calls counted, not {expected.get(name, 0)}"
		for name in sorted(names) if expected.get(name, 0) != found.get(name, 0)]
