"""A gate for changes: `record --repeat` makes the recordings, and `diff --fail-above` compares them."""
import csv
import io
import math
import os
import re
import resource
import signal
import statistics
import subprocess
import sys

import pytest
from cli_support import BUILD, CPPROF, REPOSITORY, check_failure, done, run
from json_support import valid_json
from measuring import ATTEMPTS, between
from record_support import FALSE_ALARM, build, build_counted, most_by_chance, needs_bpf, needs_perf, record

RECORD = ["record", "--backend", "preload"]
SUMMARY = re.compile(r"cpprof: (\d+)(?: of (\d+))? recordings?, (\S+)(?: to (\S+))?: (\d+) samples?, (\d+) lost(?:, (.*))?")


def folded(folder, name, lines):
	(folder / "stacks").write_text(lines)
	done("import", "--format", "folded", "-o", name, "stacks", directory=folder)


def recordings(folder, side, amounts, rest=20000):
	"""Makes profiles of main with its callees parse and store: parse has the given hits, one number a recording."""
	for index, hits in enumerate(amounts, 1):
		folded(folder, f"{side}-{index}.data", f"main;parse {hits}\nmain;parse;read {hits // 2}\nmain;store {rest}\n")
	return [f"{side}-{index}.data" for index in range(1, len(amounts) + 1)]


# Amounts that differ between runs by about 1 %.
EQUAL = [2000, 2020, 1985, 2010, 1990]
SLOWER = [2420, 2395, 2405, 2380, 2410]


# --- record --repeat ---


def test_repeat_makes_numbered_files(tmp_path):
	result = run(*RECORD, "--repeat", 3, "-o", tmp_path / "a.b.data", "--", "sh", "-c", "echo $$", directory=tmp_path)
	assert result.returncode == 0, result.stderr
	assert len(set(result.stdout.split())) == 3
	assert sorted(path.name for path in tmp_path.iterdir()) == ["a.b-1.data", "a.b-2.data", "a.b-3.data"]
	lines = result.stderr.splitlines()
	assert len(lines) == 4, lines
	made, of, first, last, samples, lost, _ = SUMMARY.fullmatch(lines[-1]).groups()
	assert (made, of, first, last) == ("3", None, str(tmp_path / "a.b-1.data"), str(tmp_path / "a.b-3.data"))
	each = [re.match(r"cpprof: (\d+) samples?, (\d+) lost", line).groups() for line in lines[:3]]
	assert (int(samples), int(lost)) == tuple(sum(map(int, column)) for column in zip(*each))


@pytest.mark.parametrize("output, expected", [(None, "cpprof-1.data"), ("x", "x-1"), (".hidden", ".hidden-1"), ("d.e/x", "d.e/x-1")])
def test_names_of_the_files(tmp_path, output, expected):
	(tmp_path / "d.e").mkdir()
	options = ["-o", output] if output else []
	assert run(*RECORD, "--repeat", 1, *options, "--", "true", directory=tmp_path).returncode == 0
	assert (tmp_path / expected).is_file()


def test_repeat_with_hooks_counts_the_same(tmp_path):
	program = build("forms.c", "-finstrument-functions")
	result = run("record", "--instrumented=counts", "--repeat", 2, "--", program, "50", directory=tmp_path)
	assert result.returncode == 0, result.stderr
	# Exact counts of equal runs do not differ.
	assert re.search(r"calls [\d,]+ calls each, ±0\.0 % \(standard deviation\)$", result.stderr.splitlines()[-1]), result.stderr
	assert "gate: no change above +0 %" in done("diff", "-r", "calls", "--fail-above", 0, "cpprof-1.data", "cpprof-2.data", directory=tmp_path)


def test_status_of_the_command(tmp_path):
	"""All recordings are made; the status is the first that is not 0."""
	count = "n=$(cat n 2>/dev/null || echo 0); n=$((n + 1)); echo $n > n; test $n = 1 || exit $((n + 4))"
	result = run(*RECORD, "--repeat", 3, "--", "sh", "-c", count, directory=tmp_path)
	assert result.returncode == 6, result.stderr
	assert (tmp_path / "cpprof-3.data").exists()
	assert result.stderr.splitlines()[-1].startswith("cpprof: 3 recordings,")


def test_failed_recording_ends_all(tmp_path):
	result = run(*RECORD, "--repeat", 3, "--", "./absent", directory=tmp_path)
	assert result.returncode == 127
	assert result.stderr.splitlines()[-1] == "cpprof: 0 of 3 recordings"
	assert result.stderr.count("absent") == 1 and not list(tmp_path.iterdir())
	result = run(*RECORD, "--repeat", 3, "-o", "absent/x.data", "--", "true", directory=tmp_path)
	assert result.returncode == 1 and result.stderr.count("absent/x-1.data") == 1, result.stderr


# --- record --against ---


def script(folder, name, body):
	"""Makes a program that appends its name to the file `order`."""
	path = folder / name
	path.write_text(f"#!/bin/sh\necho {name} >> {folder}/order\n{body}\n")
	path.chmod(0o755)
	return path


def next_command(result):
	"""Returns the words of the `diff` that the last line prints, as a shell expands them."""
	line = result.stderr.splitlines()[-1]
	assert line.startswith("next: cpprof diff "), result.stderr
	return line, lambda folder: subprocess.run(["sh", "-c", f"printf '%s\n' {line.removeprefix('next: cpprof diff ')}"], cwd=folder,
		capture_output=True, text=True, check=True).stdout.splitlines()


