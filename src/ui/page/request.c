#include "ui/page/request.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/lookup.h"
#include "analyze/options_read.h"
#include "base/quote.h"

/* The state while a request is read. */
struct reading {
	struct page_request *request;
	const struct profile *profile;
	struct error *error;
	const char *from, *to;
	const char *labels[PAGE_TERMS_MAX];
	size_t label_count;
};

typedef int read_value(struct reading *reading, const char *value);

static int too_many(struct reading *reading)
{
	return error_set(reading->error, ERROR_LIMIT, "a request has at most %d terms and labels", PAGE_TERMS_MAX);
}

static int read_term(struct reading *reading, const char *value)
{
	struct page_request *request = reading->request;
	if (request->term_count == PAGE_TERMS_MAX)
		return too_many(reading);
	request->terms[request->term_count++] = value;
	return 0;
}

static int read_label(struct reading *reading, const char *value)
{
	if (reading->label_count == PAGE_TERMS_MAX)
		return too_many(reading);
	reading->labels[reading->label_count++] = value;
	return 0;
}

static int read_resource(struct reading *reading, const char *value)
{
	return lookup_resource(reading->profile, value, &reading->request->view.resource, reading->error);
}

static int read_thread(struct reading *reading, const char *value)
{
	return lookup_thread(reading->profile, value, &reading->request->view.thread, reading->error);
}

static int read_process(struct reading *reading, const char *value)
{
	struct page_request *request = reading->request;
	if (!request->processes)
		request->processes = calloc(reading->profile->process_count + 1, sizeof(*request->processes));
	if (!request->processes)
		return error_set(reading->error, ERROR_MEMORY, "out of memory");
	return lookup_process(reading->profile, value, request->processes, reading->error);
}

static int read_by(struct reading *reading, const char *value)
{
	return options_read_by(value, &reading->request->view.by, reading->error);
}

static int read_kernel(struct reading *reading, const char *value)
{
	return options_read_kernel(value, &reading->request->view.kernel, reading->error);
}

static int read_threshold(struct reading *reading, const char *value)
{
	return options_read_threshold(value, &reading->request->threshold, reading->error);
}

static int read_limit(struct reading *reading, const char *value)
{
	return options_read_limit(value, &reading->request->limit, reading->error);
}

static int read_untrimmed(struct reading *reading, const char *value)
{
	return options_read_switch(value, &reading->request->view.untrimmed, reading->error);
}

static int read_native_frames(struct reading *reading, const char *value)
{
	return options_read_switch(value, &reading->request->view.native_frames, reading->error);
}

static int read_no_inlines(struct reading *reading, const char *value)
{
	return options_read_switch(value, &reading->request->view.no_inlines, reading->error);
}

static int read_no_stitch(struct reading *reading, const char *value)
{
	return options_read_switch(value, &reading->request->view.no_stitch, reading->error);
}

static int read_has(struct reading *reading, const char *value)
{
	return options_read_switch(value, &reading->request->has, reading->error);
}

static int read_side(struct reading *reading, const char *value)
{
	(void)value; /* read before all others: they need its profile */
	(void)reading;
	return 0;
}

static const char **text_of(struct reading *reading, const char *key)
{
	struct page_request *request = reading->request;
	const struct {
		const char *key;
		const char **text;
	} texts[] = {
		{ "report", &request->report }, { "of", &request->of },     { "shape", &request->shape },
		{ "root", &request->root },     { "key", &request->key },   { "group", &request->group },
		{ "other", &request->other },   { "from", &reading->from }, { "to", &reading->to },
	};
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (strcmp(texts[i].key, key) == 0)
			return texts[i].text;
	return NULL;
}

static int read_pair(struct reading *reading, const char *key, const char *value)
{
	static const struct {
		const char *key;
		read_value *read;
	} rows[] = {
		{ "side", read_side },
		{ "resource", read_resource },
		{ "by", read_by },
		{ "thread", read_thread },
		{ "process", read_process },
		{ "label", read_label },
		{ "threshold", read_threshold },
		{ "limit", read_limit },
		{ "term", read_term },
		{ "has", read_has },
		{ "kernel", read_kernel },
		{ "untrimmed", read_untrimmed },
		{ "native_frames", read_native_frames },
		{ "no_inlines", read_no_inlines },
		{ "no_stitch", read_no_stitch },
	};
	const char **text = text_of(reading, key);
	if (text) {
		*text = value;
		return 0;
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (strcmp(rows[i].key, key) == 0)
			return rows[i].read(reading, value);
	return error_set(reading->error, ERROR_USAGE, "unknown key %s in a request", QUOTE(key));
}

static int read_pairs(struct reading *reading, char *text)
{
	int status = 0;
	for (char *line = text, *next; line && *line && status == 0; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		char *value = strchr(line, '=');
		if (!value)
			return error_set(reading->error, ERROR_USAGE, "%s is no KEY=VALUE", QUOTE(line));
		*value++ = '\0';
		status = read_pair(reading, line, value);
	}
	return status;
}

static int read_labels(struct reading *reading)
{
	struct page_request *request = reading->request;
	if (reading->label_count == 0)
		return 0;
	request->label_sets = calloc(reading->profile->label_set_count, sizeof(*request->label_sets));
	if (!request->label_sets)
		return error_set(reading->error, ERROR_MEMORY, "out of memory");
	return lookup_label_sets(reading->profile, reading->labels, reading->label_count, request->label_sets,
				 reading->error);
}

static bool asks_for_b(const char *text)
{
	return strncmp(text, "side=b\n", 7) == 0 || strstr(text, "\nside=b\n");
}

int page_request_read(struct page_request *request, struct profile *const profiles[2], enum page_side side,
		      const char *text, struct error *error)
{
	*request = (struct page_request){ .view.thread = VIEW_ANY,
					  .threshold = OPTIONS_THRESHOLD_DEFAULT,
					  .limit = OPTIONS_LIMIT_DEFAULT,
					  .is_b = side == PAGE_SIDE_ASKED ? asks_for_b(text) : side == PAGE_SIDE_B,
					  .text = strdup(text) };
	if (!request->text)
		return error_set(error, ERROR_MEMORY, "out of memory");
	struct reading reading = { .request = request, .profile = profiles[request->is_b], .error = error };
	int status = reading.profile ? 0 : error_set(error, ERROR_USAGE, "the page has no second profile");
	if (status == 0)
		status = read_pairs(&reading, request->text);
	if (status == 0)
		status = read_labels(&reading);
	if (status == 0)
		status = options_read_time(reading.from, reading.to, &request->view, error);
	if (status < 0) {
		page_request_release(request);
		return status;
	}
	request->view.processes = request->processes;
	request->view.label_sets = request->label_sets;
	return 0;
}

void page_request_release(struct page_request *request)
{
	free(request->text);
	free(request->processes);
	free(request->label_sets);
	*request = (struct page_request){ 0 };
}
