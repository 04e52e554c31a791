#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/lookup.h"
#include "base/buffer.h"
#include "base/json_string.h"
#include "base/whole_number.h"
#include "cmd/formats.h"
#include "cmd/message.h"
#include "cmd/progress.h"
#include "cmd/store_options.h"
#include "cmd/view_options.h"
#include "formats/otlp_fields.h"
#include "http/http.h"
#include "profile/companion.h"

enum { OPTION_SERVICE = OPTION_OWN, OPTION_NAME, OPTION_TAG, OPTION_HEADER, OPTION_RETRIES };
enum { RETRIES = 4, RETRIES_MOST = 20, HEADERS_MOST = 32 };
#define NS_PER_S UINT64_C(1000000000)

struct push;

/* A kind of server. */
struct service {
	const char *name;
	const char *format; /* of formats/ */
	const char *path;   /* of a URL without a path */
	bool takes_tags;    /* and a name */
	int (*send)(const struct push *push, const char *url, unsigned *attempts, struct error *error);
};

struct push {
	const struct invocation *invocation;
	const struct service *service;
	const char *headers[HEADERS_MOST];
	struct http *http;
	struct http_request request;
	uint32_t resource; /* PROFILE_NONE: all */
	char *body;        /* owned; the exported profile */
	size_t body_bytes;
};

static int send_request(const struct push *push, const struct http_request *request, unsigned *attempts,
			struct error *error)
{
	struct http_answer answer = { 0 };
	int status = http_send(push->http, request, &answer, error);
	*attempts = answer.attempts;
	return status;
}

/* --- Pyroscope: a form with the profile and the meaning of its resources; name and times are in the query --- */

/* NAME{KEY=VALUE,...} */
static void append_name(const struct push *push, struct buffer *out)
{
	const struct profile *profile = push->invocation->profile;
	const char *name = option_value(push->invocation, OPTION_NAME);
	bool has_tags = option_given(push->invocation, OPTION_TAG);
	if (!name && profile->process_count > 0)
		name = profile_string(profile, profile->processes[0].name);
	http_append_escaped(out, name && name[0] ? name : "cpprof");
	const char *gap = "%7B";
	for (size_t i = 0; i < push->invocation->use_count; i++) {
		const struct option_use *use = &push->invocation->uses[i];
		if (use->option->id != OPTION_TAG)
			continue;
		buffer_append_string(out, gap);
		http_append_escaped(out, use->value);
		gap = "%2C";
	}
	if (has_tags)
		buffer_append_string(out, "%7D");
}

/* The server drops resources whose meaning it does not know. */
static void append_types(const struct push *push, struct buffer *out)
{
	const struct profile *profile = push->invocation->profile;
	const char *gap = "{";
	for (uint32_t i = 0; i < profile->resource_count; i++) {
		bool is_sent = push->resource == PROFILE_NONE ? !companion_is(profile, i) : push->resource == i;
		if (!is_sent)
			continue;
		buffer_append_string(out, gap);
		json_string_append(out, profile_string(profile, profile->resources[i].name));
		buffer_append_string(out, ":{\"units\":");
		json_string_append(out, format_unit(profile_string(profile, profile->resources[i].unit)));
		buffer_append_string(out, ",\"display-name\":");
		json_string_append(out, profile_string(profile, profile->resources[i].name));
		buffer_append_string(out, ",\"aggregation\":\"sum\",\"cumulative\":false,\"sampled\":false}");
		gap = ",";
	}
	buffer_append_string(out, "}");
}

static int send_to_pyroscope(const struct push *push, const char *url, unsigned *attempts, struct error *error)
{
	const struct profile *profile = push->invocation->profile;
	uint64_t start = (uint64_t)format_start_ns(push->invocation);
	uint64_t end = start + profile_duration_ns(profile);
	struct buffer query, types;
	buffer_init(&query);
	buffer_init(&types);
	buffer_append_string(&query, url);
	buffer_append_string(&query, strchr(url, '?') ? "&name=" : "?name=");
	append_name(push, &query);
	buffer_printf(&query, "&from=%" PRIu64 "&until=%" PRIu64 "&format=pprof&spyName=cpprof", start / NS_PER_S,
		      end / NS_PER_S + (end % NS_PER_S > 0));
	buffer_append_byte(&query, 0);
	append_types(push, &types);
	int status = buffer_error(&query) < 0 ? buffer_error(&query) : buffer_error(&types);
	if (status < 0) {
		error_set(error, status, "%s", error_text(status));
	} else {
		const struct http_part parts[] = {
			{ "profile", "application/octet-stream", push->body, push->body_bytes },
			{ "sample_type_config", "application/json", types.bytes, types.size },
		};
		struct http_request request = push->request;
		request.url = (const char *)query.bytes;
		request.parts = parts;
		request.part_count = 2;
		status = send_request(push, &request, attempts, error);
	}
	buffer_release(&query);
	buffer_release(&types);
	return status;
}