@pytest.mark.parametrize("output, a, b, shown", [
	("x.data", "x-a-{}.data", "x-b-{}.data", "next: cpprof diff x-a-*.data -- x-b-*.data"),
	("it's a/x", "it's a/x-a-{}", "it's a/x-b-{}", "next: cpprof diff 'it'\\''s a/x'-a-* -- 'it'\\''s a/x'-b-*"),
	("[x].data", "[x]-a-{}.data", "[x]-b-{}.data", "next: cpprof diff '[x]-a-1.data' '[x]-a-2.data' '[x]-a-3.data' -- "
		"'[x]-b-1.data' '[x]-b-2.data' '[x]-b-3.data'"),
])
def test_sides_are_recorded_in_turns(tmp_path, output, a, b, shown):
	"""A B A B A B, each into files of its own, whose names the last line lists. Each profile has the command of its side."""
	(tmp_path / "it's a").mkdir()
	old, new = script(tmp_path, "old", 'test "$*" = "two  words"'), script(tmp_path, "new", "test $# = 0")
	result = run(*RECORD, "--repeat", 3, "--against", f"{old} 'two  words'", "-o", output, "--", new, directory=tmp_path)
	assert result.returncode == 0, result.stderr
	assert (tmp_path / "order").read_text().split() == ["old", "new"] * 3
	expected = [form.format(number) for form in (a, b) for number in (1, 2, 3)]
	assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*x*-?-*")) == sorted(expected)
	line, expand = next_command(result)
	assert line == shown
	assert expand(tmp_path) == [*expected[:3], "--", *expected[3:]]
	for summary, first, last in zip(result.stderr.splitlines()[-3:-1], expected[::3], expected[2::3]):
		assert summary.startswith(f"cpprof: 3 recordings, {first} to {last}: "), summary
	for name, command in ((expected[0], f"{old} 'two  words'"), (expected[3], str(new))):
		assert valid_json(done("info", "--format", "json", name, directory=tmp_path))["command_line"] == command


def test_next_command_leaves_older_recordings_out(tmp_path):
	"""With x-a-3.data of an earlier call beside them, the pattern of side A would compare it too."""
	words = [*RECORD, "-o", "x.data", "--against", "true", "--", "true"]
	run(*words[:-2], "--repeat", 3, *words[-2:], directory=tmp_path)
	(tmp_path / "x-b-3.data").unlink()
	result = run(*words[:-2], "--repeat", 2, *words[-2:], directory=tmp_path)
	assert result.stderr.splitlines()[-1] == "next: cpprof diff x-a-1.data x-a-2.data -- x-b-*.data"


def test_exact_counts_of_both_sides(tmp_path):
	"""One recording of each side is enough for counts. A variable of the command of --against has its value."""
	program = build("forms.c", "-finstrument-functions")
	result = run("record", "--instrumented=counts", "--repeat", 1, "--against", "$PROGRAM 50", "--", program, "51", directory=tmp_path, PROGRAM=program)
	assert result.returncode == 0, result.stderr
	line, expand = next_command(result)
	assert line == "next: cpprof diff cpprof-a-1.data cpprof-b-1.data"
	assert run("diff", "--fail-above", 0, "-r", "calls", *expand(tmp_path), directory=tmp_path).returncode == 3


@pytest.mark.parametrize("fails, order, kept, what", [
	("old", ["old", "new", "old"], ["x-a-1.data", "x-a-2.data", "x-b-1.data"], "the command of --against, '{}/old', ended with status 7 in recording 2 of 3"),
	("new", ["old", "new", "old", "new"], ["x-a-1.data", "x-a-2.data", "x-b-1.data", "x-b-2.data"],
		"the command, '{}/new', ended with status 7 in recording 2 of 3"),
])
def test_failing_side_ends_both(tmp_path, fails, order, kept, what):
	programs = {name: script(tmp_path, name, f'test {name} != {fails} || test $(grep -c {name} {tmp_path}/order) != 2 || exit 7') for name in ("old", "new")}
	result = run(*RECORD, "--repeat", 3, "--against", programs["old"], "-o", "x.data", "--", programs["new"], directory=tmp_path)
	assert result.returncode == 7
	assert (tmp_path / "order").read_text().split() == order
	assert sorted(path.name for path in tmp_path.glob("*.data")) == kept
	assert f"cpprof record: cannot record both sides: {what.format(tmp_path)}\n" in result.stderr
	assert "next:" not in result.stderr


def test_absent_program_of_a_side(tmp_path):
	result = run(*RECORD, "--repeat", 2, "--against", "./absent", "--", "true", directory=tmp_path)
	assert result.returncode == 127 and "the command of --against, './absent', ended with status 127 in recording 1 of 2" in result.stderr, result.stderr
	assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("words, message", [
	(["--against", "true", "--", "true"], "--against needs --repeat"),
	(["--against", "true", "--until", "1%", "--", "true"], "--against needs --repeat"),
	(["--repeat", "2", "--against", "true"], "missing argument COMMAND"),
	(["--repeat", "2", "--against", " ", "--", "true"], "it is empty"),
	(["--repeat", "2", "--against", "a | b", "--", "true"], "no shell runs it"),
	(["--repeat", "2", "--against", "$(a)", "--", "true"], "no shell runs it"),
	(["--repeat", "2", "--against", "'a", "--", "true"], "a quote or a brace in it is not closed"),
	(["--repeat", "2", "--against", "$ABSENT_VARIABLE", "--", "true"], "a variable in it is not set"),
])
def test_against_refuses(tmp_path, words, message):
	result = run(*RECORD, *words, directory=tmp_path)
	assert result.returncode == 2 and message in result.stderr, result.stderr
	assert not list(tmp_path.iterdir())


# --- record --until ---


def halves(times):
	return ["-r", "own:event/1", "--", build_counted("preload", "halves.c"), str(times)]


