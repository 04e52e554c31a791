"""
The languages whose programs of known shares stand beside this file: how each is built and run, and the names that its
functions have in profiles. tests/cases/test_languages.py and bench/languages.py use the rows.

Each program calls one routine, `work`, 5 times below `direct`, 3 times below the recursion `descend` and 2 times below
`through_c`, where C code calls the program back (except in Erlang, which has no such calls), and prints these shares.
"""
import hashlib
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
PERF_MAP = str(HERE.parents[2] / "src/frames/jit/perf-map.lisp")
SHARES = [(("direct", "work"), 0.5), (("descend", "work"), 0.3), (("through_c", "work"), 0.2)]
RECURSIONS = 9 # of `descend` on its path


@dataclass(frozen=True)
class Language:
	name: str
	packages: str # Debian's, without their dependencies
	version: tuple # command that prints the version
	sources: tuple # files of this folder
	build: tuple # command, in a folder that has the sources; (): none
	run: tuple # command, in the same folder; the number of rounds follows
	frame: str # regular expression of its functions' names in profiles; its group is the name in the source
	flags: str = "" # the part of `build` or `run` without which names or callers are missing


LANGUAGES = [
	Language("Rust", "rustc", ("rustc", "--version"), ("shares.rs",), ("rustc", "-O", "-g", "shares.rs"), ("./shares",), r"shares::(\w+)"),
	Language("Go", "golang-go", ("go", "version"), ("shares.go",), ("go", "build", "shares.go"), ("./shares",), r"main\.(\w+)"),
	Language("OCaml", "ocaml-nox", ("ocamlopt", "-version"), ("shares.ml", "sort_pair.c"),
		("ocamlopt", "-g", "-o", "shares", "shares.ml", "sort_pair.c"), ("./shares",), r"camlShares__(\w+)_\d+"),
	Language("Common Lisp (SBCL)", "sbcl", ("sbcl", "--version"), ("shares.lisp",), (),
		("sbcl", "--noinform", "--non-interactive", "--load", PERF_MAP, "--load", "shares.lisp", "--eval", "(shares::main)",
			"--end-toplevel-options"), r"SHARES::(\S+)", "--load perf-map.lisp"),
	Language("Haskell (GHC)", "ghc", ("ghc", "--version"), ("shares.hs",), ("ghc", "-v0", "-O1", "-g", "-o", "shares", "shares.hs"),
		("./shares",), r"Main_(?:zdw)?(\w+?)_info", "-g"),
	Language("Erlang", "erlang-nox", ("erl", "-noshell", "-eval", 'io:put_chars(erlang:system_info(otp_release)),halt().'), ("shares.erl",),
		("erlc", "shares.erl"), ("erl", "+JPperf", "true", "-noshell", "-run", "shares", "main"), r"\$?shares:'?-?(\w+)/.*", "+JPperf true"),
	Language("LuaJIT", "luajit", ("luajit", "-v"), ("shares.lua",), (), ("luajit", "shares.lua"), r"(\w+)"),
	Language("PHP", "php8.2-cli php8.2-opcache", ("php", "--version"), ("shares.php",), (),
		# opcache does not compile a file that is younger than 2 s, unless told to.
		("php", "-d", "opcache.enable_cli=1", "-d", "opcache.file_update_protection=0", "-d", "opcache.jit_buffer_size=64M", "-d", "opcache.jit=tracing", "-d", "opcache.jit_debug=16",
			"shares.php"), r"TRACE-\d+\$(\w+)\$.*", "opcache.jit_debug=16"),
	Language("JavaScript (Node)", "nodejs", ("node", "--version"), ("shares.js",), (),
		("node", "--perf-basic-prof", "--interpreted-frames-native-stack", "shares.js"), r"(\w+)",
		"--perf-basic-prof --interpreted-frames-native-stack"),
	Language("Java (OpenJDK)", "openjdk-17-jdk-headless", ("java", "--version"), ("Shares.java",), ("javac", "Shares.java"),
		("java", "-XX:+PreserveFramePointer", "-XX:+UnlockDiagnosticVMOptions", "-XX:+DumpPerfMapAtExit",
			"-Dsun.reflect.inflationThreshold=2147483647", "Shares"), r"\w+ Shares\.(\w+)\(.*\)",
		"-XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit"),
]


def language(name):
	return next(row for row in LANGUAGES if row.name.startswith(name))


def missing_tool(row):
	"""Returns the first command that the language needs and that is not installed, or None."""
	needed = [row.version[0], *row.build[:1], *(command for command in row.run[:1] if not command.startswith("./"))]
	return next((command for command in needed if not shutil.which(command)), None)


def version(row):
	result = subprocess.run(row.version, capture_output=True, text=True, check=True)
	return re.search(r"\d+(?:\.\d+)*", result.stdout + result.stderr)[0]


def build(row, folder):
	"""Builds the program below `folder`, once for each text of its sources. Returns the folder in which its command runs."""
	key = hashlib.sha256(repr(row).encode())
	for source in row.sources:
		key.update((HERE / source).read_bytes())
	output = Path(folder) / key.hexdigest()[:16]
	if output.exists():
		return output
	partial = output.with_name(f"{output.name}.{os.getpid()}")
	partial.mkdir(parents=True, exist_ok=True)
	for source in row.sources:
		shutil.copy(HERE / source, partial)
	if row.build:
		settings = {"GOCACHE": str(Path(folder) / "go-cache"), "GO111MODULE": "off", "CGO_ENABLED": "1"}
		subprocess.run(row.build, cwd=partial, check=True, env={**os.environ, **settings})
	try:
		partial.rename(output)
	except OSError: # another process has built it meanwhile
		shutil.rmtree(partial)
	return output


def plain_name(row, frame):
	"""Returns the name that the program's source gives to a function of the profile, or the name of the profile for other functions."""
	found = re.fullmatch(row.frame, frame)
	return found[1].replace("-", "_").lower() if found else frame


def in_source_words(row, paths):
	"""Returns {path: hits} with the functions' names as the source writes them."""
	renamed = {}
	for path, count in paths.items():
		key = tuple(plain_name(row, frame) for frame in path)
		renamed[key] = renamed.get(key, 0) + count
	return renamed
