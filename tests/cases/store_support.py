"""Helpers for the tests of stores."""
import re
import sys
from pathlib import Path

from cli_support import done

sys.path.insert(0, str(Path(__file__).parents[1] / "decoder"))

from rows import HITS, TOUCHES, block_of, rows_of  # noqa: E402, F401


def names(profiles):
	return sorted(path.name for path in profiles.glob("*.data"))


def add(profiles, store, *files, **options):
	words = [word for key, value in options.items() for word in (f"--{key}", value)]
	return done("store", "add", "--store", store, *words, *files, directory=profiles)


def large_recording(folder):
	source, data = folder / "large.folded", folder / "large.data"
	source.write_text("".join(f"main;f{index % 5000};g{index} {index + 1}\n" for index in range(60000)))
	done("import", "--format", "folded", "-o", data, source)
	return data


def without_suffixes(text):
	"""A function gets the suffix @MODULE if another one has its name. Functions without hits are not in a store."""
	return re.sub(r"finish;all@sort", "finish;all", text)
