"""The programs of tests/programs/hostile and how to run them."""
from record_support import build

LIBRARY = "the library that it loads"

# {name: (source, arguments, status (below 0: the signal), least % of complete paths)}. Incomplete with any backend: paths in the
# middle of an exception's jump, just after clone, in code without unwind rules, and above makecontext's first function.
HOSTILE = {
	"malloc": ("inside_malloc.c", [], 0, 99),
	"dlopen": ("inside_dlopen.c", [LIBRARY], 0, 98),
	"fork": ("inside_fork.c", [], 0, 99),
	"longjmp": ("inside_longjmp.c", [], 0, 99),
	"throw": ("inside_throw.cpp", [], 0, 93),
	"handler": ("inside_handler.c", [], 0, 99),
	"vfork": ("inside_vfork.c", [], 0, 98),
	"tiny stacks": ("tiny_stacks.c", [], 0, 99),
	"errno": ("keeps_errno.c", [], 0, 99),
	"own calls": ("own_calls.c", [], 0, 98),
	"coroutines": ("small_coroutines.c", [], 0, 0),
	"masks": ("mask_churn.c", [], 0, 99),
	"threads": ("thread_churn.c", [], 0, 90),
	"exec": ("exec_loop.c", [], 0, 98),
	"closed": ("closes_all.c", [], 0, 99),
	"privileges": ("drops_privileges.c", [], 0, 98),
	"overflow": ("stack_overflow.c", [], 0, 85),
	"recursion": ("deep_recursion.c", [], 0, 85), # deeper than a copy: completed if the recorder comes before the stack changes
	"red zone": ("red_zone.c", [], 0, 99),
	"registers": ("registers.c", [], 0, 98),
	"made code": ("made_code.c", [], 0, 0),
	"raw threads": ("raw_threads.c", [], 0, 85),
	"sandbox": ("sandboxed.c", [], 0, 98),
	"SIGKILL": ("endings.c", ["kill"], -9, 99),
	"_exit": ("endings.c", ["_exit"], 3, 99),
	"exit": ("endings.c", ["exit"], 4, 98),
	"abort": ("endings.c", ["abort"], -6, 99),
	"fault": ("endings.c", ["fault"], -11, 99),
	"quick_exit": ("endings.c", ["quick_exit"], 5, 99),
	"exit in a thread": ("endings.c", ["thread"], 6, 95),
	"first thread gone": ("endings.c", ["leaving"], 6, 95),
}

# {source: the names of the things that it does}
UNUSUAL = {
	"unusual_signals.c": ["every-signal", "ignores", "blocks", "signalfd", "itimers", "timers", "faults", "faults-on-a-stack", "traps", "nests",
		"suspends", "stops", "waits", "kicks", "pipe"],
	"unusual_memory.c": ["locks", "no-memory", "code", "moves", "break", "reads-itself", "stack-pages", "contexts", "clones", "rounding", "cancels",
		"many-threads", "thousands-of-threads", "namespace", "many-steps"],
	"unusual_processes.c": ["closes", "takes", "standard", "events", "folder", "daemon", "spawns", "environment", "no-name", "name", "adopts",
		"namespaces", "limits", "files", "traces", "priority", "exec-thread"],
}


def again(name, times):
	"""Returns the command that runs a program of HOSTILE so many times. It prints how many of them ended as expected."""
	source, arguments, status, _ = HOSTILE[name]
	arguments = [build("hostile/library.c", linkage="shared", name="library.so") if word is LIBRARY else word for word in arguments]
	return [build("hostile/again.c"), str(times), str(status), build(f"hostile/{source}"), *arguments]
