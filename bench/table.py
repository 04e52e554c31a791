"""The rows as they are measured: printed at once, written as Markdown and as JSON in the end."""
import datetime
import json
import os
import platform
import re
import subprocess
from pathlib import Path


class Table:
	def __init__(self):
		self.rows = []

	def add(self, what, program, cpprof, perf="", target="", good=None):
		"""`good`: whether the target is reached; None: there is none."""
		verdict = "-" if good is None else "yes" if good else "**no**"
		self.rows.append((what, program, cpprof, perf, target, verdict))
		print(f"{what:34} {program:18} {cpprof:>30}   {perf:<52} {target:12} {verdict}", flush=True)

	def write_json(self, path):
		names = ("what", "program", "cpprof", "perf", "to reach", "reached")
		path.write_text(json.dumps([dict(zip(names, row)) for row in self.rows], indent=1) + "\n", encoding="utf-8")

	def write_markdown(self, path, cpprof, how):
		kernel = ".".join(platform.release().split(".")[:2])
		lines = [
			"# Measured", "",
			f"{datetime.date.today()}, Linux {kernel}, {os.cpu_count()} processors ({processor()}), "
			f"{said_by(cpprof, '--version')}, {said_by('perf', '--version')}; {how} Made by `make bench`; "
			"bench/README.md says how to read it.", "",
			"| what | program | cpprof | perf record | to reach | reached |", "|---|---|---|---|---|---|",
		]
		lines += ["| " + " | ".join(row) + " |" for row in self.rows]
		path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def said_by(*command):
	return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def processor():
	found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
	return found.group(1) if found else platform.machine()
