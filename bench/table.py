"""The rows of results: printed as soon as they are measured, and written as Markdown and JSON at the end."""
import datetime
import json
import os
import platform
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Section:
	heading: str
	peers: str # the heading of the column with the compared tools
	rows: list = field(default_factory=list)
	how: str = "" # how it was measured, as a sentence


class Table:
	def __init__(self):
		self.sections = []

	def begin(self, heading, peers):
		self.sections.append(Section(heading, peers))
		print(f"\n--- {heading} ---", flush=True)

	def end(self, how):
		self.sections[-1].how = how

	def add(self, what, program, cpprof, peers="", target="", good=None):
		"""Adds and prints a row. `good`: whether the target is reached, or None if the row has no target."""
		verdict = "-" if good is None else "yes" if good else "**no**"
		self.sections[-1].rows.append((what, program, cpprof, peers, target, verdict))
		print(f"{what:34} {program:18} {cpprof:>30}   {peers:<52} {target:12} {verdict}", flush=True)

	def write_json(self, path):
		names = ("what", "program", "cpprof", "others", "to reach", "reached")
		rows = [{"part": section.heading, **dict(zip(names, row))} for section in self.sections for row in section.rows]
		path.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")

	def write_markdown(self, path, cpprof, headings):
		"""Writes the file. `headings`: of all sections, in order. A section that was not measured keeps its text in the file."""
		texts = sections_of(path) | {section.heading: text_of(section, cpprof) for section in self.sections}
		text = ["# Measured\n\nMade by `make bench`; bench/README.md says how to read it.\n"]
		text += [f"## {heading}\n\n{texts[heading]}\n" for heading in headings if heading in texts]
		path.write_text("\n".join(text), encoding="utf-8")


def sections_of(path):
	"""Returns {heading: text} of the existing file."""
	if not path.exists():
		return {}
	parts = re.split(r"^## (.*)\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
	return {heading: text.strip() for heading, text in zip(parts[1::2], parts[2::2])}


def text_of(section, cpprof):
	kernel = ".".join(platform.release().split(".")[:2])
	lines = [
		f"{datetime.date.today()}, Linux {kernel}, {os.cpu_count()} processors ({processor()}), "
		f"{said_by(cpprof, '--version')}, {said_by('perf', '--version')}; {section.how}", "",
		f"| what | program | cpprof | {section.peers} | to reach | reached |", "|---|---|---|---|---|---|",
	]
	return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in section.rows])


def said_by(*command):
	return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def processor():
	found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
	return found.group(1) if found else platform.machine()
