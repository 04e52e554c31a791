#include "cmd/store_options.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buffer.h"
#include "base/memory_limit.h"
#include "cmd/message.h"
#include "cmd/progress.h"
#include "cmd/report_options.h"
#include "cmd/view_options.h"
#include "http/http.h"
#include "store/times.h"

enum { LABELS_MOST = 32 };

/* The parts of the query, by the options that make them. */
static const struct {
	const char *key;
	int options[2]; /* the second one counts with --store alone */
} parts[] = {
	{ "service", { STORE_SERVICE, STORE_SERVICE } },
	{ "host", { STORE_HOST, STORE_HOST } },
	{ "label", { STORE_LABEL, OPTION_LABEL } },
	{ "from", { STORE_FROM, OPTION_FROM } },
	{ "to", { STORE_TO, OPTION_TO } },
};

enum { PARTS = sizeof(parts) / sizeof(parts[0]), LABEL_PART = 2 };

/* --- the command line --- */

const char *store_options_named(const struct invocation *invocation)
{
	const char *url = option_value(invocation, STORE_URL);
	return url ? url : STORE_DEFAULT;
}

const char *store_options_shown(const struct invocation *invocation)
{
	static char text[512];
	return http_public_url(store_options_named(invocation), text, sizeof(text));
}

int store_options_check(const struct invocation *invocation)
{
	if (option_given(invocation, STORE_URL))
		return EXIT_DONE;
	for (size_t i = 0; i < invocation->use_count; i++) {
		const struct command_option *option = invocation->uses[i].option;
		if (option->id >= STORE_SERVICE && option->id <= STORE_TO)
			return usage_error(invocation, "--%s needs a store (--store URL)", option->name);
	}
	return EXIT_DONE;
}

void store_options_append(struct buffer *url, const char *text)
{
	for (; *text; text++) {
		if (iscntrl((unsigned char)*text) || strchr("%&?", *text))
			buffer_printf(url, "%%%02X", (unsigned char)*text);
		else
			buffer_append_byte(url, (uint8_t)*text);
	}
}

static void append_options(const struct invocation *invocation, struct buffer *url, char *mark)
{
	for (size_t i = 0; i < invocation->use_count; i++) {
		const struct option_use *use = &invocation->uses[i];
		for (size_t part = 0; part < PARTS; part++) {
			if (use->option->id != parts[part].options[0] && use->option->id != parts[part].options[1])
				continue;
			buffer_printf(url, "%c%s=", *mark, parts[part].key);
			store_options_append(url, use->value);
			*mark = '&';
		}
	}
}

char *store_options_url(const struct invocation *invocation, const char *more)
{
	return store_options_url_of(invocation, option_value(invocation, STORE_URL), more);
}

char *store_options_url_of(const struct invocation *invocation, const char *store, const char *more)
{
	struct buffer url;
	buffer_init(&url);
	if (!store_is_url(store) && !strstr(store, "://"))
		buffer_append_string(&url, "sqlite://");
	buffer_append_string(&url, store);
	char mark = strchr(store, '?') ? '&' : '?';
	append_options(invocation, &url, &mark);
	if (*more)
		buffer_printf(&url, "%c%s", mark, more);
	buffer_append_byte(&url, 0);
	if (buffer_error(&url) == 0)
		return (char *)url.bytes;
	buffer_release(&url);
	failure(invocation, "out of memory");
	return NULL;
}

/* --- the URL --- */

static int digit_of(char c)
{
	enum { TEN = 10 };
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'A' && c <= 'F' ? c - 'A' + TEN
	       : c >= 'a' && c <= 'f' ? c - 'a' + TEN
				      : -1;
}

/* Replaces %XX in place. */
static void unescape(char *text)
{
	enum { DIGIT_BITS = 4 };
	char *to = text;
	for (; *text; text++) {
		int high = *text == '%' ? digit_of(text[1]) : -1, low = high >= 0 ? digit_of(text[2]) : -1;
		*to++ = low > 0 || (low == 0 && high > 0) ? (char)(high << DIGIT_BITS | low) : *text;
		text += low > 0 || (low == 0 && high > 0) ? 2 : 0;
	}
	*to = '\0';
}

int store_label_read(char *text, struct store_label *label, struct error *error)
{
	char *mark = strchr(text, '=');
	if (!mark || mark == text)
		return error_set(error, ERROR_USAGE, "'%s' is no label (--label KEY=VALUE)", text);
	*mark = '\0';
	*label = (struct store_label){ .key = text, .value = mark + 1 };
	return 0;
}

struct query {
	struct store_selection selection;
	struct store_label labels[LABELS_MOST];
	size_t label_count;
	int64_t now_s;
};