def test_until_the_errors_are_small(tmp_path):
	"""Two halves of n samples have an error of 0.98/sqrt(n): 2400 samples are enough for 2 %, and 2000 are not. One profile is left."""
	result = run(*RECORD, "--until", "2%", "-o", "a.data", *halves(200), directory=tmp_path)
	assert result.returncode == 0, result.stderr
	lines = result.stderr.splitlines()
	assert [line.split(",")[0] for line in lines[:-2]] == ["cpprof: 400 samples"] * 6, lines
	assert lines[-2].startswith("cpprof record: 2400 samples of 6 recordings, ")
	assert lines[-1] == "cpprof record: the shares of paths with 5 % or more have errors up to 2 %"
	assert [path.name for path in tmp_path.iterdir()] == ["a.data"]
	rows = {row["path"]: row for row in csv.DictReader(io.StringIO(done("report", "--functions", "--format", "csv", "a.data", directory=tmp_path)))}
	for name in ("left", "right"):
		assert (float(rows[name]["fraction"]), int(rows[name]["hits"])) == (0.5, 1200) and float(rows[name]["error"]) <= 0.02


def test_until_refuses(tmp_path):
	for words in (["--until", "0", "--", "true"], ["--until", "100%", "--", "true"], ["--until", "x", "--", "true"], ["--until", "1%", "--repeat", 2, "--", "true"],
		["--until", "1%", "--instrumented", "--", "true"], ["--until", "1%", "-p", os.getpid()]):
		result = run("record", *words, directory=tmp_path)
		assert result.returncode == 2 and "--until" in result.stderr and not list(tmp_path.iterdir()), result.stderr
	result = run(*RECORD, "--until", "1%", *halves(0), directory=tmp_path)
	assert result.returncode == 1 and "choose a shorter interval" in result.stderr, result.stderr
	assert run(*RECORD, "--until", "1%", "--", "./absent", directory=tmp_path).returncode == 127


@pytest.mark.parametrize("to", ["group", "recorder"])
@pytest.mark.parametrize("traps", [False, True])
def test_interrupt_ends_all(tmp_path, to, traps):
	"""Whether the command dies of the signal or ends well, no further recording begins. The terminal's signal reaches all processes."""
	# A handler of Python would run only after a sleep that begins just behind the signal: sigwait has no such gap.
	waits = "signal.pthread_sigmask(0, {2}); print('ready', flush=True); signal.sigwait({2})" if traps else \
		"signal.signal(2, signal.SIG_DFL); print('ready', flush=True); time.sleep(60)"
	command = f"import signal, time; {waits}"
	recorder = subprocess.Popen([CPPROF, *RECORD, "--repeat", "3", "--", sys.executable, "-c", command], cwd=tmp_path, text=True,
		stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
	assert recorder.stdout.readline() == "ready\n"
	if to == "group":
		os.killpg(recorder.pid, signal.SIGINT)
	else:
		recorder.send_signal(signal.SIGINT)
	_, err = recorder.communicate(timeout=60)
	assert recorder.returncode == 128 + signal.SIGINT, err
	assert err.splitlines()[-1].startswith("cpprof: 1 of 3 recordings, cpprof-1.data: "), err
	assert (tmp_path / "cpprof-1.data").exists() and not (tmp_path / "cpprof-2.data").exists()


def test_repeat_without_descriptors(tmp_path):
	result = subprocess.run([CPPROF, *RECORD, "--repeat", "2", "--", "true"], cwd=tmp_path, capture_output=True, text=True, check=False,
		preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (4, 4)))
	assert result.returncode == 1 and "cpprof record: cannot make a pipe: Too many open files" in result.stderr, result.stderr
	assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("words, message", [
	(["--repeat", "0", "--", "true"], "'0' is not a number of recordings (--repeat 5; at most 1000)"),
	(["--repeat", "1001", "--", "true"], "'1001' is not a number of recordings"),
	(["--repeat", "x", "--", "true"], "'x' is not a number of recordings"),
	(["--repeat", "2", "-p", "1", "--duration", "1"], "--repeat needs a command"),
])
def test_repeat_refuses(tmp_path, words, message):
	result = run(*RECORD, *words, directory=tmp_path)
	assert result.returncode == 2 and message in result.stderr, result.stderr
	assert not list(tmp_path.iterdir())


# --- diff --fail-above ---


def test_gate_finds_the_change(tmp_path):
	a, b = recordings(tmp_path, "a", EQUAL), recordings(tmp_path, "b", SLOWER)
	result = run("diff", "--fail-above", 10, *a, "--", *b, directory=tmp_path)
	assert result.returncode == 3, result.stderr
	gate = result.stdout[result.stdout.index("\ngate: "):]
	assert gate.startswith("\ngate: 4 changes above +10 %:\n")
	causes = [re.fullmatch(r"  samples \+(\S+) % ±(\S+) % \((.*) -> (.*)\) (\S+)", line).groups() for line in gate.splitlines()[2:]]
	assert sorted(cause[-1] for cause in causes) == ["main;parse", "main;parse;read", "parse", "read"]
	for change, error, *_ in causes:
		assert 18 < float(change) < 22 and 0 < float(error) < 6
	# The limit is on the change: main grows by 3 %.
	assert run("diff", "--fail-above", "25%", *a, "--", *b, directory=tmp_path).returncode == 0
	assert "gate: 6 changes above +1 %" in run("diff", "--fail-above", 1, *a, "--", *b, directory=tmp_path).stdout
	# A program that became faster passes.
	assert run("diff", "--fail-above", 1, *b, "--", *a, directory=tmp_path).returncode == 0


def test_gate_needs_significance(tmp_path):
	"""The mean differs by 10 %, and the recordings of one side by 50 %: no alarm."""
	a, b = recordings(tmp_path, "a", [1500, 2500, 2000]), recordings(tmp_path, "b", [1700, 2700, 2200])
	result = run("diff", "--fail-above", 5, *a, "--", *b, directory=tmp_path)
	assert (result.returncode, result.stdout.splitlines()[-1]) == (0, "gate: no change above +5 %")


def test_gate_of_equal_recordings(tmp_path):
	a, b = recordings(tmp_path, "a", EQUAL), recordings(tmp_path, "b", EQUAL[::-1])
	assert run("diff", "--fail-above", 0, *a, "--", *b, directory=tmp_path).returncode == 0


