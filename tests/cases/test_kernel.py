"""The kernel's functions below the code that entered the kernel: names, counts, and the options that leave them out."""
import os
import subprocess
from pathlib import Path

import pytest
from measuring import between
from attach_support import attach
from page_support import browser
from record_support import HITS, blocks_of, build, build_counted, needs_bpf, needs_perf, record, record_counted, run_cpprof, valid_json
from test_top import Top

is_root = os.geteuid() == 0
needs_kernel_code = pytest.mark.skipif(not is_root, reason="only root may see the kernel's code")
BACKENDS = [pytest.param("bpf", marks=needs_bpf), pytest.param("perf", marks=needs_perf)]
PATHS_SHOWN = ["-t", "0", "-n", "0", "--format", "json"]
KERNEL = "[kernel]"
FAULTS = ["-r", "page-faults/1"]
ROUNDS = 20


def work(folder, what, *options, rounds=ROUNDS, **settings):
	recorded = record(folder, [build("kernel_work.c"), what, str(rounds)], *options, **settings)
	assert recorded.status == 0, recorded.err
	return recorded


def listed(recorded, *options):
	"""Returns the samples and the entries of a report's first result."""
	result = run_cpprof("report", *options, *PATHS_SHOWN, recorded.path)
	assert result.returncode == 0, result.stderr
	first = valid_json(result.stdout)["results"][0]
	return first


def kernel_functions(recorded, resource):
	"""Returns the names of the functions of the module [kernel], innermost and other."""
	return {entry["path"][0] for entry in listed(recorded, "--functions", "-r", resource, "--kernel", "only")["entries"]}


def below(recorded, resource, name):
	"""Returns the hits of the paths, outermost first, that contain the function."""
	return {path: hits for path, hits in recorded.paths(resource).items() if name in path}


def assert_whole_paths(recorded, resource):
	"""The kernel's frames follow the frames of the program, and nothing follows them."""
	ours = kernel_functions(recorded, resource)
	for path in recorded.paths(resource):
		kinds = [frame in ours for frame in path]
		assert kinds == sorted(kinds), path


@needs_kernel_code
@pytest.mark.parametrize("backend", BACKENDS)
def test_paths_into_a_function_of_the_kernel(tmp_path, backend):
	"""One function of the kernel, called three times as often on one path as on the other."""
	recorded = work(tmp_path, "random", "--backend", backend, *FAULTS)
	random = [name for name in kernel_functions(recorded, "page-faults") if "getrandom" in name]
	assert random, kernel_functions(recorded, "page-faults")
	inside = {name: sum(hits for path, hits in below(recorded, "page-faults", name).items() if set(path) & set(random)) for name in ("often", "seldom")}
	assert inside == {"often": 3 * ROUNDS, "seldom": ROUNDS}, recorded.paths()
	assert_whole_paths(recorded, "page-faults")


@needs_kernel_code
@pytest.mark.parametrize("backend", BACKENDS)
def test_hiding_equals_what_a_recording_without_the_kernel_shows(tmp_path, backend):
	recorded = work(tmp_path, "random", "--backend", backend, *FAULTS)
	# Start code is trimmed where frames of the kernel follow it, and kept where nothing does.
	shown, hidden, only = (listed(recorded, "--functions", "--untrimmed", "--kernel", how) for how in ("show", "hide", "only"))
	functions = lambda result: {entry["path"][0]: entry["hits"] for entry in result["entries"]}
	ours = functions(only)
	assert ours and functions(shown).keys() == functions(hidden).keys() | ours.keys()
	assert {name: hits for name, hits in functions(shown).items() if name not in ours} == \
		{name: hits for name, hits in functions(hidden).items() if name not in ours}
	assert shown["total_hits"] == hidden["total_hits"] > only["total_hits"] > 0
	for kind in ("--processes", "--threads", "--functions"):
		assert listed(recorded, kind, "--kernel", "only")["total_hits"] == only["total_hits"]
	exported = run_cpprof("export", "--kernel", "only", recorded.path).stdout.splitlines()
	assert sum(int(line.split()[-1]) for line in exported) == only["total_hits"]
	assert all(line.rsplit(" ", 1)[0].split(";")[0] in ours for line in exported)
	result = run_cpprof("export", "--kernel", "only", "--format", "gmon", "-o", tmp_path / "gmon.out", recorded.path)
	assert result.returncode == 2 and "--kernel cannot be combined with --format gmon" in result.stderr
	without = work(tmp_path, "random", "--backend", backend, *FAULTS, "--no-kernel")
	assert kernel_functions(without, "page-faults") <= {"[kernel: exec or exit]"}


