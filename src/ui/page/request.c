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
	else if (strcmp(key, "side") != 0) /* side_of */
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

/* Returns the value of the key `side`, which ends at a line's end; "a\n" by default. It is read before all other keys, which need its
 * profile. */
static const char *side_of(const char *text)
{
	static const char key[] = "side=";
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, strlen(key)) == 0)
			return line + strlen(key);
	}
	return "a\n";
}

/* Returns the profile of "b", or of "b2"; NULL: there is none. */
static const struct profile *profile_of_side(const struct engine *engine, const char *side)
{
	enum diff_sides of = *side == 'b' ? DIFF_B : DIFF_A;
	size_t number = 1, digits = strspn(side + 1, "0123456789"), most = engine->counts[of];
	if ((*side != 'a' && *side != 'b') || (side[1 + digits] && side[1 + digits] != '\n'))
		return NULL;
	if (digits > 0)
		number = strtoul(side + 1, NULL, 10);
	return number > 0 && number <= most ? engine->profiles[(of == DIFF_B ? engine->counts[DIFF_A] : 0) + number - 1]
					    : NULL;
}

int page_request_read(struct page_request *request, const struct engine *engine, const struct profile *profile,
		      const char *text, struct error *error)
{
	const char *side = side_of(text);
	*request = (struct page_request){ .profile = profile ? profile : profile_of_side(engine, side),
					  .text = strdup(text) };
	settings_init(&request->settings);
	if (!request->text)
		return error_set(error, ERROR_MEMORY, "out of memory");
	struct reading reading = { .request = request, .error = error };
	int status = request->profile ? 0
				      : error_set(error, ERROR_USAGE, "the page has no profile %.*s",
						  (int)strcspn(side, "\n"), side);
	if (status == 0)
		status = read_pairs(&reading, request->text);
	if (status == 0)
		status = settings_read(&request->settings, request->profile, reading.settings, reading.setting_count,
				       error);
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