def test_threshold_of_the_gate(tmp_path):
	a, b = recordings(tmp_path, "a", EQUAL), recordings(tmp_path, "b", SLOWER)
	assert run("diff", "--body", "--fail-above", 10, "--threshold", 0.2, *a, "--", *b, directory=tmp_path).returncode == 0
	assert run("diff", "--body", "--fail-above", 10, "--threshold", 0.05, "--limit", 1, *a, "--", *b, directory=tmp_path).returncode == 3


def test_path_chooses_entries(tmp_path):
	a, b = recordings(tmp_path, "a", EQUAL), recordings(tmp_path, "b", SLOWER)

	def compared(*words):
		document = valid_json(run("diff", "--format", "json", "--fail-above", 10, *words, *a, "--", *b, directory=tmp_path).stdout)
		return [(result["profile"], [row["path"] for row in result["entries"]]) for result in document["results"]], document["gate"]["exceeds"]

	assert compared("--path", "store") == ([("Function Profile", [["store"]])], False)
	assert compared("--path", "main;store") == ([("Downward Call Path Profile", [["main", "store"]])], False)
	results, exceeds = compared("--path", "store", "--path", "parse")
	assert exceeds and sorted(results[0][1]) == [["parse"], ["store"]] and len(results) == 1
	assert compared("--down", "parse", "--path", "parse;read")[1] is True
	assert compared("--body", "--path", "read")[1] is True


def test_shares_are_compared_without_the_speed_of_the_machine(tmp_path):
	"""The totals of equal runs differ by a fifth; the share of parse is 10 % larger in B."""
	speeds = [1, 1.2, 0.9, 1.1, 0.95]

	def side(name, part):
		for index, speed in enumerate(speeds, 1):
			folded(tmp_path, f"{name}-{index}.data", f"main;parse {round(part * 20000 * speed)}\nmain;store {round((1 - part) * 20000 * speed)}\n")
		return [f"{name}-{index}.data" for index in range(1, 6)]

	words = ["--body", "--fail-above", 5, *side("a", 0.1), "--", *side("b", 0.11)]
	assert run("diff", *words, directory=tmp_path).returncode == 0
	result = run("diff", "--shares", *words, directory=tmp_path)
	assert result.returncode == 3 and "amounts: scaled so that each recording has the mean total of A" in result.stdout
	assert re.search(r"^  samples \+10\.0 % ±\S+ % \(2060 samples -> 2266 samples\) parse$", result.stdout, re.MULTILINE), result.stdout
	# The totals are as in the recordings, and a program that is slower everywhere has equal shares.
	assert "total: 20600 samples -> 20600 samples, +0.0 %" in result.stdout
	for index in range(1, 6):
		folded(tmp_path, f"c-{index}.data", f"main;parse {3000 * speeds[index - 1]:.0f}\nmain;store {27000 * speeds[index - 1]:.0f}\n")
	document = valid_json(done("diff", "--shares", "--format", "json", *words[:-6], "--", *[f"c-{index}.data" for index in range(1, 6)],
		directory=tmp_path))
	(section,) = document["results"]
	assert section["shares"] is True and section["b"]["gticks"] == pytest.approx(1.5 * section["a"]["gticks"])
	assert all(abs(row["change"]) < 1 for row in section["entries"])


def test_fewer_tests_find_smaller_changes(tmp_path):
	"""Among 400 entries with noise, a change with p of about 0.01 is not marked; alone, it is."""
	def side(name, amounts):
		for index, hits in enumerate(amounts, 1):
			rest = "".join(f"main;f{k} {1000 + (k * 7919 * (index + ord(name)) % 97) - 48}\n" for k in range(400))
			folded(tmp_path, f"{name}-{index}.data", f"main;parse {hits}\n{rest}")
		return [f"{name}-{index}.data" for index in range(1, 4)]

	a, b = side("a", [5000, 5080, 4930]), side("b", [5290, 5210, 5360])
	words = ["diff", "--body", "--threshold", 0, "--fail-above", 2]
	(row,) = valid_json(run(*words, "--path", "parse", "--format", "json", *a, "--", *b, directory=tmp_path).stdout)["results"][0]["entries"]
	assert 0.0005 < row["p"] < 0.05 and row["exceeds"]
	together = valid_json(run(*words, "--format", "json", "--limit", 0, *a, "--", *b, directory=tmp_path).stdout)["results"][0]["entries"]
	assert [entry["exceeds"] for entry in together if entry["path"] == ["parse"]] == [False]


def test_path_that_is_not_there(tmp_path):
	a, b = recordings(tmp_path, "a", EQUAL), recordings(tmp_path, "b", SLOWER)
	check_failure(run("diff", "--path", "parsee", *a, "--", *b, directory=tmp_path), "no function 'parsee' (did you mean parse?)")
	check_failure(run("diff", "--path", "parse", "--path", "parse;main", *a, "--", *b, directory=tmp_path),
		"no compared list has the entry 'parse;main'")
	# A function of one side alone is there.
	folded(tmp_path, "c-1.data", "main;added 1000\nmain;store 20000\n")
	folded(tmp_path, "c-2.data", "main;added 1010\nmain;store 20000\n")
	result = run("diff", "--path", "added", "--fail-above", 5, *a, "--", "c-1.data", "c-2.data", directory=tmp_path)
	assert result.returncode == 3 and re.search(r"^  samples new \(.* -> .*\) added$", result.stdout, re.MULTILINE), result.stdout


def test_gate_refuses_single_recordings(tmp_path):
	a, b = recordings(tmp_path, "a", EQUAL), recordings(tmp_path, "b", SLOWER)
	for words in ([a[0], b[0]], [*a, "--", b[0]]):
		result = run("diff", "--fail-above", 5, *words, directory=tmp_path)
		assert result.returncode == 2 and result.stdout == "", result.stderr
		assert "resource 'samples' is sampled, and single recordings do not show how much equal programs differ (several" in result.stderr


