"""explore: the behaviour that the interactive loop shares with report."""
import subprocess

from cli_support import CPPROF, SECONDS_ALLOWED, run


def test_main_of_every_program_when_exploring(profiles):
	words = ("explore", "programs.data")
	result = subprocess.run([CPPROF, *words], input="resource cpu\nd main\nwhatif main=0.5\nd parse\n", cwd=profiles,
		capture_output=True, text=True, timeout=SECONDS_ALLOWED)
	assert "(main@sort) [120]" in result.stdout and "(main@pack) [80]" in result.stdout
	assert "0.5000" in result.stdout and "'parse' fits 2 functions" in result.stderr


def test_explore_chooses_processes_and_stitches(profiles):
	commands = ("resource page-faults\ncgroup system.slice\nprocess helper\nprocess 300\nprocess all\ndown worker\n"
		"stitch off\ndown worker\ncgroup nowhere\n")
	result = subprocess.run([CPPROF, "explore", "server.data"], input=commands, cwd=profiles, capture_output=True,
		text=True, timeout=SECONDS_ALLOWED)
	assert result.stdout.count("process: 2 of 3\n") == 2
	assert "process: 300 (server)\nprocess: all\n" in result.stdout
	assert result.stdout.count("(worker fill_table malloc) [13]") == 2
	assert "stitch: off\n" in result.stdout
	assert "no process in a control group 'nowhere'" in result.stderr and result.returncode == 1


def test_explore_shows_the_pages_that_report_does(profiles):
	"""explore prints the same pages as report, also after another report, which read the profile without touched addresses."""
	wanted = run("report", "--pages", "-r", "page-faults", "server.data", directory=profiles).stdout
	for before in ["", "functions\n"]:
		result = subprocess.run([CPPROF, "explore", "server.data"], input=f"resource page-faults\n{before}pages\n",
			cwd=profiles, capture_output=True, text=True, timeout=SECONDS_ALLOWED)
		assert result.returncode == 0 and result.stdout.endswith(wanted), result.stdout + result.stderr
	result = subprocess.run([CPPROF, "explore", "whole.data"], input="pages\n", cwd=profiles, capture_output=True,
		text=True, timeout=SECONDS_ALLOWED)
	assert result.returncode == 1 and "record with -r page-faults" in result.stderr
