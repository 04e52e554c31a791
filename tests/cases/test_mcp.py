"""`cpprof mcp`, by a client written from the specification of the Model Context Protocol (2025-11-25) and JSON-RPC 2.0."""
import json
import random
import resource
import shutil
import subprocess

import jsonschema
import pytest
from cli_support import CPPROF, done
from json_support import valid_json

SECONDS_ALLOWED = 120


class Client:
	"""Sends requests one after the other. Every message is one line."""

	def __init__(self, folder, **options):
		self.server = subprocess.Popen([CPPROF, "mcp"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
		self.next = 0

	def send(self, line):
		self.server.stdin.write(line if isinstance(line, bytes) else json.dumps(line).encode())
		self.server.stdin.write(b"\n")
		self.server.stdin.flush()

	def receive(self):
		answer = json.loads(self.server.stdout.readline())
		assert answer["jsonrpc"] == "2.0" and ("result" in answer) != ("error" in answer), answer
		return answer

	def request(self, method, **params):
		self.next += 1
		self.send({"jsonrpc": "2.0", "id": self.next, "method": method, **({"params": params} if params else {})})
		answer = self.receive()
		assert answer["id"] == self.next
		return answer

	def call(self, name, **arguments):
		return self.request("tools/call", name=name, arguments=arguments)["result"]

	def document(self, name, **arguments):
		"""The JSON of a call that succeeds."""
		result = self.call(name, **arguments)
		assert not result["isError"], result
		return valid_json(result["content"][0]["text"])

	def refused(self, name, **arguments):
		"""The text of a call that fails."""
		result = self.call(name, **arguments)
		assert result["isError"] and len(result["content"]) == 1, result
		return result["content"][0]["text"]

	def end(self):
		out, err = self.server.communicate(timeout=SECONDS_ALLOWED)
		assert (self.server.returncode, out, err) == (0, b"", b"")


@pytest.fixture
def client(profiles):
	client = Client(profiles)
	yield client
	client.end()


def test_initialization(client):
	for wanted, expected in (("2025-11-25", "2025-11-25"), ("2025-06-18", "2025-06-18"), ("2024-11-05", "2024-11-05"), ("1999-01-01", "2025-11-25")):
		result = client.request("initialize", protocolVersion=wanted, capabilities={}, clientInfo={"name": "test", "version": "1"})["result"]
		assert result["protocolVersion"] == expected and result["capabilities"] == {"tools": {}}
		assert result["serverInfo"]["name"] == "cpprof" and result["instructions"]
	client.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
	assert client.request("ping")["result"] == {}
	assert client.request("initialize")["error"]["code"] == -32602


def test_tools_follow_from_the_tables(client, profiles):
	tools = {tool["name"]: tool for tool in client.request("tools/list")["result"]["tools"]}
	reports = {"functions", "body", "down", "up", "tree", "inverted", "source", "lines", "asm", "pages", "call_graph", "modules", "processes", "process_tree", "threads",
		"by_label", "ranks", "groups", "path"}
	assert set(tools) == {"explain", "info", "diff", "whatif", *(f"report_{name}" for name in reports)}
	for tool in tools.values():
		jsonschema.Draft202012Validator.check_schema(tool["inputSchema"])
		assert tool["description"] and tool["annotations"]["readOnlyHint"] is True
		for name, row in tool["inputSchema"]["properties"].items():
			assert row["description"], (tool["name"], name)
	# The properties are the options that --help prints, without the options of the terminal.
	listed = {line.split("--")[1].split()[0].split("[")[0].split("=")[0] for line in done("explain", "--help", directory=profiles).splitlines()
		if line.startswith("  -") or line.strip().startswith("--")}
	properties = set(tools["explain"]["inputSchema"]["properties"])
	assert properties == listed - {"format", "memory", "help"} | {"file"}
	assert tools["report_down"]["inputSchema"]["required"] == ["function"] and tools["report_path"]["inputSchema"]["required"] == ["path"]
	assert tools["diff"]["inputSchema"]["required"] == ["a", "b"]
	assert "counts" in tools["report_source"]["inputSchema"]["properties"] and "counts" not in tools["report_down"]["inputSchema"]["properties"]
	assert client.request("tools/list", cursor="x")["error"]["code"] == -32602


def test_every_tool_prints_what_the_command_prints(client, profiles):
	def same(words, name, **arguments):
		assert client.document(name, **arguments) == json.loads(done(words[0], "--format", "json", *words[1:], directory=profiles)), name

	same(["explain", "--budget", "700", "whole.data"], "explain", file="whole.data", budget=700)
	same(["info", "whole.data"], "info", file="whole.data")
	same(["diff", "-r", "cpu", "whole.data", "lossy.data"], "diff", a=["whole.data"], b=["lossy.data"], resource="cpu")
	same(["diff", "whole.data", "lossy.data", "--", "whole.data"], "diff", a=["whole.data", "lossy.data"], b=["whole.data"])
	same(["whatif", "forms.data", "main;invoice=0.5"], "whatif", file="forms.data", terms=["main;invoice=0.5"])
	same(["report", "--down", "main", "-r", "cpu", "-r", "page-faults", "whole.data"], "report_down", file="whole.data", function="main",
		resource=["cpu", "page-faults"])
	same(["report", "--path", "main", "-r", "cpu", "whole.data"], "report_path", file="whole.data", path="main", resource="cpu")
	same(["report", "--tree", "--limit", "3", "--no-inlines", "whole.data"], "report_tree", file="whole.data", limit=3, **{"no-inlines": True})
	same(["report", "--tree", "whole.data"], "report_tree", file="whole.data", **{"no-inlines": False})
	same(["report", "--by-label=kind", "labels.data"], "report_by_label", file="labels.data", key="kind")
	same(["report", "--body", "--by-label=tenant", "-r", "cpu", "labels.data"], "report_body", file="labels.data", resource="cpu",
		**{"by-label": "tenant"})
	same(["report", "--source", "work", "-r", "cpu", "whole.data"], "report_source", file="whole.data", function="work", resource="cpu")


def test_default_file(tmp_path, profiles):
	shutil.copy(profiles / "whole.data", tmp_path / "cpprof.data")
	client = Client(tmp_path)
	assert client.document("info")["file"] == "cpprof.data"
	client.end()


def test_gate_is_an_answer_and_no_error(tmp_path, profiles):
	for name, hits in (("a", 1000), ("b", 2000)):
		for index in (1, 2, 3):
			(tmp_path / "stacks").write_text(f"main;parse {hits + index}\nmain;rest 9000\n")
			done("import", "--format", "folded", "-o", f"{name}{index}.data", "stacks", directory=tmp_path)
	client = Client(tmp_path)
	document = client.document("diff", a=["a1.data", "a2.data", "a3.data"], b=["b1.data", "b2.data", "b3.data"], **{"fail-above": 5, "path": "parse"})
	assert document["gate"]["exceeds"] is True
	client.end()


def test_messages_of_a_command_are_a_second_text(client):
	result = client.call("diff", a=["programs.data"], b=["program.data"])
	assert [content["type"] for content in result["content"]] == ["text", "text"]
	assert "some resources were not compared" in result["content"][1]["text"]


def test_wrong_arguments_are_results(client):
	assert "'absent.data'" in client.refused("explain", file="absent.data")
	assert client.refused("explain", file="whole.data", format="csv") == "explain has no argument 'format'"
	assert client.refused("report_body", file="whole.data", memory="0") == "report_body has no argument 'memory'"
	assert client.refused("report_down", file="whole.data") == "report_down needs the argument 'function'"
	assert client.refused("report_body", file="whole.data", raw="x") == "'raw' must be true or false"
	assert client.refused("report_body", file="whole.data", limit={}) == "'limit' must be a string or a number without a NUL"
	assert client.refused("diff", a="whole.data", b=["whole.data"]) == "'a' must be an array of strings"
	assert client.refused("info", file="") == client.refused("info", file="a\0b") == "'file' must be a string that is not empty and has no NUL"
	assert "limit 'x' is not a number of entries" in client.refused("report_body", file="whole.data", limit="x")
	# A value never becomes an option, nor a name.
	assert "--help" in client.refused("report_down", file="whole.data", function="--help")
	assert "'./--help'" in client.refused("info", file="--help")


def test_protocol_errors(client):
	assert client.request("tools/call", name="absent", arguments={})["error"]["code"] == -32602
	assert client.request("tools/call", name="info", arguments=[])["error"]["code"] == -32602
	assert client.request("tools/call")["error"]["code"] == -32602
	assert client.request("resources/list")["error"]["code"] == -32601
	for line, code in ((b"{", -32700), (b"nonsense", -32700), (b'"\xff"', -32700), (b'{"id": 1}', -32600), (b"[]", -32600), (b"1", -32600),
			(b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', -32600), (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600),
			(b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', -32600), (b'{"jsonrpc": "2.0", "id": 1, "method": 1}', -32600),
			(b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}', -32602), (b"[" * 100000, -32700),
			(b"[" + b"0," * 70000 + b"0]", -32600), (b'{"id": 1, "id": 2, "jsonrpc": "2.0", "method": "ping"}', -32700),
			(b'{"id": 1e999}', -32700), (b'{"id": 123456789012345678901234567890}', -32700), (b'{"a": "' + b"x" * (3 << 20) + b'"}', -32600)):
		client.send(line)
		assert client.receive()["error"]["code"] == code, line[:80]
	# The id comes back as it was sent; notifications, answers and empty lines have no answer.
	for line in (b"", b"  \t", b'{"jsonrpc": "2.0", "method": "tools/list"}', b'{"jsonrpc": "2.0", "id": 7, "result": {}}',
			b'{"jsonrpc": "2.0", "method": "unknown", "params": [1]}'):
		client.send(line)
	client.send(b'{"jsonrpc": "2.0", "id": "\\u00e4\\n", "method": "ping"}')
	assert client.receive()["id"] == "ä\n"


def test_last_line_without_an_end(profiles):
	result = subprocess.run([CPPROF, "mcp"], input=b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}', cwd=profiles, capture_output=True, check=True)
	assert json.loads(result.stdout) == {"jsonrpc": "2.0", "id": 1, "result": {}}


def test_files_outside_are_refused(tmp_path, profiles):
	folder = tmp_path / "inside"
	(folder / "below").mkdir(parents=True)
	for path in (tmp_path / "outside.data", folder / "a.data", folder / "below/b.data"):
		shutil.copy(profiles / "whole.data", path)
	(folder / "link.data").symlink_to("a.data")
	(folder / "out.data").symlink_to("../outside.data")
	(folder / "up").symlink_to("..")
	(folder / "same").symlink_to("below")
	client = Client(folder)
	for name in ("a.data", "./a.data", "below/b.data", "below//b.data"):
		assert client.document("info", file=name)["file"] == name
	for name in (str(folder / "a.data"), "../outside.data", "below/../a.data", "up/outside.data", "same/b.data", "link.data", "out.data", "/dev/null",
			"/proc/self/fd/0", "-", "below", "a.data/", ".", "..", "/", "x" * 300):
		assert "schema" not in client.refused("info", file=name), name
		assert client.refused("diff", a=[name], b=["a.data"])
	client.end()


def test_sources_outside_are_not_read(tmp_path):
	"""A profile names a file with secrets as its source, and a fifo as its program: no tool prints or opens them."""
	secret = tmp_path / "secret.c"
	secret.write_text("hidden words\n" * 50)
	folder = tmp_path / "inside"
	folder.mkdir()
	source = folder / "work.c"
	source.write_text(f'#line 1 "{secret}"\nstatic volatile unsigned long sum;\nint main(void) {{ for (long i = 0; i < 60000000; i++) sum += i; }}\n')
	subprocess.run(["gcc", "-O1", "-g", "-o", tmp_path / "work", source], check=True)
	done("record", "--backend", "preload", "-o", "a.data", tmp_path / "work", directory=folder)
	client = Client(folder)
	for name in ("explain", "report_lines"):
		assert "secret.c" in json.dumps(client.document(name, file="a.data"))
	results = [client.call(tool, file="a.data", **arguments) for tool, arguments in (("report_source", {"function": "main"}),
		("report_lines", {}), ("explain", {}), ("report_asm", {"function": "main"}))]
	assert "hidden" not in json.dumps(results)
	# The program is outside.
	assert "instructions" not in json.dumps(results[-1]) or results[-1]["isError"] or "Permission denied" in json.dumps(results[-1])
	client.end()


def test_answer_that_is_too_large(tmp_path):
	(tmp_path / "stacks").write_text("".join(f"main;{'f' * 200}{index} 1\n" for index in range(8000)))
	done("import", "--format", "folded", "-o", "cpprof.data", "stacks", directory=tmp_path)
	client = Client(tmp_path)
	assert client.refused("report_body", limit=0, threshold=0) == "the answer is larger than 1048576 bytes (a smaller limit, or a larger threshold)"
	assert len(client.document("report_body", limit=20, threshold=0)["results"][0]["entries"]) == 20
	client.end()


def test_call_without_descriptors(profiles):
	client = Client(profiles, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (4, 4)))
	assert client.refused("info", file="whole.data") == "cannot make a pipe: Too many open files"
	assert client.request("ping")["result"] == {}
	client.end()


def test_hostile_profile_ends_only_its_call(tmp_path, profiles):
	good = (profiles / "whole.data").read_bytes()
	rng = random.Random(7)
	client = Client(tmp_path)
	for _ in range(40):
		bad = bytearray(good)
		for _ in range(rng.choice([1, 5, 50])):
			bad[rng.randrange(len(bad))] = rng.randrange(256)
		(tmp_path / "cpprof.data").write_bytes(bad[:rng.randrange(len(bad))] if rng.random() < 0.5 else bad)
		assert client.request("tools/call", name="explain", arguments={})["result"]["content"]
	client.end()


def test_random_messages_never_end_the_server(client):
	"""Mutations of requests: each non-empty line that is no notification has one answer at most, and the server goes on."""
	rng = random.Random(11)
	seeds = [{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "info", "arguments": {"file": "forms.data"}}},
		{"jsonrpc": "2.0", "id": "x", "method": "initialize", "params": {"protocolVersion": "2025-06-18"}}, {"jsonrpc": "2.0", "method": "x"}]
	for index in range(150):
		line = bytearray(json.dumps(rng.choice(seeds)).encode())
		for _ in range(rng.randint(1, 8)):
			at = rng.randrange(len(line))
			line[at:at + rng.randint(0, 3)] = bytes(rng.choice(b'{}[]",:0\\u\xc3\xff\x00') for _ in range(rng.randint(0, 3)))
		client.send(bytes(line).replace(b"\n", b" "))
		client.send({"jsonrpc": "2.0", "id": f"after {index}", "method": "ping"})
		answer = json.loads(client.server.stdout.readline())
		if answer["id"] != f"after {index}":
			assert json.loads(client.server.stdout.readline())["id"] == f"after {index}"


def test_files_of_other_tools_are_confined(tmp_path):
	"""A file of another tool is opened as by the command line, but neither through a link nor from outside of the folder."""
	folder = tmp_path / "profiles"
	folder.mkdir()
	for path in (folder / "stacks.folded", tmp_path / "outside.folded"):
		path.write_text("main;parse 3\nmain 1\n")
	(folder / "link.folded").symlink_to(tmp_path / "outside.folded")
	client = Client(folder)
	assert client.document("info", file="stacks.folded")["samples"] == 4
	for name in ("link.folded", "../outside.folded", str(tmp_path / "outside.folded")):
		assert "cannot read" in client.refused("info", file=name), name
	client.end()