@pytest.mark.parametrize("form", ["firefox", "speedscope", "chrome", "callgrind"])
def test_sums_of_samples_are_no_exact_gate(tmp_path, form):
	"""A file of another tool has sums of times, and not the number of samples. Equal programs differ by sampling."""
	for name, own in (("a", "52"), ("b", "61"), ("a2", "55"), ("b2", "58")):
		script = "".join(f"prog 7 1.{i:06d}: 1000000 cpu-clock:\n\t401000 parse+0x1 (/bin/prog)\n\t402000 main+0x1 (/bin/prog)\n\n" for i in range(int(own)))
		(tmp_path / f"{name}.script").write_text(script)
		done("export", "--format", form, "-r", "cpu", "-o", f"{name}.{form}", f"{name}.script", directory=tmp_path)
	a, b, a2, b2 = (f"{name}.{form}" for name in ("a", "b", "a2", "b2"))
	result = run("diff", "--fail-above", 5, a, b, directory=tmp_path)
	assert result.returncode == 2 and "is the sum of an unknown number of samples, and single recordings do not show how much" in result.stderr, result.stderr
	shown = done("diff", a, b, directory=tmp_path)
	assert "mark: none, since a file does not state how many samples" in shown and "\n* " not in shown
	assert "gate: no change above +5 %" in done("diff", "--fail-above", 5, a, a2, "--", b, b2, directory=tmp_path)
	report = done("report", "--functions", a, directory=tmp_path)
	assert "does not state how many samples these are" in report and "counted exactly" not in report


def test_one_exact_side_is_no_exact_gate(tmp_path):
	"""Valgrind counts Ir; the other side is sampled."""
	(tmp_path / "exact.cg").write_text("# callgrind format\ncreator: callgrind-3.19.0\nevents: Ir\nfl=a.c\nfn=main\n1 1000\nfn=parse\n2 200\ntotals: 1200\n")
	(tmp_path / "sums.cg").write_text("# callgrind format\ncreator: cpprof 0\nevents: Ir\nevent: Ir : Ir (event)\nfl=a.c\nfn=main\n1 1000\nfn=parse\n2 300\ntotals: 1300\n")
	gate = ["diff", "--functions", "--fail-above", 5]
	for words in (["exact.cg", "sums.cg"], ["sums.cg", "exact.cg"]):
		result = run(*gate, *words, directory=tmp_path)
		assert result.returncode == 2 and "resource 'Ir' is the sum of an unknown number of samples" in result.stderr, result.stderr
	(tmp_path / "more.cg").write_text((tmp_path / "exact.cg").read_text().replace("2 200", "2 300").replace("1200", "1300"))
	assert run(*gate, "exact.cg", "more.cg", directory=tmp_path).returncode == 3


def test_callgrind_files_of_samplers_are_no_exact_gate(tmp_path):
	"""go tool pprof writes its samples in this format, without a creator; the numbers of its calls are amounts, too."""
	for name, own in (("a", 130), ("b", 140)):
		(tmp_path / f"{name}.cg").write_text(f"positions: instr line\nevents: cpu(ns)\n\nfl=(1) main.go\nfn=(1) main.f\n0x10 5 {own}0000\ncfn=(2) main.g\n"
			f"calls={own} 9\n* * 900000\n\nfn=(2)\n0x20 9 900000\n")
	for name in ("cpu(ns)", "calls"):
		result = run("diff", "--functions", "--fail-above", 5, "-r", name, "a.cg", "b.cg", directory=tmp_path)
		assert result.returncode == 2 and f"resource '{name}' is the sum of an unknown number of samples" in result.stderr, result.stderr
	assert "counted exactly" not in done("report", "--functions", "a.cg", directory=tmp_path)


def test_gate_needs_all_resources_on_both_sides(tmp_path):
	text = "# callgrind format\ncreator: callgrind-3.19.0\nevents: {}\nfl=a.c\nfn=main\n1 1000 7\ntotals: 1000 7\n"
	(tmp_path / "two.cg").write_text(text.format("Ir Dr"))
	(tmp_path / "one.cg").write_text(text.format("Ir").replace(" 7\n", "\n"))
	for words in (["two.cg", "one.cg"], ["one.cg", "two.cg"]):
		result = run("diff", "--functions", "--fail-above", 0, *words, directory=tmp_path)
		assert result.returncode == 2 and "'one.cg' has no resource 'Dr'; it has Ir, and a gate compares all resources (-r chooses some)" in result.stderr, result.stderr
		assert "some resources were not compared: 'one.cg' has no resource 'Dr'" in run("diff", "--functions", *words, directory=tmp_path).stderr
		assert run("diff", "--functions", "-r", "Ir", "--fail-above", 0, *words, directory=tmp_path).returncode == 0


def test_recording_twice_on_a_side(tmp_path):
	"""A copy, a link or the file itself would look like a run without any difference."""
	a, b = recordings(tmp_path, "a", EQUAL[:2]), recordings(tmp_path, "b", SLOWER[:2])
	(tmp_path / "copy.data").write_bytes((tmp_path / b[0]).read_bytes())
	(tmp_path / "link.data").symlink_to(b[0])
	for again in (b[0], "copy.data", "link.data"):
		result = run("diff", "--fail-above", 5, *a, "--", *b, again, directory=tmp_path)
		assert result.returncode == 2 and f"'{b[0]}' and '{again}' are the same recording, and a side needs independent ones" in result.stderr
	assert run("diff", *a, "--", *a, directory=tmp_path).returncode == 0


def test_equal_counts_of_other_tools_are_several_recordings(tmp_path):
	"""Deterministic counts are byte for byte equal in each run; one file is still one run."""
	for name in ("a1", "a2", "b1", "b2"):
		(tmp_path / name).write_text("# callgrind format\ncreator: callgrind-3.19.0\nevents: Ir\nfl=a.c\nfn=main\n1 1000\ntotals: 1000\n")
	assert "gate: no change" in done("diff", "--functions", "--fail-above", 0, "a1", "a2", "--", "b1", "b2", directory=tmp_path)
	(tmp_path / "link").symlink_to("b1")
	result = run("diff", "--functions", "--fail-above", 0, "a1", "a2", "--", "b1", "link", directory=tmp_path)
	assert result.returncode == 2 and "'b1' and 'link' are the same recording" in result.stderr


