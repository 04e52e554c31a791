"""Programs of other projects whose call paths `cpprof contextualize` changes, for the long tests and for `bench/run contextualize`."""
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

REPOSITORY = Path(__file__).resolve().parents[2]
WORK = REPOSITORY / "bench/work"
LUA = ("local t = {} for i = 1, 200000 do t[i] = (i * 7919) % 1000003 end table.sort(t) local s = {}\n"
	"for i = 1, 50000 do s[i] = string.format('%d:%s', t[i], ('x'):rep(i % 7)) end print(#table.concat(s), t[1], t[#t])\n"
	"local n = 0 for w in table.concat(s, ' '):gmatch('%d+') do n = n + #w end print(n)\n"
	"table.sort(s, function(a, b) return a > b end) print(s[1], s[#s])\n")
SQL = ("create table t(a integer primary key, b text, c integer);\n"
	"with recursive s(i, x) as (select 1, 12345 union all select i + 1, (x * 1103515245 + 12345) % 2147483648 from s where i < 150000)\n"
	"insert into t select i, hex(x), x % 1000 from s;\ncreate index ti on t(c, b);\n"
	"select count(*), sum(length(b)) from (select b from t order by b);\nselect c, count(*), min(b), group_concat(a % 7) from t where c < 9 group by c order by 2, 1;\n"
	"select count(*) from t x join t y on x.c = y.c where x.a < 400;\nupdate t set b = b || 'x' where c % 3 = 0;\ndelete from t where c % 5 = 1;\n"
	"select sum(length(b)), max(b), count(distinct c) from t where b like '%A%';\npragma integrity_check;\n")


@dataclass
class Program:
	"""A program: its source package, how its folder is made, and workloads: shell commands, whose output must not depend on the copies."""
	package: str
	prepare: Callable
	flags: list
	workloads: list # {program} is its path; the first one is recorded
	libraries: list = field(default_factory=list)
	includes: list = field(default_factory=list) # folders, for the compiler
	level: str = "-O1" # with which the tests build it: a large file needs less time without optimization

	def source(self):
		return next(path for path in sorted((WORK / "src").glob(f"{self.package}-[0-9]*")) if path.is_dir())

	def fetch(self):
		"""Returns whether the sources exist."""
		return subprocess.run(["bench/setup", "source", self.package], cwd=REPOSITORY, capture_output=True, check=False).returncode == 0


def prepare_lua(folder, source):
	archive = next(source.parent.glob("lua5.4_*.orig.tar.gz"))
	subprocess.run(["tar", "xf", archive, "-C", folder, "--strip-components=2", "--wildcards", "*/src/*.[ch]"], check=True)
	(folder / "luac.c").unlink()
	(folder / "work.lua").write_text(LUA)


def prepare_sqlite3(folder, source):
	made = WORK / "build-sqlite3"
	if not (made / "shell.c").exists():
		made.mkdir(parents=True, exist_ok=True)
		subprocess.run(["sh", "-c", f"{source}/configure --disable-tcl --disable-readline --disable-shared && make sqlite3.c shell.c sqlite3.h"], cwd=made, check=True,
			capture_output=True)
	for name in ("sqlite3.c", "sqlite3.h", "shell.c"):
		shutil.copy(made / name, folder)
	(folder / "work.sql").write_text(SQL)
	shutil.copy(REPOSITORY / "bench/programs/source.sql", folder)


def prepare_zstd(folder, source):
	for name in ("lib/common", "lib/compress", "lib/decompress", "lib/dictBuilder", "programs"):
		shutil.copytree(source / name, folder / name)
	for name in ("zstd.h", "zdict.h", "zstd_errors.h"):
		shutil.copy(source / "lib" / name, folder / "lib")
	texts = sorted((source / "lib/compress").glob("*.c")) + sorted((source / "doc").glob("*.md"))
	(folder / "input").write_bytes(b"".join(path.read_bytes() for path in texts) * 12)


