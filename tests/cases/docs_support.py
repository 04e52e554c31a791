"""Reads the commands of a document, and compares their output with the output that the document shows.

A command is a line of an indented block that begins with `$ `, or a cell of a table that is one inline code `cpprof ...`; in a column
`command` each cell begins with one, and a text may follow. Commands that need a screen get one, and the key that ends them. The lines
below a command, up to the next one, are its output; a line `...` stands for any lines, and a command without such lines may print
anything. Comments (which a reader of the formatted document does not see) direct the execution of the block that follows them:

    <!-- setup: COMMAND -->          runs before the block; a text of several lines is a script
    <!-- file: NAME, after OTHER --> the block is a file of this name; `after OTHER` puts the text of another file before it
    <!-- needs: WORD, WORD -->       the block is left out where the machine lacks one of them: `root`, `bpf`, `perf`, or a program
    <!-- not executed: REASON -->    the block is never executed
"""
import dataclasses
import re
import textwrap

COMMENT = re.compile(r"<!-- *(setup|file|needs|not executed)(?::[ \n]*|\n)(.*?)\s*-->$", re.DOTALL)
CELL = re.compile(r"\|\s*`(cpprof [^`]*)`\s*(?=\|)")
CELL_OF_COLUMN = re.compile(r"\s*`(cpprof [^`]*)`")
SCREEN = re.compile(r"cpprof (browse|top)\b")
# Words that begin a command. A line of a block that begins with one needs the mark `$ `.
COMMAND_WORDS = re.compile(r"(cpprof|gcc|g\+\+|clang|cc|make|meson|ninja|sudo|git|apt-get|apt|dpkg|perf|docker|pkg-config|LD_PRELOAD=\S*|\./\S+) ")


@dataclasses.dataclass
class Step:
	kind: str  # "command", "screen" (a command that needs one), "setup" or "file"
	line: int
	text: str
	output: list | None = None  # the lines below a command; None: there are none
	needs: list = dataclasses.field(default_factory=list)
	unexecuted: str | None = None  # the reason
	name: str | None = None  # of a file
	after: str | None = None


def read_blocks(text):
	"""Yields (line number, marks, lines) for each indented block, and a text without marks for each table row: the row, or its cell in the
	column `command`. Marks are pairs (word, value)."""
	lines = text.splitlines()
	at, marks, column = 0, [], None
	while at < len(lines):
		line = lines[at]
		if line.startswith("<!--"):
			end = at
			while "-->" not in lines[end]:
				end += 1
			comment = COMMENT.fullmatch("\n".join(lines[at:end + 1]).rstrip())
			assert comment, f"line {at + 1}: cannot read this comment: {line}"
			marks.append(comment.groups())
			at = end + 1
		elif line.startswith("    ") and (at == 0 or not lines[at - 1] or lines[at - 1].endswith("-->")):
			end = at
			while end < len(lines) and (lines[end].startswith("    ") or not lines[end]):
				end += 1
			yield at + 1, marks, textwrap.dedent("\n".join(lines[at:end])).splitlines()
			at, marks = end, []
		else:
			assert not line or not marks, f"line {at + 1}: the comment before it needs an indented block"
			if line.startswith("|"):
				is_first = at == 0 or not lines[at - 1].startswith("|")
				column = column_of(line) if is_first else column
				yield at + 1, [], line if is_first or column is None else cell_of(line, column)
			at += 1
	assert not marks, "the last comment needs an indented block"


def column_of(head):
	"""Returns which column of a table has the head `command`, or None."""
	heads = [cell.strip() for cell in head.split("|")]
	return heads.index("command") if "command" in heads else None


def cell_of(row, column):
	return re.split(r"(?<!\\)\|", row)[column]


def steps_of(text):
	"""Returns the steps of a document, in order."""
	steps = []
	for number, marks, block in read_blocks(text):
		if isinstance(block, str):
			steps += commands_of_row(number, block)
			continue
		named = dict(marks)
		needs = [word.strip() for word in named.get("needs", "").split(",") if word.strip()]
		steps += [Step("setup", number, value, needs=needs) for word, value in marks if word == "setup"]
		if "file" in named:
			name, _, after = named["file"].partition(", after ")
			steps.append(Step("file", number, "\n".join(block).rstrip() + "\n", name=name, after=after or None))
			continue
		steps += commands_of(number, block, needs, named.get("not executed"))
	return steps


def commands_of_row(number, text):
	"""The commands of a row of a table, or of its cell in the column `command`."""
	commands = CELL.findall(text)
	if not text.startswith("|") and not re.fullmatch(r"[-: ]+", text):
		found = CELL_OF_COLUMN.match(text)
		assert found, f"line {number}: this cell does not begin with a command: {text}"
		commands = [found[1]]
	return [Step("screen" if SCREEN.match(command) else "command", number, command.replace("\\|", "|")) for command in commands]


def commands_of(number, block, needs, unexecuted):
	commands = []
	for offset, line in enumerate(block):
		if line.startswith("$ "):
			commands.append(Step("command", number + offset, line[2:], None, needs, unexecuted))
		elif commands:
			if line:
				commands[-1].output = [*(commands[-1].output or []), line]
		else:
			assert not COMMAND_WORDS.match(line), f"line {number + offset}: this command lacks `$ `: {line}"
	return commands


# Patterns of text that differs between runs or machines: {pattern: what stands for it}.
VARIABLE = {
	r", by (bpf|perf|preload)\b.*": "",
	r"(, [\d.]+ % (whole|partly guessed|broken)( \([\d,]+ completed\))?)+": "",
	r"\b__((?:str|mem)[a-z]+)_[a-z0-9_]+": r"\1",  # a function of libc in the variant for one processor
	r" \([\d.]+ times less\)$": "",  # there is none if nothing is left
	r"0x[0-9a-f]+": "#",
	r"(?<![\w.])[-+]?\d[\d,.]*\d?( (ns|us|ms|s|bytes?|[KM]i?B)\b)?": "#",
	r"^\* ": "",  # the mark of a significant change
	r"\s+": " ",
}


def shape(line):
	"""Returns the line without what is variable. Lines with the same shape are equal."""
	for pattern, stand_in in VARIABLE.items():
		line = re.sub(pattern, stand_in, line)
	return line.strip()


def output_difference(shown, printed):
	"""Returns how the printed lines differ from those that a document shows, or None. The order of lines may differ: it depends on figures."""
	is_part = any(line.startswith("...") for line in shown)
	remaining = [shape(line) for line in printed if line.strip()]
	for line in shown:
		if line.startswith("..."):
			continue
		if shape(line) not in remaining:
			return f"no line has the shape of this one: {line}"
		remaining.remove(shape(line))
	surplus = [] if is_part else [line for line in remaining if not line.startswith("...")]
	return f"the document does not show: {surplus[0]}" if surplus else None