/* --- OTLP: the profile is the body (OTLP/HTTP, binary) --- */

static int send_to_otlp(const struct push *push, const char *url, unsigned *attempts, struct error *error)
{
	const struct http_part body = { NULL, "application/x-protobuf", push->body, push->body_bytes };
	struct http_request request = push->request;
	request.url = url;
	request.parts = &body;
	request.part_count = 1;
	return send_request(push, &request, attempts, error);
}

static const struct service services[] = {
	{ "pyroscope", "pprof", "/ingest", true, send_to_pyroscope },
	{ "otlp", "otlp", OTLP_PATH, false, send_to_otlp },
};

static const char *service_word(size_t index)
{
	return index < sizeof(services) / sizeof(*services) ? services[index].name : NULL;
}

static word_at *words(int id)
{
	return id == OPTION_SERVICE ? service_word : view_option_words(id);
}

/* --- the command line --- */

static int read_service(struct push *push)
{
	const char *name = option_value(push->invocation, OPTION_SERVICE);
	char list[64];
	push->service = &services[0];
	for (size_t i = 0; name && service_word(i); i++)
		if (strcmp(name, service_word(i)) == 0)
			push->service = &services[i];
	if (name && strcmp(name, push->service->name) != 0)
		return usage_error(push->invocation, "unknown kind of server '%s' (%s)", name,
				   words_list(service_word, list, sizeof(list)));
	if (!push->service->takes_tags && option_given(push->invocation, OPTION_TAG))
		return usage_error(push->invocation, "--tag cannot be combined with --server %s (leave out --tag)",
				   name);
	if (!push->service->takes_tags && option_given(push->invocation, OPTION_NAME))
		return usage_error(push->invocation, "--name cannot be combined with --server %s (leave out --name)",
				   name);
	return EXIT_DONE;
}

/* Pyroscope reads NAME{KEY=VALUE,KEY=VALUE} without quotation marks: a comma or a brace would end the value. */
static int check_tag(const struct push *push, const char *tag)
{
	static const char key_characters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
	const char *value = strchr(tag, '=');
	if (!value)
		return usage_error(push->invocation, "--tag '%s' has no value (KEY=VALUE)", tag);
	if (value == tag || strspn(tag, key_characters) != (size_t)(value - tag))
		return usage_error(push->invocation, "--tag '%s' has a key that is not of letters, digits, _ and .",
				   tag);
	if (strpbrk(value, ",{}"))
		return usage_error(push->invocation,
				   "--tag '%s' has a value with one of ,{} (Pyroscope cannot read it)", tag);
	return EXIT_DONE;
}

static int read_options(struct push *push)
{
	const struct invocation *invocation = push->invocation;
	const char *retries = option_value(invocation, OPTION_RETRIES);
	uint64_t number = RETRIES;
	if (retries && (!whole_number_read(retries, &number) || number > RETRIES_MOST))
		return usage_error(invocation, "--retries %s is out of range (0 to %d)", retries, RETRIES_MOST);
	push->request.retries = (unsigned)number;
	push->request.headers = push->headers;
	for (size_t i = 0; i < invocation->use_count; i++) {
		const struct option_use *use = &invocation->uses[i];
		if (use->option->id == OPTION_TAG && check_tag(push, use->value) != EXIT_DONE)
			return EXIT_WORDS;
		if (use->option->id != OPTION_HEADER)
			continue;
		if (!strchr(use->value, ':') || strpbrk(use->value, "\r\n"))
			return usage_error(invocation, "--header '%s' is no header (NAME: VALUE)", use->value);
		if (push->request.header_count == HEADERS_MOST)
			return usage_error(invocation, "too many headers (at most %d)", HEADERS_MOST);
		push->headers[push->request.header_count++] = use->value;
	}
	return EXIT_DONE;
}

/* Returns the URL with the path of the service if it has none, or NULL if there is no memory. The caller frees it. */
static char *complete_url(const struct push *push, const char *url)
{
	const char *host = strstr(url, "://");
	const char *path = host ? strchr(host + 3, '/') : NULL;
	char *text = NULL;
	bool has_path = path && path[1];
	int length = asprintf(&text, "%.*s%s", path && !has_path ? (int)(path - url) : (int)strlen(url), url,
			      has_path ? "" : push->service->path);
	return length < 0 ? NULL : text;
}

