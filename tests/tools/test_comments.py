"""The comments of all sources begin with their subject: it names the thing that acts or that is described (CONTRIBUTING.md, style)."""
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCES = ["*.[ch]", "*.hpp", "*.cpp", "*.S", "*.py", "*.mjs", "*.ts", "*.in", "meson.build", "tools", "src", "tests/cases"]
# The beginning of a comment, then a word that hides the subject. A question may begin so.
HIDDEN = re.compile(r'^\s*(?:/\*+|\*|//|#|""")\s+?(?:What|Who|Whose|Of|That of)\b(?![^.]*\?)|^\s*"""(?:What|Who|Whose|Of|That of)\b(?![^.]*\?)')


def hidden_subjects(text):
	return [line.strip() for line in text.splitlines() if HIDDEN.search(line)]


def test_a_hidden_subject_is_found():
	assert hidden_subjects("/* What is read. */\n\t# Of two, one.\n * Whose it is:\n\t\"\"\"Who asks.\"\"\"\n") and not hidden_subjects("/* Who calls it? */\n")


def test_comments_begin_with_their_subject():
	files = subprocess.run(["git", "ls-files", "--", *SOURCES], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
	assert len(files) > 500
	found = {}
	for name in files:
		try:
			lines = hidden_subjects((ROOT / name).read_text(encoding="utf-8"))
		except UnicodeDecodeError:
			continue
		if lines and name != "tests/tools/test_comments.py":
			found[name] = lines
	assert not found