def test_selection_twice_on_a_side(tmp_path):
	for name, hits in (("a", 1000), ("b", 1010)):
		folded(tmp_path, f"{name}.data", f"main {hits}\n")
		done("store", "add", "--store", "s.db", "--host", name, f"{name}.data", directory=tmp_path)
	a, b = (f"sqlite://{tmp_path}/s.db?host={name}" for name in "ab")
	result = run("diff", "--functions", "--fail-above", 5, a, b, "--", b, b, directory=tmp_path)
	assert result.returncode == 2 and f"'{b}' and '{b}' are the same recording" in result.stderr, result.stderr


def test_gate_refuses_parts_of_recordings_in_a_store(tmp_path):
	"""The times of a selection cut a recording: none of its events is lost, and they do not depend on the machine."""
	for name, end in (("a", 100), ("b", 200)):
		(tmp_path / f"{name}.strace").write_text(f"9 1000.000001 read(3) = 0\n9 {1000 + end}.000001 read(3) = 0\n9 {1000 + end}.1 +++ exited with 0 +++\n")
		done("import", "-o", f"{name}.data", f"{name}.strace", directory=tmp_path)
		os.utime(tmp_path / f"{name}.data", (1_800_000_000,) * 2)
		done("store", "add", "--store", "s.db", "--host", name, f"{name}.data", directory=tmp_path)
	whole = [f"sqlite://{tmp_path}/s.db?host={name}" for name in "ab"]
	part = f"{whole[1]}&to=@1800000050"
	assert "gate: no change" in done("diff", "-r", "syscalls", "--functions", "--fail-above", 0, *whole, directory=tmp_path)
	result = run("diff", "-r", "syscalls", "--functions", "--fail-above", 0, whole[0], part, directory=tmp_path)
	assert result.returncode == 2 and f"'{part}' does not have the whole run (the selection has a part of the recording only)" in result.stderr, result.stderr


def test_gate_refuses_incomplete_recordings(tmp_path):
	"""The samples that a killed recorder did not write would pass as an improvement."""
	a, b = recordings(tmp_path, "a", EQUAL), recordings(tmp_path, "b", SLOWER)
	whole = (tmp_path / b[0]).read_bytes()
	(tmp_path / b[0]).write_bytes(whole[:-8])
	result = run("diff", "--fail-above", 5, *a, "--", *b, directory=tmp_path)
	assert result.returncode == 1 and f"'{b[0]}' is incomplete: a gate needs whole recordings (record again)" in result.stderr
	assert "gate: no change" not in result.stdout
	assert run("diff", *a, "--", *b, directory=tmp_path).returncode == 0


@pytest.mark.parametrize("percent", ["", "x", "5%%", "1.2.3", "1e3", "nan", "."])
def test_wrong_percent(profiles, percent):
	result = run("diff", f"--fail-above={percent}", "forms.data", "forms.data", directory=profiles)
	assert result.returncode == 2 and f"'{percent}' is not a change in percent (--fail-above 5, or 0.5)" in result.stderr


def test_exact_counts_as_a_gate(tmp_path):
	"""One call more is found, with a single recording of each side."""
	program = build("forms.c", "-finstrument-functions")
	for name, count in (("a", 100), ("same", 100), ("more", 101)):
		run("record", "--instrumented=counts", "-o", f"{name}.data", "--", program, count, directory=tmp_path)
	assert run("diff", "-r", "calls", "--fail-above", 0, "a.data", "same.data", directory=tmp_path).returncode == 0
	result = run("diff", "-r", "calls", "--fail-above", 0, "a.data", "more.data", directory=tmp_path)
	assert result.returncode == 3 and "\n  calls +1.0 % (" in result.stdout, result.stdout
	assert run("diff", "-r", "calls", "--fail-above", 2, "a.data", "more.data", directory=tmp_path).returncode == 0


ALLOCATIONS = ["-r", "allocs/1", "-r", "alloc-bytes/1"]


@pytest.mark.parametrize("way, flags", [(["--instrumented"], ["-finstrument-functions"]), (["--backend", "preload"], [])])
def test_allocations_as_a_gate(tmp_path, way, flags):
	"""One round more than 100 is 1 % more allocations and bytes. Single recordings that have every allocation are enough."""
	program = build("allocations.c", *flags)

	def recorded(name, rounds):
		"""Records until nothing was lost: a machine with load may keep the recorder from emptying its buffers."""
		for _ in range(5):
			result = run("record", *way, *ALLOCATIONS, "-o", f"{name}.data", "--", program, rounds, directory=tmp_path)
			assert result.returncode == 0, result.stderr
			if " 0 lost" in result.stderr:
				return
		pytest.skip("each of 5 recordings lost samples")

	for name, rounds in (("a", 100), ("same", 100), ("more", 101), ("more2", 101)):
		recorded(name, rounds)
	each = {"allocs": 9, "alloc-bytes": 100 + 3 * 40 + 500 + 70 + 48 + 8192 + 640 + 24 + 77}
	for resource, amount in each.items():
		words = ["diff", "-r", resource, "--format", "json"]
		same = valid_json(done(*words, "--fail-above", 0, "a.data", "same.data", directory=tmp_path))
		assert same["gate"] == {"limit": 0, "exceeds": False, "causes": []}
		result = run(*words, "--fail-above", 0, "a.data", "more.data", directory=tmp_path)
		assert result.returncode == 3, result.stderr
		causes = valid_json(result.stdout)["gate"]["causes"]
		assert all(cause["change"] == pytest.approx(0.01) for cause in causes if "heavy" in cause["path"] or "light" in cause["path"])
		assert {("heavy",), ("main", "light")} <= {tuple(cause["path"]) for cause in causes}
		below = [row for part in valid_json(result.stdout)["results"] for row in part["entries"] if row["path"] == ["heavy"]]
		assert [(row["gticks_a"], row["gticks_b"]) for row in below] == [(300 * amount, 303 * amount)]
		# The limit is on the change, and a program that allocates less passes.
		assert run(*words, "--fail-above", 2, "a.data", "more.data", directory=tmp_path).returncode == 0
		assert run(*words, "--fail-above", 0, "more.data", "a.data", directory=tmp_path).returncode == 0
		# Several recordings agree.
		result = run(*words, "--fail-above", 0, "a.data", "same.data", "--", "more.data", "more2.data", directory=tmp_path)
		assert result.returncode == 3 and all(cause["error"] < 1e-9 for cause in valid_json(result.stdout)["gate"]["causes"])


