"""
The part `optimize-real`: programs that are not ours, built by clang with the profile of a workload, beside the compiler's instrumented profile
of the same workload and beside one count for all callers (llvm-profile-flat), which is what AutoFDO makes. All builds run the workload in
turns; figures are medians of the ratio to -O2 in the same round, with quartiles. The workload is the profiled workload: the best case.
"""
import os
import shutil
import subprocess
from pathlib import Path

from optimize import LINES, ratios, shown
from peers import CPPROF, words
from turns import BARE, in_turns

HERE = Path(__file__).resolve().parent
WORK = HERE / "work"
FOLDER = WORK / "optimize-real"
COMPILER, PROFDATA = "clang-19", "llvm-profdata-19"
FORMS = ["llvm-profile", "llvm-profile-flat"]


def run(command, folder=FOLDER, **settings):
	subprocess.run(words(command), check=True, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **settings)


def build_lua(output, flags):
	folder = next((WORK / "src").glob("lua5.4-*/src"))
	sources = [path for path in folder.glob("*.c") if path.name != "luac.c"]
	run([COMPILER, "-O2", *flags, "-DLUA_USE_LINUX", "-o", output, *sources, "-Wl,-E", "-lm", "-ldl"])


def build_sqlite3(output, flags):
	sources = [WORK / "build-sqlite3" / name for name in ("shell.c", "sqlite3.c")]
	run([COMPILER, "-O2", *flags, "-DSQLITE_THREADSAFE=1", "-o", output, *sources, "-lm", "-ldl", "-lpthread"])


def build_xz(output, flags):
	folder = FOLDER / "build-xz"
	if not folder.exists():
		shutil.copytree(WORK / "build-xz", folder)
	run(["make", "clean"], folder)
	run(["make", f"CC={COMPILER}", f"CFLAGS=-O2 {' '.join(map(str, flags))}"], folder)
	shutil.copy(folder / "src/xz/xz", output)


# {name: (function that builds it, arguments, standard input)}
PROGRAMS = {
	"lua, queens": (build_lua, [HERE / "programs/queens.lua", "9", "24"], None),
	"lua, calls": (build_lua, [HERE / "programs/calls.lua"], None),
	"sqlite3, sort": (build_sqlite3, [":memory:"], HERE / "programs/sort.sql"),
	"xz -1": (build_xz, ["-1", "-k", "-c", WORK / "xz-input"], None),
}


def work_of(command, stdin, **settings):
	with open(stdin or os.devnull, "rb") as data:
		run(command, stdin=data, **settings)


def builds(build, arguments, stdin):
	"""Returns {way: command}; BARE is -O2."""
	ways = {BARE: LINES}
	build(FOLDER / "counting", ["-fprofile-generate", "-fprofile-update=atomic"])
	work_of([FOLDER / "counting", *arguments], stdin, env={**os.environ, "LLVM_PROFILE_FILE": str(FOLDER / "counts.profraw")})
	run([PROFDATA, "merge", "-o", "counts.profdata", "counts.profraw"])
	ways["instrumented"] = [f"-fprofile-use={FOLDER / 'counts.profdata'}"]
	build(FOLDER / BARE, LINES)
	work_of([CPPROF, "record", "-o", "cpprof.data", "--", FOLDER / BARE, *arguments], stdin)
	for form in FORMS:
		run([CPPROF, "export", "--format", form, "-o", f"{form}.prof", "cpprof.data"])
		ways[form] = [*LINES, f"-fprofile-sample-use={FOLDER / form}.prof"]
	for way, flags in ways.items():
		if way != BARE:
			build(FOLDER / way, flags)
	return {way: words([FOLDER / way, *arguments]) for way in ways}


def bench_optimize_real(table, rounds, only=("",)):
	for name, (build, arguments, stdin) in PROGRAMS.items():
		if not any(name.startswith(start) for start in only):
			continue
		shutil.rmtree(FOLDER, ignore_errors=True)
		FOLDER.mkdir(parents=True)
		runs = in_turns(builds(build, arguments, stdin), rounds, stdin)
		others = ", ".join(f"{way} {shown(ratios(runs, way))}" for way in ("instrumented", "llvm-profile-flat"))
		table.add("times as fast as -O2, llvm-profile", f"{name}, {COMPILER}", shown(ratios(runs, "llvm-profile")), others)
