"""
The part `optimize`: builds of tests/programs/generic.c with a profile of cpprof's samples, by each form and compiler, beside the
compiler's own instrumented profile, AutoFDO's of perf's samples (autofdo.py) and -O3. All builds run in turns; figures are medians of the
ratio to -O2 in the same round.
"""
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

from autofdo import autofdo_profile
from peers import CPPROF, words
from turns import BARE, cpu, in_turns

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent / "tests/programs/generic.c"
WORK = HERE / "work/optimize"
ARGUMENT, RECORDED = "2000", "6000"
FASTER, NEAR, OVER_AUTOFDO = 3.5, 1.05, 1.5
FORMS = ["llvm-profile", "llvm-profile-contexts", "llvm-profile-flat"]
AUTOFDO = "AutoFDO"
LINES = ["-g", "-fdebug-info-for-profiling"]


def compiled(compiler, output, *flags):
	subprocess.run([compiler, "-O2", *flags, "-o", WORK / output, SOURCE], check=True, cwd=WORK, stderr=subprocess.DEVNULL)
	return words([WORK / output, ARGUMENT])


def recorded(program, data):
	subprocess.run([CPPROF, "record", "-o", data, "--", WORK / program, RECORDED], check=True, cwd=WORK, capture_output=True)


def exported(form, data, output):
	subprocess.run([CPPROF, "export", "--format", form, "-o", output, data], check=True, cwd=WORK, capture_output=True)


def clang_builds(compiler):
	"""Returns {way: command}; BARE is -O2."""
	version = compiler.partition("-")[2]
	ways = {BARE: compiled(compiler, "bare", *LINES), "-O3": compiled(compiler, "o3", "-O3")}
	compiled(compiler, "counting", "-fprofile-generate=.")
	subprocess.run([WORK / "counting", "600"], check=True, cwd=WORK, stdout=subprocess.DEVNULL)
	subprocess.run([f"llvm-profdata-{version}", "merge", "-o", "counts.profdata", *WORK.glob("*.profraw")], check=True, cwd=WORK)
	ways["instrumented"] = compiled(compiler, "instrumented", "-fprofile-use=counts.profdata")
	compiled(compiler, "dwarf4", "-gdwarf-4", "-fdebug-info-for-profiling")
	autofdo_profile(WORK / "dwarf4", [RECORDED], WORK / "autofdo.prof")
	ways[AUTOFDO] = compiled(compiler, "autofdo", *LINES, "-fprofile-sample-use=autofdo.prof")
	recorded("bare", "clang.data")
	for form in FORMS:
		exported(form, "clang.data", f"{form}.prof")
		ways[form] = compiled(compiler, form, *LINES, f"-fprofile-sample-use={form}.prof")
	return ways


def gcc_builds(compiler):
	ways = {BARE: compiled(compiler, "bare", "-g"), "-O3": compiled(compiler, "o3", "-O3")}
	compiled(compiler, "counting", "-fprofile-generate")
	subprocess.run([WORK / "counting", "600"], check=True, cwd=WORK, stdout=subprocess.DEVNULL)
	counts = max(WORK.glob("*.gcda"), key=lambda path: path.stat().st_mtime)
	ways["instrumented"] = compiled(compiler, "instrumented", f"-fprofile-use={counts}")
	recorded("bare", "gcc.data")
	exported("gcc-profile", "gcc.data", "gcc.afdo")
	ways["gcc-profile"] = compiled(compiler, "sampled", "-g", "-fauto-profile=gcc.afdo")
	return ways


def ratios(runs, way):
	"""Returns the median of -O2's time over the time of a way in the same round, and the quartiles."""
	found = [cpu(bare) / cpu(run) for run, bare in zip(runs[way], runs[BARE])]
	low, _, high = statistics.quantiles(found, n=4) if len(found) > 1 else found * 3
	return statistics.median(found), low, high


def shown(ratio):
	return f"{ratio[0]:.2f} ({ratio[1]:.2f} to {ratio[2]:.2f})"


def check_optimize_tools():
	for tool in ("clang-14", "clang-19", "llvm-profdata-14", "llvm-profdata-19", "perf", "create_llvm_prof"):
		if not shutil.which(tool):
			sys.exit(f"bench/run: {tool} is missing (tools/setup bench)")


def holds(ours, peers):
	"""Returns whether a build is as fast as promised: over -O2, near the instrumented build, and by more than AutoFDO's gain."""
	gain, others = ours[0] - 1, peers[AUTOFDO][0] - 1 if AUTOFDO in peers else 0
	return ours[0] >= FASTER and ours[0] * NEAR >= peers["instrumented"][0] and gain >= OVER_AUTOFDO * others


def bench_optimize(table, rounds):
	for compiler in ("clang-14", "clang-19", "gcc"):
		shutil.rmtree(WORK, ignore_errors=True)
		WORK.mkdir(parents=True)
		is_clang = compiler != "gcc"
		runs = in_turns((clang_builds if is_clang else gcc_builds)(compiler), rounds)
		forms = FORMS if is_clang else ["gcc-profile"]
		peers = {way: ratios(runs, way) for way in runs if way != BARE and way not in forms}
		others = ", ".join(f"{way} {shown(ratio)}" for way, ratio in peers.items())
		for form in forms:
			ours = ratios(runs, form)
			is_judged = form == "llvm-profile"
			table.add(f"times as fast as -O2, {form}", f"generic, {compiler}", shown(ours), others,
				f">= {FASTER}, PGO / {NEAR}, AutoFDO's gain x {OVER_AUTOFDO}" if is_judged else "", holds(ours, peers) if is_judged else None)
