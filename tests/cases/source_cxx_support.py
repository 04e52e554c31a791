"""Helpers of the tests of C++ constructs. Programs state in their comments what they print and how often each function is called.
Names of functions are shortened to the part on which compilers agree.

    // standards: 20 23             default: all
    // options: -Wno-vla            for the compiler
    // counts: Stack::push 12       functions without a statement are not called, or not instrumented
    // counts if 17: lambda 42      ... from C++17 on
    // prints: 42                   its output, line by line
    // prints if 20: 47             ... from C++20 on, the whole output
    // skipped: task coroutine      the reason in the instrumenter's report why it skipped the function
"""
import json
import re

from record_support import PROGRAMS, run_cpprof

FOLDER = PROGRAMS / "source/cxx"
STANDARDS = [11, 14, 17, 20, 23]
STATEMENT = re.compile(r"^// (standards|options|counts|prints|skipped)(?: if (\d+))?: ?(.*)$", re.MULTILINE)
OPERATORS = re.compile(r"operator ?(\(\)|<=>|<<=?|>>=?|->\*?|<=?|>=?)")


class Stated:
	"""The statements in a program's comments."""

	def __init__(self, path):
		self.path = path
		self.statements = [(what, int(since or 0), text) for what, since, text in STATEMENT.findall(path.read_text())]
		self.standards = [int(word) for word in " ".join(self.all("standards")).split()] or STANDARDS
		self.options = " ".join(self.all("options")).split()

	def all(self, what):
		return [text for kind, _, text in self.statements if kind == what]

	def counts(self, standard):
		"""Returns {function: calls} for a standard. The statement of the newest standard up to this one applies."""
		found = {}
		for what, since, text in sorted(self.statements, key=lambda statement: statement[1]):
			if what == "counts" and since <= standard:
				name, count = text.rsplit(maxsplit=1)
				found[name] = int(count)
		return {name: count for name, count in found.items() if count}

	def skipped(self, standard):
		return [text for what, since, text in self.statements if what == "skipped" and since <= standard]

	def prints(self, standard):
		newest = max((since for what, since, _ in self.statements if what == "prints" and since <= standard), default=0)
		return [text for what, since, text in self.statements if what == "prints" and since == newest]


def without_pairs(text, opening, closing):
	"""Returns the text without the brackets and their contents."""
	kept, depth = "", 0
	for byte in text:
		depth += byte == opening
		if depth == 0:
			kept += byte
		depth -= byte == closing and depth > 0
	return kept


def short_name(name):
	"""Returns `ns::C::f` for `int ns::C<int>::f<long>(int) const`, and "lambda" for every lambda, which compilers name
	differently."""
	name = re.sub(r"\{lambda(?:\([^{}]*\)#\d+)?\}|\$_\d+", "{}", name).replace("(anonymous namespace)::", "")
	operators = []
	def hide(match):
		operators.append(match.group(1))
		return f"operator@{len(operators) - 1}@"
	name = OPERATORS.sub(hide, name)
	name = without_pairs(without_pairs(name, "<", ">"), "(", ")")
	name = re.sub(r"( const| volatile| &&?)+(?=$|::)", "", name.strip())
	first = name.find("operator")
	name = name[name.rfind(" ", 0, first if first >= 0 else len(name)) + 1:]
	if "{}" in name:
		return "lambda"
	return re.sub(r"@(\d+)@", lambda match: operators[int(match.group(1))], name).replace('""_', '"" _')


def counted(path):
	"""Returns {short name: calls} of a profile."""
	result = run_cpprof("report", "--body", "-r", "calls", "--no-inlines", "--untrimmed", "-n", 0, "-t", 0, "--format", "json", path)
	assert result.returncode == 0, result.stderr
	found = {}
	for entry in json.loads(result.stdout)["results"][0]["entries"]:
		name = short_name(entry["path"][-1])
		found[name] = found.get(name, 0) + entry["hits"]
	return found
