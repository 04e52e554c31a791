#include "http/http.h"

#define CURL_DISABLE_TYPECHECK
#include <ctype.h>
#include <curl/curl.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buffer.h"

enum {
	CONNECT_S = 10,
	STALL_S = 60,
	FIRST_WAIT_MS = 250,
	LONGEST_WAIT_MS = 10 * 1000,
	HTTP_OK = 200,
	HTTP_REDIRECTION = 300,
	HTTP_BUSY = 429,
	HTTP_FAILURE = 500,
};

/* clang-format off */
#define FUNCTIONS(X) \
	X(curl_easy_init) X(curl_easy_reset) X(curl_easy_setopt) X(curl_easy_perform) X(curl_easy_getinfo) X(curl_easy_strerror) X(curl_easy_cleanup) \
	X(curl_slist_append) X(curl_slist_free_all) \
	X(curl_mime_init) X(curl_mime_addpart) X(curl_mime_name) X(curl_mime_filename) X(curl_mime_type) X(curl_mime_data) X(curl_mime_free)
/* clang-format on */

struct library {
#define X(name) __typeof__(name) *name##_;
	FUNCTIONS(X)
#undef X
};

struct http {
	struct library library;
	CURL *handle;
	/* The fields below belong to the current request. */
	const struct http_request *request;
	struct http_answer *answer;
	curl_mime *form;
	struct curl_slist *headers;
	char reason[CURL_ERROR_SIZE];
	size_t text_bytes;
	bool has_taken; /* bytes of an answer 2xx */
	bool is_reported;
	curl_off_t moved;  /* bytes in both directions */
	time_t moved_at_s; /* when they became so many; 0: not known yet */
	int take_error;
	bool has_stalled; /* the last attempt */
};

