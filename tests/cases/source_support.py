"""Helpers for the tests of source instrumentation: they find the functions of a binary that contain a Profiler object, and count the
calls of these functions with callgrind."""
import re
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

# ENTER: the library's function, or a function of the header that calls it: cpprof_entered_aside without optimization, and
# cpprof_entered_slowly in a function that the compiler may evaluate. OWN: the header's own functions.
ENTER = re.compile(r"<(?:_ZL\d+)?cpprof_(?:site_enter|entered_aside|entered_slowly)(?:\b|P)")
OWN = re.compile(r"(?:_ZL\d+)?cpprof_")
PLACE = re.compile(r"_ZZ(.*)EN\d+cpprof_probe_\d+4siteEv$")
FUNCTION = re.compile(r"^([0-9a-f]+) <(.+)>:$")


def demangled(names):
	"""{name as linked: name as c++filt prints it}"""
	names = list(names)
	shown = subprocess.run(["c++filt", "-i"], input="".join(f"{name}\n" for name in names), capture_output=True, text=True, check=True).stdout
	return dict(zip(names, shown.split("\n")))


def function_symbols(binary):
	"""{address: names as linked} of all functions that a binary defines."""
	listed = subprocess.run(["nm", "--defined-only", binary], capture_output=True, text=True, check=True).stdout
	found = {}
	for address, kind, name in (line.split(maxsplit=2) for line in listed.splitlines()):
		if kind in "tTwWuV":
			found.setdefault(int(address, 16), set()).add(name)
	return found


def calling_enter(binary):
	"""Addresses of the functions whose code calls the library. At -O0 these are the instrumented functions, whatever instrumented them."""
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
	"""Returns two results: {name as linked: name as shown} of the functions with a Profiler object, and those of their shown names that
	functions without an object have as well (such as static functions of two files, one of which is too small to be chosen). A different
	linked name is a different function: a deleting destructor, or clang's constructor of a complete object, calls the one with the
	object."""
	symbols = function_symbols(binary)
	own = calling_enter(binary)
	with_object = set().union(*(names for address, names in symbols.items() if address in own))
	without = set().union(*(names for address, names in symbols.items() if address not in own))
	shown = demangled(with_object)
	return shown, {shown[name] for name in with_object & without}


def constexpr_functions(binary):
	"""Names, as linked, of instrumented functions that the compiler may evaluate: their probe descriptor is in a function of a local
	type."""
	places = map(PLACE.match, set().union(*function_symbols(binary).values()))
	# A descriptor inside a constructor is mangled as part of the unified constructor, C4 (gcc), or of the first kind (clang), whereas the
	# instrumented function is of kind 1 or 2.
	return {re.sub(r"([CD])[124](?=[EI])", rf"\g<1>{kind}", f"_Z{place[1]}") for place in places if place for kind in "12"}


def add_callgrind_file(path, binary, calls):
	"""Adds the calls of the functions of one binary in one process, by their names as linked."""
	current = called_in = called = None
	with open(path, encoding="utf-8", errors="replace") as file:
		for line in file:
			if line.startswith("ob="):
				current = line[len("ob="):-1]
			elif line.startswith("cob="):
				called_in = line[len("cob="):-1]
			elif line.startswith("cfn="):
				called = re.sub(r"'\d+$", "", line[len("cfn="):-1]) # callgrind's suffix for a deeper level of recursion
			elif line.startswith("calls="):
				if Path(called_in or current).name == binary:
					calls[called] += int(line[len("calls="):].split()[0])
				called_in = None


def callgrind_calls(run, binary, folder, functions, named=str):
	"""Counts the calls of these functions ({name as linked: name as shown}) of a binary, from any caller. Returns a Counter by shown
	names. `run` runs the program behind the words that it receives; `named` converts a name as linked to one of `functions`."""
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