def test_sampled_allocations_are_no_exact_gate(tmp_path):
	program = build("allocations.c")
	for name in "ab":
		assert run("record", "--backend", "preload", "-r", "allocs/10", "-o", f"{name}.data", "--", program, 100, directory=tmp_path).returncode == 0
	result = run("diff", "-r", "allocs", "--fail-above", 5, "a.data", "b.data", directory=tmp_path)
	assert result.returncode == 2 and "resource 'allocs' is sampled, and single recordings do not show" in result.stderr


# Commands that leave a part of their run unrecorded: the recorder's pid is the command's $PPID.
PARTS = {
	"rm -f f g; mkfifo f g; sh -c 'echo $$ >g; read x <>f' </dev/null >/dev/null 2>&1 & read pid <g; echo $pid": "1 process that the command started still runs, unrecorded",
	"kill -INT $$": "signal 2 (Interrupt) interrupted the command",
	"rm -f f; mkfifo f; trap 'exit 0' INT; kill -INT $PPID; read x <>f": "signal 2 (Interrupt) interrupted the command",
	"kill -TERM $$": "signal 15 (Terminated) ended the command",
}


@pytest.mark.parametrize("script", PARTS)
def test_parts_of_runs_are_no_exact_gate(tmp_path, script):
	"""Every allocation of a part is recorded; how long the part was is chance."""
	for name in ("a.data", "b.data"):
		result = run("record", "--backend", "preload", "-r", "allocs/1", "-o", name, "--", "sh", "-c", script, directory=tmp_path)
		for pid in result.stdout.split():
			os.kill(int(pid), signal.SIGTERM)
	result = run("diff", "-r", "allocs", "--fail-above", 5, "a.data", "b.data", directory=tmp_path)
	assert (result.returncode, result.stdout) == (2, ""), result.stderr
	assert f"'a.data' does not have the whole run ({PARTS[script]}), and single recordings do not show how much" in result.stderr, result.stderr
	# Several recordings show it.
	for copy, name in (("a2.data", "a.data"), ("b2.data", "b.data")):
		done("merge", "-o", copy, name, directory=tmp_path)
	assert run("diff", "--body", "-r", "allocs", "--fail-above", 5, "a.data", "a2.data", "--", "b.data", "b2.data", directory=tmp_path).returncode == 0


def test_part_of_an_instrumented_run(tmp_path):
	program = build("forms.c", "-finstrument-functions")
	for name, script in (("whole", f"{program} 100"), ("part", f"{program} 101; kill -INT $$")):
		run("record", "--instrumented=counts", "-o", f"{name}.data", "--", "sh", "-c", script, directory=tmp_path)
	result = run("diff", "-r", "calls", "--fail-above", 0, "whole.data", "part.data", directory=tmp_path)
	assert result.returncode == 2 and "'part.data' does not have the whole run (signal 2 (Interrupt) interrupted the command)" in result.stderr, result.stderr
	# The amounts themselves are exact, and differ.
	assert "mark: * where the amount changes" in done("diff", "-r", "calls", "whole.data", "part.data", directory=tmp_path)


@needs_bpf
def test_windows_of_a_process_are_no_exact_gate(tmp_path):
	process = subprocess.Popen(["sh", "-c", "while :; do cd /; done"])
	try:
		for name in ("a.data", "b.data"):
			done("record", "-p", process.pid, "-r", "syscalls/1", "--duration", 0.2, "-o", name, directory=tmp_path)
	finally:
		process.kill()
		process.wait()
	result = run("diff", "-r", "syscalls", "--fail-above", 5, "a.data", "b.data", directory=tmp_path)
	assert result.returncode == 2 and "'a.data' does not have the whole run (the recording began after its processes)" in result.stderr, result.stderr


def test_times_are_no_exact_gate(tmp_path):
	"""strace counts calls, which the program alone decides on, and their times, which the machine decides on too."""
	for name, time in (("a", "0.000100"), ("b", "0.000200")):
		(tmp_path / f"{name}.strace").write_text(f"100.000001 read(3, \"\", 4096) = 0 <{time}>\n100.100000 +++ exited with 0 +++\n")
	result = run("diff", "-r", "syscall-time", "--fail-above", 5, "a.strace", "b.strace", directory=tmp_path)
	assert result.returncode == 2 and "resource 'syscall-time' depends on the machine too, and single recordings do not" in result.stderr, result.stderr
	assert "gate: no change" in done("diff", "-r", "syscalls", "--fail-above", 5, "a.strace", "b.strace", directory=tmp_path)


def test_times_of_probes_are_no_exact_gate(tmp_path):
	program = build("forms.c", "-finstrument-functions")
	for name in "ab":
		run("record", "--instrumented=paths-timed", "-o", f"{name}.data", "--", program, 100, directory=tmp_path)
	result = run("diff", "-r", "real", "--fail-above", 5, "a.data", "b.data", directory=tmp_path)
	assert result.returncode == 2 and "resource 'real' depends on the machine too, and single recordings do not" in result.stderr, result.stderr
	assert "gate: no change" in done("diff", "-r", "calls", "--fail-above", 5, "a.data", "b.data", directory=tmp_path)