static int load(struct library *library, struct error *error)
{
	void *file = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
	if (!file)
		return error_set(error, ERROR_UNSUPPORTED, "libcurl.so.4 is not installed (install libcurl4)");
		/* POSIX lets dlsym return functions; ISO C has no such conversion. */
#define X(name)                                           \
	*(void **)&library->name##_ = dlsym(file, #name); \
	if (!library->name##_)                            \
		return error_set(error, ERROR_UNSUPPORTED, "libcurl.so.4 lacks the function %s", #name);
	FUNCTIONS(X)
#undef X
	return 0;
}

static long status_of(const struct http *http)
{
	long status = 0;
	http->library.curl_easy_getinfo_(http->handle, CURLINFO_RESPONSE_CODE, &status);
	return status;
}

static bool is_success(long status)
{
	return status >= HTTP_OK && status < HTTP_REDIRECTION;
}

static size_t take_answer(char *bytes, size_t size, size_t count, void *context)
{
	struct http *http = context;
	struct http_answer *answer = http->answer;
	if (is_success(status_of(http))) {
		http->has_taken = true;
		if (http->request->take)
			http->take_error = http->request->take(http->request->context, bytes, size * count);
		return http->take_error < 0 ? 0 : size * count;
	}
	for (size_t i = 0; i < size * count && http->text_bytes < sizeof(answer->text) - 1; i++)
		answer->text[http->text_bytes++] = bytes[i];
	answer->text[http->text_bytes] = 0;
	return size * count;
}

/* --- slow servers --- */

static http_slow *report_slow;

void http_report_slow(http_slow *report)
{
	report_slow = report;
}

/* Is called by libcurl about each second. */
static int watch_progress(void *context, curl_off_t down_total, curl_off_t down, curl_off_t up_total, curl_off_t up)
{
	struct http *http = context;
	struct timespec now;
	char url[256];
	(void)down_total;
	(void)up_total;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (http->moved_at_s == 0 || down + up != http->moved) {
		http->moved = down + up;
		http->moved_at_s = now.tv_sec;
	}
	if (http->is_reported || !report_slow || now.tv_sec - http->moved_at_s < HTTP_SLOW_S)
		return 0;
	http->is_reported = true;
	http_public_url(http->request->url, url, sizeof(url));
	url[strcspn(url, "?")] = 0;
	report_slow(url);
	return 0;
}

/* --- requests --- */

static int make_form(struct http *http)
{
	const struct http_request *request = http->request;
	const struct library *library = &http->library;
	http->form = library->curl_mime_init_(http->handle);
	if (!http->form)
		return ERROR_MEMORY;
	for (size_t i = 0; i < request->part_count; i++) {
		const struct http_part *part = &request->parts[i];
		curl_mimepart *row = library->curl_mime_addpart_(http->form);
		if (!row || library->curl_mime_name_(row, part->name) ||
		    library->curl_mime_filename_(row, part->name) || library->curl_mime_type_(row, part->type) ||
		    library->curl_mime_data_(row, part->bytes, part->size))
			return ERROR_MEMORY;
	}
	return library->curl_easy_setopt_(http->handle, CURLOPT_MIMEPOST, http->form) ? ERROR_MEMORY : 0;
}

static int add_header(struct http *http, const char *text)
{
	struct curl_slist *longer = http->library.curl_slist_append_(http->headers, text);
	if (longer)
		http->headers = longer;
	return longer ? 0 : ERROR_MEMORY;
}

static int set_body(struct http *http)
{
	const struct http_part *body = &http->request->parts[0];
	char type[128];
	snprintf(type, sizeof(type), "Content-Type: %s", body->type);
	if (add_header(http, type) < 0)
		return ERROR_MEMORY;
	CURLcode code =
		http->library.curl_easy_setopt_(http->handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body->size);
	return code || http->library.curl_easy_setopt_(http->handle, CURLOPT_POSTFIELDS, body->bytes) ? ERROR_MEMORY
												      : 0;
}

/* Returns the file of certificate authorities that the user names, as for curl(1), or NULL. */
static const char *authorities(void)
{
	const char *path = getenv("CURL_CA_BUNDLE");
	return path && *path ? path : getenv("SSL_CERT_FILE");
}

/* Returns 0 or ERROR_MEMORY. */
static int set_options(struct http *http)
{
	const struct http_request *request = http->request;
	bool is_form = request->parts[0].name != NULL;
	CURLcode code = 0;
#define SET(option, value) code = code ? code : http->library.curl_easy_setopt_(http->handle, option, value)
	SET(CURLOPT_URL, request->url);
	SET(CURLOPT_PROTOCOLS_STR, "http,https");
	SET(CURLOPT_NOSIGNAL, 1L);
	SET(CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S);
	SET(CURLOPT_LOW_SPEED_LIMIT, 1L);
	SET(CURLOPT_LOW_SPEED_TIME, request->stall_s ? request->stall_s : (long)STALL_S);
	SET(CURLOPT_USERAGENT, "cpprof/" CPPROF_VERSION);
	SET(CURLOPT_ERRORBUFFER, http->reason);
	SET(CURLOPT_WRITEFUNCTION, take_answer);
	SET(CURLOPT_WRITEDATA, http);
	SET(CURLOPT_NOPROGRESS, 0L);
	SET(CURLOPT_XFERINFOFUNCTION, watch_progress);
	SET(CURLOPT_XFERINFODATA, http);
	if (request->has_netrc)
		SET(CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL);
	/* libcurl repeats a request on a new connection if a kept one turns out to be closed. */
	if (request->is_once)
		SET(CURLOPT_FRESH_CONNECT, 1L);
	if (authorities())
		SET(CURLOPT_CAINFO, authorities());
	if (code || (is_form ? make_form(http) : set_body(http)) < 0)
		return ERROR_MEMORY;
	for (size_t i = 0; i < request->header_count; i++)
		if (add_header(http, request->headers[i]) < 0)
			return ERROR_MEMORY;
	/* A server need not be asked whether it wants the body. */
	if (add_header(http, "Expect:") < 0)
		return ERROR_MEMORY;
	SET(CURLOPT_HTTPHEADER, http->headers);
#undef SET
	return code ? ERROR_MEMORY : 0;
}

/* --- attempts --- */

static void wait_ms(long milliseconds)
{
	struct timespec time = { .tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000 * 1000 };
	while (nanosleep(&time, &time) < 0)
		;
}

/* Returns the time to wait before attempt number `attempt` + 1. */
static long pause_ms(const struct http *http, unsigned attempt)
{
	curl_off_t requested_s = 0;
	long pause = FIRST_WAIT_MS;
	for (unsigned i = 1; i < attempt && pause < LONGEST_WAIT_MS; i++)
		pause *= 2;
	http->library.curl_easy_getinfo_(http->handle, CURLINFO_RETRY_AFTER, &requested_s);
	if (requested_s > 0)
		pause = requested_s < LONGEST_WAIT_MS / 1000 ? (long)requested_s * 1000 : LONGEST_WAIT_MS;
	return pause < LONGEST_WAIT_MS ? pause : LONGEST_WAIT_MS;
}

static bool is_temporary(const struct http *http, CURLcode code)
{
	const struct http_answer *answer = http->answer;
	if (code)
		return code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST ||
		       code == CURLE_OPERATION_TIMEDOUT || code == CURLE_GOT_NOTHING || code == CURLE_SEND_ERROR ||
		       code == CURLE_RECV_ERROR || code == CURLE_PARTIAL_FILE;
	bool is_failure = answer->status == HTTP_BUSY || answer->status >= HTTP_FAILURE;
	return is_failure && !(http->request->is_final && http->request->is_final(answer->text));
}

/* Returns whether a limit ran out while the server had the connection, and not while it was made. */
static bool is_stall(const struct http *http, CURLcode code)
{
	curl_off_t connected_us = 0;
	http->library.curl_easy_getinfo_(http->handle, CURLINFO_PRETRANSFER_TIME_T, &connected_us);
	return code == CURLE_OPERATION_TIMEDOUT && connected_us > 0;
}

static int fail(const struct http *http, CURLcode code, int error_code, struct error *error)
{
	const struct http_answer *answer = http->answer;
	if (code)
		return error_set(error, error_code, "%s",
				 http->reason[0] ? http->reason : http->library.curl_easy_strerror_(code));
	char line[sizeof(answer->text)];
	const char *first = answer->text + strspn(answer->text, " \t\r\n");
	snprintf(line, sizeof(line), "%.*s", (int)strcspn(first, "\r\n"), first);
	for (char *at = line; *at; at++)
		*at = iscntrl((unsigned char)*at) ? '?' : *at;
	return error_set(error, error_code, "the server answered %ld%s%s", answer->status, line[0] ? ": " : "", line);
}

static int send_request(struct http *http, struct error *error)
{
	struct http_answer *answer = http->answer;
	for (;;) {
		http->text_bytes = 0;
		answer->text[0] = http->reason[0] = 0;
		http->moved_at_s = 0;
		CURLcode code = http->library.curl_easy_perform_(http->handle);
		answer->attempts++;
		answer->status = code == 0 ? status_of(http) : 0;
		if (code == 0 && is_success(answer->status))
			return 0;
		if (http->take_error < 0)
			return http->take_error;
		http->has_stalled = is_stall(http, code);
		bool may_pass = is_temporary(http, code);
		bool may_repeat = may_pass && !http->has_stalled && !http->request->is_once && !http->has_taken;
		if (!may_repeat || answer->attempts > http->request->retries)
			return fail(http, code, may_pass ? ERROR_UNREACHABLE : ERROR_SYSTEM, error);
		wait_ms(pause_ms(http, answer->attempts));
	}
}

int http_send(struct http *http, const struct http_request *request, struct http_answer *answer, struct error *error)
{
	*answer = (struct http_answer){ 0 };
	http->request = request;
	http->answer = answer;
	http->has_taken = http->is_reported = http->has_stalled = false;
	http->take_error = 0;
	int status = set_options(http);
	status = status < 0 ? error_set(error, status, "%s", error_text(status)) : send_request(http, error);
	http->library.curl_easy_reset_(http->handle); /* keeps the connections */
	if (http->form)
		http->library.curl_mime_free_(http->form);
	http->library.curl_slist_free_all_(http->headers);
	http->form = NULL;
	http->headers = NULL;
	return status;
}

bool http_has_stalled(const struct http *http)
{
	return http->has_stalled;
}

struct http *http_open(struct error *error)
{
	struct http *http = calloc(1, sizeof(*http));
	int status = http ? load(&http->library, error) : ERROR_MEMORY;
	if (status == 0)
		http->handle = http->library.curl_easy_init_();
	if (http && http->handle)
		return http;
	if (!http || status == 0)
		error_set(error, ERROR_MEMORY, "%s", error_text(ERROR_MEMORY));
	free(http);
	return NULL;
}

void http_close(struct http *http)
{
	if (http)
		http->library.curl_easy_cleanup_(http->handle);
	free(http);
}

/* --- URLs --- */

/* Returns the text behind the user and the password, or NULL if the URL has none. Sets *start to their begin. */
static const char *behind_user(const char *url, const char **start)
{
	static const char mark[] = "://";
	const char *host = strstr(url, mark);
	*start = host ? host + sizeof(mark) - 1 : url;
	const char *user = host ? memrchr(*start, '@', strcspn(*start, "/?#")) : NULL;
	return user ? user + 1 : NULL;
}

const char *http_public_url(const char *url, char *text, size_t bytes)
{
	const char *start, *host = behind_user(url, &start);
	if (host)
		snprintf(text, bytes, "%.*s%s", (int)(start - url), url, host);
	else
		snprintf(text, bytes, "%s", url);
	return text;
}

void http_hide_user(char *url)
{
	const char *start, *host = behind_user(url, &start);
	if (host)
		memmove(url + (start - url), host, strlen(host) + 1);
}

void http_append_escaped(struct buffer *out, const char *text)
{
	for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
		bool is_plain = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
				(*at >= '0' && *at <= '9') || strchr("-._~", *at);
		if (is_plain)
			buffer_append_byte(out, *at);
		else
			buffer_printf(out, "%%%02X", *at);
	}
}