@pytest.mark.measured("clocks that find the eBPF programs themselves at work")
@needs_bpf
@needs_kernel_code
@pytest.mark.parametrize("resource", ["blocked", "real"])
def test_waits_show_what_the_kernel_waits_in(tmp_path, resource):
	recorded = work(tmp_path, "wait", "-r", resource, rounds=100)
	waiting = below(recorded, resource, "waits")
	assert sum(waiting.values()) > 50, recorded.paths(resource)
	sleeping = {path for path in waiting if any("nanosleep" in frame and frame in kernel_functions(recorded, resource) for frame in path)}
	between(sum(waiting[path] for path in sleeping), 0.9 * sum(waiting.values()), None, waiting)
	traced = {path for path in sleeping if path[-1].startswith(("bpf_", "__bpf", "__traceiter", "perf_"))}
	between(sum(waiting[path] for path in traced), None, 0.05 * sum(waiting.values()), traced)
	assert_whole_paths(recorded, resource)


@needs_kernel_code
@pytest.mark.parametrize("backend, resource", [
	pytest.param("bpf", "context-switches", marks=needs_bpf),
	pytest.param("perf", "context-switches", marks=needs_perf),
	pytest.param("bpf", "tracepoint:sched:sched_switch", marks=needs_bpf),
])
def test_switches_are_in_the_function_that_waits(tmp_path, backend, resource):
	"""Each sleep is a switch below the kernel's function for it. The scheduler adds others, below the program and this function."""
	recorded = work(tmp_path, "wait", "--backend", backend, "-r", f"{resource}/1")
	waiting = below(recorded, resource, "waits")
	assert all(path[-1] in ("__schedule", "schedule") for path in waiting), waiting
	assert sum(hits for path, hits in waiting.items() if any("nanosleep" in frame for frame in path[3:])) >= ROUNDS, waiting
	assert_whole_paths(recorded, resource)


@needs_bpf
@needs_kernel_code
def test_a_wait_that_lasts_has_the_stack_of_the_kernel(tmp_path):
	"""A thread that sleeps when the recording ends is charged by another program."""
	with subprocess.Popen(["/bin/sleep", "100"]) as sleeper:
		try:
			recorded = attach(tmp_path, "bpf", "-p", sleeper.pid, resource="blocked/1us", until=lambda: None)
		finally:
			sleeper.kill()
	assert any("nanosleep" in name for name in kernel_functions(recorded, "blocked"))


@needs_kernel_code
@pytest.mark.parametrize("backend", BACKENDS)
def test_faults_of_the_kernel_and_of_the_program(tmp_path, backend):
	"""Where the kernel touches memory, the path continues in the kernel; where the program does, it ends in the program."""
	recorded = work(tmp_path, "fault", "--backend", backend, *FAULTS)
	ours = kernel_functions(recorded, "page-faults")
	by_kernel = below(recorded, "page-faults", "kernel_touches")
	assert sum(hits for path, hits in by_kernel.items() if path[-1] in ours) == ROUNDS, by_kernel
	assert below(recorded, "page-faults", "program_touches") == {("main", "program_touches"): 2 * ROUNDS}


@needs_kernel_code
@needs_perf
def test_hidden_names_are_one_function(tmp_path):
	"""Without CAP_SYSLOG the kernel hides its addresses in /proc/kallsyms, unless its settings are permissive."""
	if int(Path("/proc/sys/kernel/perf_event_paranoid").read_text()) <= 1 and int(Path("/proc/sys/kernel/kptr_restrict").read_text()) == 0:
		pytest.skip("this kernel hides nothing")
	path = tmp_path / "out.data"
	result = run_cpprof("record", "-o", path, "--backend", "perf", *FAULTS, "--", build("kernel_work.c"), "random", str(ROUNDS),
		before=["setpriv", "--inh-caps=-syslog", "--bounding-set=-syslog"])
	assert result.returncode == 0, result.stderr
	functions = valid_json(run_cpprof("report", "--functions", *PATHS_SHOWN, path).stdout)["results"][0]["entries"]
	assert [entry["hits"] >= 4 * ROUNDS for entry in functions if entry["path"] == [KERNEL]] == [True], functions
	assert not any("getrandom" in entry["path"][0].lower() for entry in functions), functions
	findings = valid_json(run_cpprof("info", "--format", "json", path).stdout)["findings"]
	assert [finding["text"] for finding in findings if finding["code"] == "kernel-not-recorded"] == \
		["the kernel hides its functions: kernel.kptr_restrict or kernel.perf_event_paranoid"]


