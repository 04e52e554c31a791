"""
The part `optimize-real`: programs that are not ours, built by clang with the profile of a workload, beside the compiler's instrumented profile
of the same workload and beside one count for all callers (llvm-profile-flat), which is what AutoFDO makes. All builds run the workload in
turns; figures are medians of the ratio to -O2 in the same round, with quartiles. The workload is the profiled workload: the best case.
To reach: 0.9 of what the instrumented profile gains; where it gains nothing, no loss beyond the quartiles.
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
COMPILERS = ["clang-14", "clang-19"]
FORMS = ["llvm-profile", "llvm-profile-contexts", "llvm-profile-flat"]
NEAR = 0.9


def run(command, folder=FOLDER, **settings):
	subprocess.run(words(command), check=True, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **settings)


def build_lua(compiler, output, flags):
	folder = next((WORK / "src").glob("lua5.4-*/src"))
	sources = [path for path in folder.glob("*.c") if path.name != "luac.c"]
	run([compiler, "-O2", *flags, "-DLUA_USE_LINUX", "-o", output, *sources, "-Wl,-E", "-lm", "-ldl"])


def build_sqlite3(compiler, output, flags):
	sources = [WORK / "build-sqlite3" / name for name in ("shell.c", "sqlite3.c")]
	run([compiler, "-O2", *flags, "-DSQLITE_THREADSAFE=1", "-o", output, *sources, "-lm", "-ldl", "-lpthread"])


def build_xz(compiler, output, flags):
	folder = FOLDER / "build-xz"
	if not folder.exists():
		shutil.copytree(WORK / "build-xz", folder)
	run(["make", "clean"], folder)
	run(["make", f"CC={compiler}", f"CFLAGS=-O2 {' '.join(map(str, flags))}"], folder)
	shutil.copy(folder / "src/xz/xz", output)


def build_zstd(compiler, output, flags):
	folder = next((WORK / "src").glob("libzstd-*"))
	sources = [path for part in ("lib/common", "lib/compress", "lib/decompress", "lib/dictBuilder", "programs") for path in sorted((folder / part).glob("*.c"))]
	run([compiler, "-O2", *flags, "-DZSTD_DISABLE_ASM=1", "-DDEBUGLEVEL=0", "-DBACKTRACE_ENABLE=0", "-I", folder / "lib", "-I", folder / "lib/common", "-o", output, *sources])


# {name: (function that builds it, arguments, standard input)}
PROGRAMS = {
	"lua, queens": (build_lua, [HERE / "programs/queens.lua", "9", "24"], None),
	"lua, calls": (build_lua, [HERE / "programs/calls.lua"], None),
	"sqlite3, sort": (build_sqlite3, [":memory:"], HERE / "programs/sort.sql"),
	"zstd -9": (build_zstd, ["-9", "-q", "-c", WORK / "xz-input"], None),
	"xz -1": (build_xz, ["-1", "-k", "-c", WORK / "xz-input"], None),
}


def work_of(command, stdin, **settings):
	with open(stdin or os.devnull, "rb") as data:
		run(command, stdin=data, **settings)


def builds(compiler, build, arguments, stdin):
	"""Returns {way: command}; BARE is -O2."""
	ways = {BARE: LINES}
	build(compiler, FOLDER / "counting", ["-fprofile-generate", "-fprofile-update=atomic"])
	work_of([FOLDER / "counting", *arguments], stdin, env={**os.environ, "LLVM_PROFILE_FILE": str(FOLDER / "counts.profraw")})
	run([f"llvm-profdata-{compiler.partition('-')[2]}", "merge", "-o", "counts.profdata", "counts.profraw"])
	ways["instrumented"] = [f"-fprofile-use={FOLDER / 'counts.profdata'}"]
	build(compiler, FOLDER / BARE, LINES)
	work_of([CPPROF, "record", "-o", "cpprof.data", "--", FOLDER / BARE, *arguments], stdin)
	for form in FORMS:
		run([CPPROF, "export", "--format", form, "-o", f"{form}.prof", "cpprof.data"])
		ways[form] = [*LINES, f"-fprofile-sample-use={FOLDER / form}.prof"]
	for way, flags in ways.items():
		if way != BARE:
			build(compiler, FOLDER / way, flags)
	return {way: words([FOLDER / way, *arguments]) for way in ways}


def is_near(ours, instrumented):
	"""Returns whether a build has most of the instrumented build's gain, or, where that gains nothing, is not slower than the build without a profile."""
	return ours[0] - 1 >= NEAR * (instrumented[0] - 1) if instrumented[1] > 1 else ours[2] >= 1


def bench_optimize_real(table, rounds, only=("",)):
	for compiler in COMPILERS:
		for name, (build, arguments, stdin) in PROGRAMS.items():
			if not any(name.startswith(start) for start in only):
				continue
			shutil.rmtree(FOLDER, ignore_errors=True)
			FOLDER.mkdir(parents=True)
			runs = in_turns(builds(compiler, build, arguments, stdin), rounds, stdin)
			instrumented = ratios(runs, "instrumented")
			# `cpprof optimize` measures all forms, and keeps the fastest.
			best = max(FORMS, key=lambda form: ratios(runs, form)[0])
			others = ", ".join(f"{way} {shown(ratios(runs, way))}" for way in ("instrumented", *(form for form in FORMS if form != best)))
			ours = ratios(runs, best)
			table.add(f"times as fast as -O2, {best}", f"{name}, {compiler}", shown(ours), others, f">= {NEAR} of PGO's gain", is_near(ours, instrumented))
