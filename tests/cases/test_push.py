"""`cpprof push`: each byte that a server gets; what happens where it fails."""
import email
import email.policy
import json
import os
import subprocess
import urllib.parse

import pytest
from cli_support import check_failure, done, run
from json_support import valid_json
from otlp_support import Otlp
from pprof_support import Pprof
from server_support import Server, timeouts

ALL = ["--threshold", "0", "--limit", "0", "--format", "json"]


def form(headers, body):
	"""{name: (type, bytes)} of a multipart form."""
	text = b"Content-Type: " + headers["Content-Type"].encode() + b"\r\n\r\n" + body
	message = email.message_from_bytes(text, policy=email.policy.HTTP)
	assert message.get_content_type() == "multipart/form-data" and not message.defects
	return {part.get_param("name", header="Content-Disposition"): (part.get_content_type(), part.get_payload(decode=True)) for part in message.iter_parts()}


def query(path):
	parts = urllib.parse.urlsplit(path)
	return parts.path, dict(urllib.parse.parse_qsl(parts.query, strict_parsing=True))


def test_pyroscope_gets_the_bytes_of_export(profiles):
	path = profiles / "whole.data"
	with Server() as server:
		sent = run("push", server.url, path)
	assert sent.returncode == 0 and sent.stdout == "", sent.stderr
	(target, headers, body), = server.requests
	folder, fields = query(target)
	info = valid_json(done("info", "--format", "json", path))
	assert folder == "/ingest" and set(fields) == {"name", "from", "until", "format", "spyName"}
	assert (fields["name"], fields["format"], fields["spyName"]) == ("demo", "pprof", "cpprof")
	assert int(fields["from"]) <= int(fields["until"]) <= int(fields["from"]) + 2
	assert headers["User-Agent"].startswith("cpprof/") and "Expect" not in headers
	parts = form(headers, body)
	exported = done("export", "--format", "pprof", path, text=False)
	assert parts["profile"] == ("application/octet-stream", exported)
	types = json.loads(parts["sample_type_config"][1])
	assert list(types) == [name for name, _ in Pprof(exported).types] == [resource["name"] for resource in info["resources"]]
	assert {name: row["units"] for name, row in types.items()} == dict(Pprof(exported).types)
	assert set(parts) == {"profile", "sample_type_config"}
	assert f"sent {len(exported)} bytes to {server.url}/ingest" in sent.stderr


def test_name_tags_headers_and_selection(profiles):
	path = profiles / "server.data"
	words = ["--name", "my shop&1", "--tag", "host=a7", "--tag", "zone=é", "--header", "X-Scope-OrgID: 7", "-r", "page-faults", "--to", "0.002"]
	with Server() as server:
		assert run("push", *words, f"{server.url}/", path).returncode == 0
	(target, headers, body), = server.requests
	folder, fields = query(target)
	assert (folder, fields["name"]) == ("/ingest", "my shop&1{host=a7,zone=é}")
	assert headers["X-Scope-OrgID"] == "7"
	profile = Pprof(form(headers, body)["profile"][1])
	assert [name for name, _ in profile.types] == ["page-faults"]
	assert profile.totals() == Pprof(done("export", "--format", "pprof", "-r", "page-faults", "--to", "0.002", path, text=False)).totals()


def test_only_the_first_line_of_an_answer_is_shown(profiles):
	with Server((400, {}, "\r\nbad \x1b[31mthing\nsecond")) as server:
		result = run("push", server.url, profiles / "forms.data")
	check_failure(result, "the server answered 400: bad ?[31mthing (after 1 attempt;")
	assert "second" not in result.stderr


def test_a_profile_without_a_start_has_the_time_of_its_file(tmp_path):
	"""forms.folded has no time; a store uses the time of the file, too."""
	path = tmp_path / "a.folded"
	path.write_text("main;parse 30\n")
	os.utime(path, (1_700_000_000, 1_700_000_000))
	with Server() as server:
		assert run("push", server.url, path).returncode == 0
		assert run("push", "--server", "otlp", server.url, path).returncode == 0
	(target, _, _), (_, _, body) = server.requests
	assert query(target)[1]["from"] == "1700000000" and query(target)[1]["until"] in ("1700000000", "1700000001")
	exported = done("export", "--format", "otlp", path, text=False)
	assert exported == body and (1_700_000_000 * 10**9).to_bytes(8, "little") in exported


def test_a_file_of_a_far_year_has_the_present_time(tmp_path):
	"""Its time is more than 2^63 ns after 1970."""
	path = tmp_path / "a.folded"
	path.write_text("main;parse 30\n")
	os.utime(path, (13_600_000_000,) * 2)
	with Server() as server:
		assert run("push", server.url, path).returncode == 0
	assert os.stat(tmp_path).st_ctime - 1 <= int(query(server.requests[0][0])[1]["from"]) < 4_000_000_000


def test_a_receiver_of_otlp_gets_the_bytes_of_export(profiles):
	path = profiles / "whole.data"
	with Server() as server:
		assert run("push", "--server", "otlp", server.url, path).returncode == 0
		assert run("push", "--server", "otlp", f"{server.url}/other/path?x=1", path).returncode == 0
	(first, headers, body), (second, _, again) = server.requests
	assert (first, second) == ("/v1development/profiles", "/other/path?x=1")
	assert headers["Content-Type"] == "application/x-protobuf"
	assert body == again == done("export", "--format", "otlp", path, text=False)
	for result in valid_json(done("report", "--functions", *ALL, path))["results"]:
		assert Otlp(body).total(result["resource"]) == result["total_hits"] * result.get("interval", 1)


