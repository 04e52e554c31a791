"""A server on this machine that keeps each request and answers as the test requests."""
import http.server
import subprocess
import threading

# In place of libcurl: requests whose URL contains MATCH time out at once; the connection was made after CONNECTED_US, 0: it was not.
TIMEOUTS = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { URL = 10002, TIMED_OUT = 28, PRETRANSFER_US = 0x600000 + 53 };
static const char *url = "";
static int is_match;

static void *real(const char *name)
{
	void *(*open)(const char *, int) = dlsym(RTLD_NEXT, "dlopen");
	return dlsym(open("libcurl.so.4", RTLD_NOW), name);
}

void *dlopen(const char *name, int mode)
{
	void *(*open)(const char *, int) = dlsym(RTLD_NEXT, "dlopen");
	return open(name && strcmp(name, "libcurl.so.4") == 0 ? getenv("LD_PRELOAD") : name, mode);
}

int curl_easy_setopt(void *handle, int option, void *value)
{
	int (*set)(void *, int, ...) = real("curl_easy_setopt");
	url = option == URL ? value : url;
	return set(handle, option, value);
}

int curl_easy_perform(void *handle)
{
	int (*perform)(void *) = real("curl_easy_perform");
	is_match = strstr(url, getenv("MATCH")) != NULL;
	if (!is_match)
		return perform(handle);
	FILE *log = fopen(getenv("LOG"), "a");
	fputs("x", log);
	fclose(log);
	return TIMED_OUT;
}

int curl_easy_getinfo(void *handle, int info, void *value)
{
	int (*get)(void *, int, ...) = real("curl_easy_getinfo");
	if (!is_match || info != PRETRANSFER_US)
		return get(handle, info, value);
	*(long *)value = atol(getenv("CONNECTED_US"));
	return 0;
}
"""


def timeouts(folder, match, connected_us):
	"""Returns the environment in which such requests of cpprof time out, and the file that gets a byte for each of them."""
	source, library, log = folder / "timeouts.c", folder / "timeouts.so", folder / "timeouts.log"
	source.write_text(TIMEOUTS)
	subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source, "-Wl,--no-as-needed", "-l:libcurl.so.4"], check=True)
	log.write_text("")
	return {"LD_PRELOAD": str(library), "MATCH": match, "LOG": str(log), "CONNECTED_US": str(connected_us)}, log


class Server:
	"""`answers`: (status, headers, body) for each request in turn; None closes the connection without an answer. The last one goes on."""

	def __init__(self, *answers):
		self.answers, self.requests = list(answers) or [(200, {}, "")], []
		outer = self

		class Handler(http.server.BaseHTTPRequestHandler):
			def do_POST(self):
				body = self.rfile.read(int(self.headers["Content-Length"]))
				outer.requests.append((self.path, dict(self.headers), body))
				answer = outer.answers.pop(0) if len(outer.answers) > 1 else outer.answers[0]
				if answer is None:
					self.close_connection = True
					return
				status, headers, text = answer
				self.send_response(status)
				for name, value in headers.items():
					self.send_header(name, value)
				self.send_header("Content-Length", str(len(text.encode())))
				self.end_headers()
				self.wfile.write(text.encode())

			def log_message(self, *_):
				pass

		self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
		self.thread = threading.Thread(target=self.server.serve_forever)

	@property
	def url(self):
		return f"http://127.0.0.1:{self.server.server_address[1]}"

	def __enter__(self):
		self.thread.start()
		return self

	def __exit__(self, *_):
		self.server.shutdown()
		self.thread.join()
		self.server.server_close()
