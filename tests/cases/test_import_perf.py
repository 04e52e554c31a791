"""import of perf.data: files that perf record made here, and damaged files."""
import json
import shutil
import struct
import subprocess

import pytest
from cli_support import CPPROF, check_failure, done, run
from record_support import needs_perf

pytestmark = [needs_perf, pytest.mark.needs("perf")]

PROGRAM = r"""
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static volatile unsigned long sum;
__attribute__((noinline)) int compare(const void *a, const void *b)
{
	for (int i = 0; i < 30; i++)
		sum += i;
	return *(const int *)a - *(const int *)b;
}
__attribute__((noinline)) void sort_them(int *n) { qsort(n, 1000, sizeof(int), compare); sum++; }
__attribute__((noinline)) void fill(int *n) { for (int i = 0; i < 1000; i++) n[i] = rand(); sum++; }
/* Works for that much CPU time, whatever else runs. */
__attribute__((noinline)) void work(long ms)
{
	int numbers[1000];
	struct timespec now;
	do {
		fill(numbers);
		sort_them(numbers);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < ms);
	sum++;
}
static void *start(void *unused) { pthread_setname_np(pthread_self(), "sorter"); work(100); return unused; }
int main(int argc, char **argv)
{
	pthread_t thread;
	work(200);
	if (argc == 1)
		return 0;
	pthread_create(&thread, NULL, start, NULL);
	pthread_join(thread, NULL);
	if (fork() == 0) {
		work(100);
		_exit(0);
	}
	wait(NULL);
	return argv == NULL;
}
"""
SORTED = "main work sort_them qsort"


@pytest.fixture(scope="module")
def program(tmp_path_factory):
	folder = tmp_path_factory.mktemp("program")
	(folder / "program.c").write_text(PROGRAM)
	subprocess.run(["gcc", "-O2", "-g", "-fomit-frame-pointer", "-o", folder / "program", folder / "program.c", "-pthread"], check=True)
	return folder / "program"


def perf_record(output, *words, stdout=None):
	# -B and -N leave out perf's last pass over the build-ids, in which some versions crash.
	subprocess.run(["perf", "record", "-q", "-N", "-B", "-F", "2000", "-o", str(output), *map(str, words)], check=True, stdout=stdout,
		stderr=subprocess.DEVNULL)


@pytest.fixture(scope="module")
def dwarf(program):
	data = program.parent / "dwarf.data"
	perf_record(data, "-e", "cpu-clock:u", "--call-graph", "dwarf", program)
	return data


def paths_of(profile, *options):
	text = done("export", "--format", "folded", *options, profile)
	return {line.rsplit(" ", 1)[0].replace(";", " "): int(line.rsplit(" ", 1)[1]) for line in text.splitlines()}


def share_of(paths, start):
	return sum(hits for path, hits in paths.items() if path.startswith(start)) / sum(paths.values())


def imported(data, *options):
	profile = data.with_suffix(".cpprof")
	done("import", *options, "-o", profile, data)
	return profile


def test_stacks_of_dwarf_reach_main(dwarf):
	profile = imported(dwarf)
	assert share_of(paths_of(profile), SORTED) > 0.5
	assert share_of(paths_of(profile), "main") > 0.9
	assert "command:" in done("info", profile) and "program" in done("info", profile)


def test_reports_work_on_it(dwarf):
	profile = imported(dwarf)
	done("html", "-o", profile.with_suffix(".html"), profile)
	assert "compare" in done("report", "--functions", profile)
	assert "compare" in done("diff", profile, profile)
	assert "main" in done("whatif", profile, "main;work=0.5")


def test_copies_that_are_too_short(tmp_path):
	"""A frame of 100 KB hides the callers behind the largest copy. The finding names the option for larger ones."""
	(tmp_path / "deep.c").write_text("""#include <string.h>
static volatile unsigned long sum;
__attribute__((noinline)) void leaf(volatile char *room) { for (long i = 0; i < 100000000; i++) sum += (unsigned long)room[i % 64]; }
int main(void) { volatile char room[100000]; memset((char *)room, 1, sizeof(room)); leaf(room); return (int)room[7] - 1; }
""")
	subprocess.run(["gcc", "-O2", "-g", "-fomit-frame-pointer", "-o", tmp_path / "deep", tmp_path / "deep.c"], check=True)
	perf_record(tmp_path / "deep.data", "-e", "cpu-clock:u", "--call-graph", "dwarf", tmp_path / "deep")
	findings = {row["code"]: row for row in json.loads(done("info", "--format", "json", imported(tmp_path / "deep.data")))["findings"]}
	assert findings["stacks-cut"]["count"] > 10 and "too early (perf record --call-graph dwarf,32768)" in findings["stacks-cut"]["text"]


def test_whole_stacks_are_no_finding(dwarf):
	assert "stacks-cut" not in done("info", "--format", "json", imported(dwarf))


