"""Helpers of the tests of source instrumentation: they find the functions of a binary that contain an object of the Profiler, and
count the calls of these functions by callgrind."""
import re
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

# The library's functions; those that replace them in the header where code is not optimised or where the compiler may evaluate
# it; and the header's own functions.
ENTER = re.compile(r"<(?:_ZL\d+)?cpprof_(?:probe_enter|entered_aside|entered_slowly)(?:\b|P)")
OWN = re.compile(r"(?:_ZL\d+)?cpprof_")
PROBE = re.compile(r"_ZZ(.*)EN\d+cpprof_probe_\d+5probeEv$")
FUNCTION = re.compile(r"^([0-9a-f]+) <(.+)>:$")


def demangled(names):
	"""Returns {name as linked: name as shown}."""
	names = list(names)
	shown = subprocess.run(["c++filt", "-i"], input="".join(f"{name}\n" for name in names), capture_output=True, text=True, check=True).stdout
	return dict(zip(names, shown.split("\n")))


def function_symbols(binary):
	"""Returns {address: names as linked} of all functions that a binary defines."""
	listed = subprocess.run(["nm", "--defined-only", binary], capture_output=True, text=True, check=True).stdout
	found = {}
	for address, kind, name in (line.split(maxsplit=2) for line in listed.splitlines()):
		if kind in "tTwWuV":
			found.setdefault(int(address, 16), set()).add(name)
	return found


def calling_enter(binary):
	"""Returns the addresses of the functions whose code calls the library: at -O0 exactly the instrumented functions."""
	disassembly = subprocess.Popen(["objdump", "-d", "--no-show-raw-insn", "-w", binary], stdout=subprocess.PIPE, text=True)
	found, address = set(), None
	for line in disassembly.stdout:
		if line.endswith(">:\n"):
			start, name = FUNCTION.match(line).groups()
			address = None if OWN.match(name) else int(start, 16)
		elif address is not None and ENTER.search(line):
			found.add(address)
	assert disassembly.wait() == 0
	return found


def instrumented_functions(binary):
	"""Returns ({name as linked: name as shown} of the functions that contain an object, names as shown that also belong to
	functions without one: static functions of two files, one of them too small to be chosen). A function with another linked name
	is another function: a destructor that also deletes, or clang's constructor of a whole object, both of which call the one with
	the object."""
	symbols = function_symbols(binary)
	own = calling_enter(binary)
	with_object = set().union(*(names for address, names in symbols.items() if address in own))
	without = set().union(*(names for address, names in symbols.items() if address not in own))
	shown = demangled(with_object)
	return shown, {shown[name] for name in with_object & without}


def constexpr_functions(binary):
	"""Returns the names, as linked, of instrumented functions that the compiler may evaluate: their probe descriptor is
	in a member function of a local type."""
	places = map(PROBE.match, set().union(*function_symbols(binary).values()))
	# The descriptor of a constructor, which exists in several kinds, carries the name of no kind (gcc) or of the first (clang).
	return {re.sub(r"([CD])[124](?=[EI])", rf"\g<1>{kind}", f"_Z{place[1]}") for place in places if place for kind in "12"}


def add_callgrind_file(path, binary, calls):
	"""Adds the calls of functions of one binary in one process, by their names as linked."""
	current = called_in = called = None
	with open(path, encoding="utf-8", errors="replace") as file:
		for line in file:
			if line.startswith("ob="):
				current = line[len("ob="):-1]
			elif line.startswith("cob="):
				called_in = line[len("cob="):-1]
			elif line.startswith("cfn="):
				called = re.sub(r"'\d+$", "", line[len("cfn="):-1]) # without the recursion level that callgrind appends
			elif line.startswith("calls="):
				if Path(called_in or current).name == binary:
					calls[called] += int(line[len("calls="):].split()[0])
				called_in = None


def callgrind_calls(run, binary, folder, functions, named=str):
	"""Returns a Counter of the calls of these functions of a binary, {name as linked: name as shown}, by their shown names, from
	any caller. `run` runs the program with the given command before it; `named` maps a linked name to the name in `functions`."""
	folder = Path(tempfile.mkdtemp(prefix="callgrind", dir=folder))
	result = run(["valgrind", "--tool=callgrind", "--demangle=no", f"--callgrind-out-file={folder}/%p", "--compress-strings=no", "--compress-pos=no",
		"--main-stacksize=67108864"])
	calls = Counter()
	for path in folder.glob("[0-9]*"):
		add_callgrind_file(path, binary, calls)
	assert calls, result
	shown = Counter()
	for name, count in calls.items():
		if named(name) in functions:
			shown[functions[named(name)]] += count
	return shown
