#include "ui/page/engine.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/quote.h"

/* The state while a request is read. */
struct reading {
	struct page_request *request;
	struct setting_text *settings; /* [setting_count]; owned */
	size_t setting_count, setting_capacity;
	struct error *error;
};

static const char **text_of(struct reading *reading, const char *key)
{
	struct page_request *request = reading->request;
	const struct {
		const char *key;
		const char **text;
	} texts[] = {
		{ "report", &request->report }, { "of", &request->of },         { "shape", &request->shape },
		{ "root", &request->root },     { "key", &request->key },       { "group", &request->group },
		{ "other", &request->other },   { "search", &request->search }, { "file", &request->file },
	};
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (strcmp(texts[i].key, key) == 0)
			return texts[i].text;
	return NULL;
}

static int add_term(struct page_request *request, const char *value, struct error *error)
{
	if (request->term_count == PAGE_TERMS_MAX)
		return error_set(error, ERROR_LIMIT, "a request has at most %d terms", PAGE_TERMS_MAX);
	request->terms[request->term_count++] = value;
	return 0;
}

static int add_setting(struct reading *reading, const struct setting *setting, const char *value)
{
	if (ARRAY_RESERVE(reading->settings, reading->setting_capacity, reading->setting_count + 1))
		return error_set(reading->error, ERROR_MEMORY, "out of memory");
	reading->settings[reading->setting_count++] = (struct setting_text){ setting, value };
	return 0;
}

static int read_pair(struct reading *reading, const char *key, const char *value)
{
	struct page_request *request = reading->request;
	const struct setting *setting = setting_of_option(key);
	const char **text = text_of(reading, key);
	if (text)
		*text = value;
	else if (strcmp(key, "has") == 0)
		return settings_read_switch(value, &request->has, reading->error);
	else if (strcmp(key, "term") == 0)
		return add_term(request, value, reading->error);
	else if (setting && !(setting->flags & SETTING_DRAWS))
		return add_setting(reading, setting, value);
	else if (strcmp(key, "side") != 0) /* is_for_side_b */
		return error_set(reading->error, ERROR_USAGE, "unknown key %s in a request", QUOTE(key));
	return 0;
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

/* The side is read before all other keys: they need its profile. */
static bool is_for_side_b(const char *text)
{
	return strncmp(text, "side=b\n", 7) == 0 || strstr(text, "\nside=b\n");
}

int page_request_read(struct page_request *request, struct profile *const profiles[2], enum page_side side,
		      const char *text, struct error *error)
{
	*request = (struct page_request){ .is_b = side == PAGE_SIDE_ASKED ? is_for_side_b(text) : side == PAGE_SIDE_B,
					  .text = strdup(text) };
	settings_init(&request->settings);
	if (!request->text)
		return error_set(error, ERROR_MEMORY, "out of memory");
	struct reading reading = { .request = request, .error = error };
	const struct profile *profile = profiles[request->is_b];
	int status = profile ? 0 : error_set(error, ERROR_USAGE, "the page has no second profile");
	if (status == 0)
		status = read_pairs(&reading, request->text);
	if (status == 0)
		status = settings_read(&request->settings, profile, reading.settings, reading.setting_count, error);
	free(reading.settings);
	if (status < 0)
		page_request_release(request);
	return status < 0 ? status : 0;
}

void page_request_release(struct page_request *request)
{
	free(request->text);
	settings_release(&request->settings);
	*request = (struct page_request){ 0 };
}