def test_the_default_profile(profiles, tmp_path):
	(tmp_path / "cpprof.data").write_bytes((profiles / "forms.data").read_bytes())
	with Server() as server:
		assert run("push", server.url, directory=tmp_path).returncode == 0
	assert len(server.requests) == 1


@pytest.mark.parametrize("answer", [(503, {}, "busy"), (429, {"Retry-After": "1"}, "slower"), (500, {}, ""), None])
def test_a_temporary_failure_is_tried_again(profiles, answer):
	with Server(answer, answer, (200, {}, "")) as server:
		sent = run("push", server.url, profiles / "forms.data")
	assert sent.returncode == 0, sent.stderr
	assert len(server.requests) == 3 and len({form(headers, body)["profile"] for _, headers, body in server.requests}) == 1


def test_retries_end(profiles):
	path = profiles / "forms.data"
	before = path.read_bytes()
	with Server((503, {}, "no room\nsecond line")) as server:
		check_failure(run("push", "--retries", "2", server.url, path), f"cannot send {path} to {server.url}/ingest: the server answered 503: no room (after 3 attempts; the profile is kept)")
	assert len(server.requests) == 3 and path.read_bytes() == before


@pytest.mark.parametrize("answer", [(400, {}, "unknown format"), (401, {}, "who are you"), (302, {"Location": "http://127.0.0.1:1/"}, "there"), (404, {}, "\x1b[2J")])
def test_a_final_answer_is_not_repeated(profiles, answer):
	with Server(answer) as server:
		result = run("push", server.url, profiles / "forms.data")
	check_failure(result, f"the server answered {answer[0]}: {answer[2].replace(chr(27), '?')} (after 1 attempt;")
	assert len(server.requests) == 1 and "\x1b" not in result.stderr


def test_nobody_listens(profiles):
	with Server() as server:
		url = server.url
	check_failure(run("push", "--retries", "1", url.replace("http://", "http://user:secret@"), profiles / "forms.data"), f"to {url}/ingest: ", "after 2 attempts; the profile is kept")
	assert "secret" not in run("push", "--retries", "0", url.replace("http://", "http://user:secret@"), profiles / "forms.data").stderr


@pytest.mark.parametrize("connected_us, attempts", [(0, 3), (1, 1)])
def test_a_stall_is_not_repeated(profiles, tmp_path, connected_us, attempts):
	"""Both are one error of libcurl: the connection took too long, or the server did not answer."""
	environment, log = timeouts(tmp_path, "/ingest", connected_us)
	result = run("push", "--retries", "2", "http://127.0.0.1:1", profiles / "forms.data", **environment)
	check_failure(result, f"(after {attempts} attempt{'s' if attempts > 1 else ''}; the profile is kept)")
	assert log.read_text() == "x" * attempts


def test_usage(profiles):
	path = profiles / "forms.data"
	for words, message in ((["push"], "missing argument URL"), (["push", "localhost:4040", path], "is no URL of a server"), (["push", "file:///etc/passwd", path], "is no URL of a server"),
			(["push", "--server", "influx", "http://h", path], "unknown kind of server 'influx' (pyroscope or otlp)"),
			(["push", "--server", "otlp", "--tag", "a=b", "http://h", path], "--tag cannot be combined with --server otlp"),
			(["push", "--server", "otlp", "--name", "a", "http://h", path], "--name cannot be combined with --server otlp"),
			(["push", "--tag", "a", "http://h", path], "--tag 'a' has no value"),
			(["push", "--tag", "k=v,}&", "http://h", path], "--tag 'k=v,}&' has a value with one of ,{}"), (["push", "--tag", "k,=v", "http://h", path], "has a key that is not of letters"),
			(["push", "--tag", "=v", "http://h", path], "has a key that is not of letters"), (["push", "-r", "cpu", "-r", "page-faults", "http://h", path], "-r can be given once to 'push'"), (["push", "--header", "a", "http://h", path], "--header 'a' is no header"),
			(["push", "--retries", "21", "http://h", path], "--retries 21 is out of range (0 to 20)")):
		result = run(*words)
		assert result.returncode == 2 and message in result.stderr, (words, result.stderr)
	check_failure(run("push", "-r", "xyzzy", "http://127.0.0.1:1", path), "xyzzy")


def test_without_libcurl(profiles, tmp_path):
	(tmp_path / "no_curl.c").write_text('#include <string.h>\nvoid *dlopen(const char *name, int mode) { (void)name, (void)mode; return 0; }\n')
	subprocess.run(["gcc", "-shared", "-fPIC", "-o", tmp_path / "no_curl.so", tmp_path / "no_curl.c"], check=True)
	result = run("push", "http://127.0.0.1:1", profiles / "forms.data", LD_PRELOAD=str(tmp_path / "no_curl.so"))
	check_failure(result, "libcurl.so.4 is not installed (install libcurl4)")