/* --- the profile --- */

static int make_body(struct push *push, const struct view_request *request, struct error *error)
{
	const char *name = option_value(push->invocation, OPTION_RESOURCE);
	const struct format *format = format_find(push->service->format);
	struct format_input input = { .profile = push->invocation->profile, .view = request->settings.view };
	format_set_start(push->invocation, format);
	if (name && lookup_resource(input.profile, name, &push->resource, error) < 0)
		return error->code;
	input.view.resource = push->resource;
	FILE *stream = open_memstream(&push->body, &push->body_bytes);
	if (!stream)
		return error_set(error, ERROR_MEMORY, "cannot export: %s", error_text(ERROR_MEMORY));
	struct sink sink;
	sink_init(&sink, stream);
	int status = format_export(format, &input, &sink, error);
	if (fclose(stream) != 0 && status == 0)
		status = error_set_errno(error, "cannot export");
	return status;
}

static int send_body(struct push *push)
{
	const struct invocation *invocation = push->invocation;
	char shown[256];
	struct error error = { 0 };
	unsigned attempts = 0;
	char *url = complete_url(push, invocation->arguments[0]);
	if (!url)
		return failure(invocation, "out of memory");
	progress_begin("sending the profile", PROGRESS_AFTER_MS);
	push->http = http_open(&error);
	int status = push->http ? push->service->send(push, url, &attempts, &error) : error.code;
	http_close(push->http);
	progress_end();
	http_public_url(url, shown, sizeof(shown));
	free(url);
	if (status < 0)
		return failure(invocation, "cannot send %s to %s: %s (after %u attempt%s; the profile is kept)",
			       invocation->profile_path, shown, error.message, attempts, attempts == 1 ? "" : "s");
	notice(invocation, "sent %zu bytes to %s", push->body_bytes, shown);
	return EXIT_DONE;
}

static int run(struct invocation *invocation)
{
	struct push push = { .invocation = invocation, .resource = PROFILE_NONE };
	struct view_request request;
	struct error error = { 0 };
	const char *url = invocation->arguments[0];
	if (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0)
		return usage_error(invocation, "'%s' is no URL of a server (http://HOST:PORT or https://HOST)", url);
	int status = format_check_resources(invocation, OPTION_RESOURCE);
	if (status == EXIT_DONE)
		status = read_service(&push);
	if (status == EXIT_DONE)
		status = read_options(&push);
	if (status != EXIT_DONE)
		return status;
	if (view_request_init(&request, invocation, invocation->profile, &error) < 0)
		return failure_of(invocation, &error);
	status = make_body(&push, &request, &error) < 0 ? failure_of(invocation, &error) : send_body(&push);
	view_request_release(&request);
	free(push.body);
	return status;
}

static const char *const usage[] = { "[--server KIND] [--name NAME] [--tag KEY=VALUE] URL [FILE]", NULL };

static const struct command_option options[] = {
	{ OPTION_SERVICE, 0, "server", "KIND", "Send to this kind of server: %s", "pyroscope" },
	{ OPTION_RESOURCE, 'r', "resource", "RES", "Send resource RES only", "all" },
	{ OPTION_NAME, 0, "name", "NAME", "pyroscope: The name of the application", "that of the program" },
	{ OPTION_TAG, 0, "tag", "KEY=VALUE", "pyroscope: A label of the whole profile; may be given several times",
	  NULL },
	{ OPTION_HEADER, 0, "header", "LINE",
	  "Send this header too, such as 'X-Scope-OrgID: 7'; may be given several times", NULL },
	{ OPTION_RETRIES, 0, "retries", "N", "Ask a server that is busy, fails or cannot be reached N times again",
	  "4" },
	ROWS_SELECTION,
	ROWS_STORE,
	ROWS_FRAMES,
	ROWS_LIMITS,
	{ 0 },
};

static const struct command_example examples[] = {
	{ "cpprof push http://localhost:4040", "to Pyroscope, at /ingest" },
	{ "cpprof push --server otlp http://localhost:4318 run.data", "to a collector, at /v1development/profiles" },
	{ "cpprof push --name shop --tag host=a7 -r cpu http://localhost:4040 run.data",
	  "one resource, with a name and a label" },
	{ 0 },
};

const struct command command_push = {
	.name = "push",
	.task = TASK_EXCHANGE,
	.summary = "send a profile to a server: Pyroscope, or a receiver of OTLP",
	.usage = usage,
	.options = options,
	.examples = examples,
	.words = words,
	.needs = NEEDS_PROFILE | NEEDS_PROFILE_LAST,
	.argument_min = 1,
	.argument_max = 1,
	.run = run,
};