def test_preload_states_that_it_has_no_functions_of_the_kernel(tmp_path):
	program = build_counted("preload", "spawn.c", event_us=2000)
	for options, expected in (([], 1), (["--no-kernel"], 0)):
		recorded = record_counted("preload", tmp_path, [program, "fork"], *options)
		codes = [finding["code"] for finding in recorded.info()["findings"]]
		assert codes.count("kernel-not-recorded") == expected, codes
		assert not kernel_functions(recorded, "own:event")


def test_options_of_the_kernel_that_do_not_fit(tmp_path):
	recorded = work(tmp_path, "random", "--backend", "preload", "-r", "cpu/1ms")
	result = run_cpprof("report", "--kernel", "maybe", recorded.path)
	assert result.returncode == 2 and "unknown way to show the kernel 'maybe' (show, hide or only)" in result.stderr
	result = run_cpprof("record", "--no-kernel", "--instrumented", "/bin/true")
	assert result.returncode == 2 and "--no-kernel" in result.stderr


@needs_bpf
@needs_kernel_code
def test_the_first_report_names_the_work_of_the_kernel(tmp_path):
	recorded = work(tmp_path, "random", *FAULTS)
	lines = run_cpprof("report", recorded.path).stdout.splitlines()
	at = lines.index("in the kernel, by the function that entered it, and where most of it is")
	assert "  syscall: " in lines[at + 1] and f" {4 * ROUNDS} faults " in lines[at + 1], lines[at:]
	hidden = run_cpprof("report", "--kernel", "hide", recorded.path).stdout
	assert "in the kernel" not in hidden


@pytest.mark.needs("firefox")
@needs_bpf
@needs_kernel_code
def test_the_page_shows_or_hides_the_kernel(tmp_path):
	recorded = work(tmp_path, "random", *FAULTS)
	page = tmp_path / "page.html"
	assert run_cpprof("html", "-o", page, recorded.path).returncode == 0
	with browser() as opened:
		for how in ("show", "hide", "only"):
			opened.open(page, view="functions", kernel=how)
			expected = {entry["path"][0]: entry["hits"] for entry in listed(recorded, "--functions", "--kernel", how)["entries"]}
			assert {row[0]: int(row[3].replace(",", "")) for row in opened.rows()} == expected
			assert opened.driver.execute_script("""return [...document.querySelectorAll("label")]
				.find(each => each.textContent.startsWith("kernel")).querySelector("select").value""") == how


@pytest.mark.unsanitized("a slow recorder names the functions after the screen that is read")
@needs_bpf
@needs_kernel_code
def test_top_names_functions_of_the_kernel(tmp_path):
	with subprocess.Popen([build("kernel_work.c"), "random", "1000000000"]) as process:
		try:
			with Top("-p", process.pid, rows=60) as top:
				top.wait_for(lambda: any("random" in name for name in top.shares()), "a function of the kernel")
				assert top.end("q") == 0
		finally:
			process.kill()


@needs_kernel_code
@pytest.mark.parametrize("backend", BACKENDS)
def test_cut_recording_lacks_the_names_of_the_kernel(tmp_path, backend):
	"""The recorder writes them at its end. The warning states that, and not that a file cannot be read here."""
	recorded = work(tmp_path, "random", "--backend", backend, *FAULTS)
	whole = recorded.path.read_bytes()
	at, size, _, _ = [block for block in blocks_of(whole) if block[2] == HITS][-1]
	recorded.path.write_bytes(whole[:at + size])
	result = run_cpprof("report", "--functions", recorded.path)
	assert result.returncode == 0, result.stderr
	assert "s, without the names that the recorder adds at its end\n" in result.stderr
	assert "cannot name the kernel's functions: the recorder was stopped before it wrote their names (record again, and let the recorder end)\n" in result.stderr
	assert "kallsyms" not in result.stderr and "random" not in result.stdout and "[kernel]+0x" in result.stdout