def test_cut_before_its_end(dwarf, tmp_path):
	"""The message has the byte at which the file ends."""
	data = dwarf.read_bytes()
	for size in (len(data) // 7, len(data) - 1):
		(tmp_path / "cut").write_bytes(data[:size])
		result = run("import", "cut", directory=tmp_path)
		if result.returncode:
			check_failure(result, f"the file ends early, at byte {size} ")


def test_compressed_records(program):
	data = program.parent / "compressed.data"
	perf_record(data, "-z", "-e", "cpu-clock:u", "--call-graph", "dwarf", program)
	assert share_of(paths_of(imported(data)), SORTED) > 0.5


def test_a_pipe(program):
	made = subprocess.run(["perf", "record", "-q", "-e", "cpu-clock:u", "--call-graph", "dwarf", "-o", "-", program], check=True, capture_output=True).stdout
	profile = program.parent / "pipe.cpprof"
	subprocess.run([CPPROF, "import", "-o", profile, "-"], input=made, check=True)
	assert share_of(paths_of(profile), SORTED) > 0.5


def test_frame_pointers(program):
	data = program.parent / "fp.data"
	perf_record(data, "-e", "cpu-clock:u", "-g", program)
	paths = paths_of(imported(data))
	assert any(path.split()[-1] == "compare" for path in paths)


def test_no_call_chains(program):
	data = program.parent / "flat.data"
	perf_record(data, "-e", "cpu-clock:u", program)
	paths = paths_of(imported(data))
	assert paths["compare"] > sum(paths.values()) / 4
	assert not any(path.startswith("main ") for path in paths)


def test_several_events_threads_and_processes(program):
	data = program.parent / "events.data"
	perf_record(data, "-e", "cpu-clock:u,page-faults:u", "--call-graph", "dwarf", program, "all")
	profile = imported(data)
	resources = json.loads(done("info", "--format", "json", profile))["resources"]
	assert [resource["name"] for resource in resources] == ["cpu", "page-faults"]
	assert sum(paths_of(profile, "-r", "page-faults").values()) > 10
	assert "sorter" in done("info", profile)
	assert share_of(paths_of(profile, "--thread", "sorter"), "start work") > 0.9
	assert done("info", profile).count(" program") >= 2


def test_a_replaced_program_gives_no_names(program, tmp_path):
	copy = tmp_path / "copy"
	shutil.copy(program, copy)
	perf_record(tmp_path / "copy.data", "--buildid-mmap", "-e", "cpu-clock:u", "--call-graph", "dwarf", copy)
	assert share_of(paths_of(imported(tmp_path / "copy.data")), SORTED) > 0.5
	(tmp_path / "other.c").write_text("int main(void) { return 3; }")
	copy.unlink()
	subprocess.run(["gcc", "-o", copy, tmp_path / "other.c"], check=True)
	profile = imported(tmp_path / "copy.data")
	assert not any("sort_them" in path for path in paths_of(profile))
	assert "was replaced" in done("info", profile)


def test_recognized_only_by_its_content(dwarf, tmp_path):
	shutil.copy(dwarf, tmp_path / "stacks.folded")
	done("import", "-o", tmp_path / "a.data", tmp_path / "stacks.folded")
	check_failure(run("import", "--format", "folded", "-o", tmp_path / "b.data", tmp_path / "stacks.folded"), "not binary data")


def test_opened_without_an_import(dwarf, tmp_path):
	"""`report` of perf.data prints what it prints of the imported profile."""
	(tmp_path / "imported").mkdir()
	shutil.copy(dwarf, tmp_path / "perf.data")
	done("import", "-o", tmp_path / "imported/perf.data", tmp_path / "perf.data")
	for words in (["report"], ["report", "--functions", "--format", "json"], ["export"]):
		assert done(*words, "perf.data", directory=tmp_path) == done(*words, "perf.data", directory=tmp_path / "imported"), words


def test_damaged_files_are_refused(dwarf, tmp_path):
	whole = dwarf.read_bytes()
	records, size = struct.unpack_from("<QQ", whole, 40)
	broken = {
		"the file ends early, at byte ": whole[:len(whole) // 2],
		"its header is damaged": whole[:8] + struct.pack("<Q", 50) + whole[16:],
		"perf record has not finished it": whole[:48] + bytes(8) + whole[56:],
		"the other byte order": b"2ELIFREP" + whole[8:],
		f"a record has an impossible size, at byte {records}": whole[:records + 6] + bytes(2) + whole[records + 8:],
		"the description of its events is damaged": whole[:16] + struct.pack("<Q", 3) + whole[24:],
	}
	for reason, content in broken.items():
		(tmp_path / "broken.data").write_bytes(content)
		check_failure(run("import", "-o", tmp_path / "out.data", tmp_path / "broken.data"), "broken.data", reason)
	assert not (tmp_path / "out.data").exists() and size > 0


def test_other_processors_are_refused(dwarf, tmp_path):
	whole = dwarf.read_bytes()
	machine = subprocess.run(["uname", "-m"], capture_output=True, text=True, check=True).stdout.strip().encode()
	assert machine + b"\0" in whole
	(tmp_path / "other.data").write_bytes(whole.replace(machine + b"\0", b"z" * len(machine) + b"\0"))
	check_failure(run("import", "-o", tmp_path / "out.data", tmp_path / "other.data"), "it was recorded on 'zzz")