def test_gate_in_json_and_csv(tmp_path):
	a, b = recordings(tmp_path, "a", EQUAL), recordings(tmp_path, "b", SLOWER)
	words = ["diff", "--body", "--fail-above", 10, *a, "--", *b, "--format"]
	result = run(*words[:4], "--format", "json", *words[4:-1], directory=tmp_path)
	document = valid_json(result.stdout)
	assert result.returncode == 3
	causes = document["gate"].pop("causes")
	assert document["gate"] == {"limit": 0.1, "exceeds": True}
	assert [(cause["profile"], cause["resource"], cause["path"]) for cause in causes] == [
		("Body Profile", "samples", ["parse"]), ("Body Profile", "samples", ["read"])]
	rows = {row["path"][0]: row for row in document["results"][0]["entries"]}
	for cause in causes:
		row = rows[cause["path"][0]]
		assert row["exceeds"] and cause["change"] == pytest.approx(row["change"] / row["gticks_a"])
		assert cause["error"] == pytest.approx(row["error"] / row["gticks_a"], rel=1e-4)
	assert not rows["store"]["exceeds"]
	result = run(*words[:4], "--format", "csv", *words[4:-1], directory=tmp_path)
	assert result.returncode == 3
	assert {row["path"]: row["exceeds"] for row in csv.DictReader(io.StringIO(result.stdout))} == {
		"parse": "true", "read": "true", "store": "false"}
	assert "gate" not in valid_json(done("diff", "--format", "json", *a, "--", *b, directory=tmp_path))


def test_markdown(tmp_path):
	for side, hits in (("a", 1000), ("b", 1300)):
		for index in range(3):
			folded(tmp_path, f"{side}-{index}.data", f"main;op`er|<b>*_x {hits + index}\nmain;store {20000 + index}\n")
	sides = ["a-0.data", "a-1.data", "a-2.data", "--", "b-0.data", "b-1.data", "b-2.data"]
	result = run("diff", "--body", "--markdown", "--fail-above", 20, *sides, directory=tmp_path)
	assert result.returncode == 3, result.stderr
	lines = result.stdout.splitlines()
	assert lines[0] == "### cpprof: 1 change above +20 %"
	assert lines[2:4] == ["| total | A | B | change |", "|---|---:|---:|---:|"]
	assert re.fullmatch(r"\| samples \| 21002 samples \| 21302 samples \| \+1\.4 % ±0\.0 % \|", lines[4]), lines[4]
	assert lines[6:10] == ["Body Profile, samples:", "", "| changed | A | B | change |", "|---|---:|---:|---:|"]
	assert re.fullmatch(r"\| `op'er\\\|<b>\*_x` \| 1001 samples \| 1301 samples \| \*\*\+30\.0 % ±\S+ %\*\* \|", lines[10]), lines[10]
	plain = done("diff", "--body", "--markdown", *sides, directory=tmp_path)
	assert plain.startswith("### cpprof: changes\n") and "**" not in plain
	result = run("diff", "--markdown", "--format", "json", *sides, directory=tmp_path)
	assert result.returncode == 2 and "--markdown cannot be combined with --format (give one of them)" in result.stderr


# --- how often it is right ---

TRIES, RIGHT = 20, 0.95
PART, CHANGE, RUNS = 0.1, 0.05, 5
RATE = 5000 # samples a second. With more, a sample takes as long as the work between two of them, and the shares vary more than by chance
STUDENT = 2.306 # the 97.5 % quantile of Student's distribution with the 8 degrees of freedom that RUNS recordings a side leave


def samples_needed():
	"""Returns the samples of a recording with which the change is found with the probability RIGHT. The share of the path has the relative
	standard error sqrt((1 - PART) / (PART n)) in n samples of a side, and the difference of two sides sqrt(2) times that. The change of the share
	has to be STUDENT errors for its mark, and as many more as a normal distribution exceeds with the probability RIGHT."""
	errors = STUDENT + statistics.NormalDist().inv_cdf(RIGHT)
	change = (1 + CHANGE) / (1 + PART * CHANGE) - 1
	return 2 * (1 - PART) / PART * (errors / change) ** 2 / RUNS


@needs_perf
@pytest.mark.measured("the shares of CPU time of equal and of changed builds")
def test_how_often_the_gate_is_right(tmp_path):
	"""A change of 5 % of a path that has 10 % of the time is found, and equal builds raise no alarm, in 19 of 20 tries. More wrong tries than
	permitted are due to chance with the probability FALSE_ALARM in all attempts of this test together."""
	rounds = 10000
	few = record(tmp_path, [build("planted.c"), str(rounds)], "-F", str(RATE))
	rounds = math.ceil(rounds * samples_needed() / few.closing()[0])
	command = [REPOSITORY / "bench/calibration.py", "gate", "--runs", TRIES, "--percent", round(100 * CHANGE), "--repeat", RUNS, "--rounds", rounds,
		"--gate-rate", RATE]
	result = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True, env={**os.environ, "CPPROF_BUILD": str(BUILD)})
	rows = {gate: tuple(map(int, counts)) for gate, *counts in re.findall(r"^\| (\w+) \| (\d+) \| (\d+) \| (\d+) \|$", result.stdout, re.MULTILINE)}
	wrong = most_by_chance(1 - RIGHT, TRIES, FALSE_ALARM ** (1 / ATTEMPTS))
	assert rows["shares"][0] == rows["amounts"][0] == TRIES, result.stdout
	between(rows["shares"][1], TRIES - wrong, None, result.stdout, what=f"changes found by shares in {TRIES} tries, {RIGHT * TRIES:g} expected")
	for gate, (_, _, alarms) in rows.items():
		between(alarms, None, wrong, result.stdout, what=f"alarms of equal builds by {gate} in {TRIES} tries, {(1 - RIGHT) * TRIES:g} expected")