static int take_part(struct query *query, size_t part, char *value, struct error *error)
{
	struct store_selection *selection = &query->selection;
	switch (part) {
	case 0:
		selection->service = value;
		return 0;
	case 1:
		selection->host = value;
		return 0;
	case LABEL_PART:
		if (query->label_count == LABELS_MOST)
			return error_set(error, ERROR_USAGE, "too many labels (limit %d)", LABELS_MOST);
		return store_label_read(value, &query->labels[query->label_count++], error);
	case LABEL_PART + 1:
		return store_time_read(value, query->now_s, &selection->from_unix_ns, error);
	default:
		return store_time_read(value, query->now_s, &selection->to_unix_ns, error);
	}
}

/* Reads the query in place. */
static int read_query(struct query *query, char *text, struct error *error)
{
	int status = 0;
	char *rest = text;
	for (char *word = strsep(&rest, "&"); word && *text && status == 0; word = strsep(&rest, "&")) {
		size_t part = 0, length = strcspn(word, "=");
		while (part < PARTS &&
		       (strlen(parts[part].key) != length || memcmp(parts[part].key, word, length) != 0))
			part++;
		if (part == PARTS || !word[length])
			return error_set(error, ERROR_USAGE,
					 "'%s' selects nothing of a store (service=, host=, label=KEY=, from= or to=)",
					 word);
		unescape(word + length + 1);
		status = take_part(query, part, word + length + 1, error);
	}
	query->selection.labels = (struct store_labels){ .items = query->labels, .count = query->label_count };
	if (status == 0 && query->selection.from_unix_ns >= query->selection.to_unix_ns)
		status = error_set(error, ERROR_USAGE, "the range of time is empty (--from -2h --to -1h)");
	return status;
}

/* Selects the resources of the command line alone, unless there are none of them. */
static struct profile *select_needed(struct store *store, struct store_selection *selection, struct error *error)
{
	struct profile *profile = store_select(store, selection, error);
	bool has_named = selection->resource_count == 0;
	for (size_t i = 0; profile && i < profile->resource_count && !has_named; i++)
		has_named = store_names_resource(selection, profile_string(profile, profile->resources[i].name),
						 profile_string(profile, profile->resources[i].title));
	if (!profile || has_named)
		return profile;
	profile_free(profile);
	selection->resource_count = 0;
	return store_select(store, selection, error);
}

/* `selection`: what the command needs, of all recordings and times. */
static struct profile *open_selection(char *url, const struct store_selection *selection, struct error *error)
{
	struct query query = { .selection = *selection, .now_s = time(NULL) };
	char *mark = strchr(url, '?');
	if (mark)
		*mark = '\0';
	if (mark && read_query(&query, mark + 1, error) < 0)
		return NULL;
	struct store *store = store_open(url, STORE_READ, error);
	struct profile *profile = store ? select_needed(store, &query.selection, error) : NULL;
	store_close(store);
	return profile;
}

/* Writes the resources that the command line names to `words`. Returns their number. */
static size_t named_resources(const struct invocation *invocation, const char **words)
{
	size_t count = 0;
	/* The browser begins with a resource, and shows the others on request. */
	for (size_t i = 0; i < invocation->use_count && invocation->command != &command_browse; i++)
		if (invocation->uses[i].option->id == OPTION_RESOURCE)
			words[count++] = invocation->uses[i].value;
	return count;
}

/* Returns whether the command divides hits by their recordings' services or hosts, or by the times of recordings. */
static bool wants_sources(const struct invocation *invocation)
{
	bool wants = invocation->command == &command_regress || invocation->command == &command_html;
	for (size_t i = 0; i < invocation->use_count && !wants; i++) {
		const struct option_use *use = &invocation->uses[i];
		const struct report *report = report_of_option(use->option->id);
		wants = report && (report->needs & REPORT_DIVIDES) && use->value &&
			(strcmp(use->value, "service") == 0 || strcmp(use->value, "host") == 0);
	}
	return wants;
}

struct profile *store_options_select(const struct invocation *invocation, const char *url, struct error *error)
{
	char *copy = strdup(url);
	const char **words = calloc(invocation->use_count + 1, sizeof(*words));
	struct profile *profile = NULL;
	progress_begin("reading the store", PROGRESS_AFTER_MS);
	if (copy && words) {
		const struct command *command = invocation->command;
		const struct store_selection selection = { .from_unix_ns = INT64_MIN,
							   .to_unix_ns = INT64_MAX,
							   .has_sources = wants_sources(invocation),
							   .is_sum = command->takes_sums &&
								     command->takes_sums(invocation),
							   .resources = words,
							   .resource_count = named_resources(invocation, words),
							   .memory = memory_limit() };
		profile = open_selection(copy, &selection, error);
	} else {
		error_memory(error);
	}
	progress_end();
	free(copy);
	free(words);
	return profile;
}

struct profile *store_options_open(const struct invocation *invocation, char *url)
{
	struct error error = { 0 };
	struct profile *profile = store_options_select(invocation, url, &error);
	http_hide_user(url);
	if (!profile)
		failure_of(invocation, &error);
	return profile;
}