def prepare_halibut(folder, source):
	tools = ["confuse.c", "convcs.c", "csshow.c", "cstable.c"] # programs of their own
	for path in [*source.glob("*.[ch]"), *(path for path in source.glob("charset/*.[ch]") if path.name not in tools)]:
		(folder / path.relative_to(source)).parent.mkdir(exist_ok=True)
		shutil.copy(path, folder / path.relative_to(source))
	subprocess.run(["perl", "sbcsgen.pl", "sbcs.dat", f"--source={folder}/charset/sbcsdat.c", f"--header={folder}/charset/sbcsdat.h"], cwd=source / "charset", check=True)
	text = (source / "doc/output.but").read_text() + "\n"
	# Chapters of other names, because each keyword can be defined once.
	(folder / "work.but").write_text("\\title Work\n\n" + "".join(
		text.replace("\\C{", f"\\C{{n{i}-").replace("\\H{", f"\\H{{n{i}-").replace("\\S{", f"\\S{{n{i}-").replace("\\k{", f"\\k{{n{i}-").replace("\\K{", f"\\K{{n{i}-")
		for i in range(8)))


PROGRAMS_OF_OTHERS = {
	"lua": Program("lua5.4", prepare_lua, ["-DLUA_USE_LINUX"], ["{program} work.lua"], ["-Wl,-E", "-lm", "-ldl"]),
	"sqlite3": Program("sqlite3", prepare_sqlite3, ["-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION"],
		["{program} :memory: '.read work.sql'", "{program} :memory: '.read source.sql'"], ["-lm"], level="-O0"),
	"zstd": Program("libzstd", prepare_zstd, ["-DZSTD_DISABLE_ASM=1", "-DDEBUGLEVEL=0", "-DBACKTRACE_ENABLE=0"],
		["{program} -q -3 -c input >three && {program} -q -9 -c input >nine && {program} -q -dc three nine >/dev/null && cksum three nine",
			"{program} -q -1 -c input | {program} -q -dc | cmp - input", "{program} -q -13 -c input | cksum"], includes=["lib", "lib/common", "programs"]),
	"halibut": Program("halibut", prepare_halibut, [], ["{program} --text=work.txt --html=work.html --man=work.1 --pdf=work.pdf work.but 2>&1; cksum work.txt work.html work.1 work.pdf"],
		["-lm"], includes=[".", "charset"]),
}


class Project:
	"""A folder with the sources of a program; `build` compiles what has changed."""

	def __init__(self, name, folder):
		self.program = PROGRAMS_OF_OTHERS[name]
		self.folder = Path(folder)
		self.folder.mkdir()
		self.program.prepare(self.folder, self.program.source())
		self.texts = {path: path.read_bytes() for path in sorted(self.folder.rglob("*.[ch]"))}
		self.names = sorted(str(path.relative_to(self.folder)) for path in self.texts if path.suffix == ".c")
		self.flags = [*self.program.flags, *(f"-I{self.folder / name}" for name in self.program.includes)]
		self.built = {} # {name: the texts with which its object was compiled}

	def restore(self):
		"""Undoes all patches."""
		for path, text in self.texts.items():
			if path.read_bytes() != text:
				path.write_bytes(text)

	def build(self, *flags, compiler="gcc"):
		"""Returns the program's path."""
		headers = tuple(path.read_bytes() for path in self.texts if path.suffix == ".h")
		objects = []
		for name in self.names:
			path = self.folder / name
			key = (path.read_bytes(), headers, flags, compiler)
			objects.append(path.with_suffix(".o"))
			if self.built.get(name) != key:
				subprocess.run([compiler, "-g", "-w", *flags, *self.flags, "-c", "-o", objects[-1], path], check=True, cwd=self.folder)
				self.built[name] = key
		subprocess.run([compiler, "-g", "-o", self.folder / "program", *objects, *self.program.libraries], check=True, cwd=self.folder)
		return self.folder / "program"

	def command(self, workload):
		return ["sh", "-c", workload.replace("{program}", "./program")]

	def outputs(self):
		"""Returns (status, output) of each workload."""
		results = [subprocess.run(self.command(workload), cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, check=False) for workload in self.program.workloads]
		return [(result.returncode, result.stdout) for result in results]
