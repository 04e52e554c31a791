#include "cmd/view_options.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/lexical.h"
#include "analyze/lookup.h"
#include "base/quote.h"
#include "cmd/message.h"
#include "cmd/store_options.h"
#include "profile/companion.h"

int view_read_format(const char *text, enum render_format *format, struct error *error)
{
	for (size_t i = 0; render_format_word(i); i++) {
		if (strcmp(render_format_word(i), text) == 0) {
			*format = (enum render_format)i;
			return 0;
		}
	}
	char list[64];
	return error_set(error, ERROR_USAGE, "unknown format '%s' (%s)", text,
			 words_list(render_format_word, list, sizeof(list)));
}

word_at *view_option_words(int id)
{
	switch (id) {
	case OPTION_FORMAT:
		return render_format_word;
	case OPTION_BY:
		return view_by_word;
	case OPTION_KERNEL:
		return view_kernel_word;
	default:
		return NULL;
	}
}

word_at *document_option_words(int id)
{
	return id == OPTION_FORMAT ? render_document_word : NULL;
}

const struct setting *view_setting(const struct command_option *option)
{
	return option->id < OPTION_OWN ? setting_of_option(option->name) : NULL;
}

/* Returns the setting of an option of this command line, or NULL. A store has selected by the times already. */
static const struct setting *used_setting(const struct invocation *invocation, size_t use)
{
	const struct setting *setting = view_setting(invocation->uses[use].option);
	bool is_done = setting && setting->bit == SETTING_TIME && option_given(invocation, STORE_URL);
	return is_done ? NULL : setting;
}

bool view_takes_sums(const struct invocation *invocation)
{
	bool takes = true;
	for (size_t i = 0; i < invocation->use_count; i++) {
		const struct setting *setting = used_setting(invocation, i);
		takes = takes && !(setting && (setting->bit & SETTING_HITS & ~SETTING_LABEL));
	}
	return takes;
}

/* Reads the settings of the command line. */
static int read_settings(struct view_request *request, const struct invocation *invocation,
			 const struct profile *profile, struct error *error)
{
	struct setting_text *texts = calloc(invocation->use_count + 1, sizeof(*texts));
	size_t count = 0;
	for (size_t i = 0; texts && i < invocation->use_count; i++) {
		const struct option_use *use = &invocation->uses[i];
		const struct setting *setting = used_setting(invocation, i);
		if (setting)
			texts[count++] = (struct setting_text){ setting, use->option->value ? use->value : "on" };
	}
	int result = texts ? settings_read(&request->settings, profile, texts, count, error)
			   : error_set(error, ERROR_MEMORY, "out of memory");
	free(texts);
	return result;
}

/* A selection that begins behind the recording is empty. Tables in CSV and JSON do not show the reason. */
static void warn_of_empty_range(const struct view_request *request, const struct invocation *invocation,
				const struct profile *profile)
{
	const double ns_per_s = 1e9;
	uint64_t duration_ns = profile_duration_ns(profile);
	if (request->settings.view.from_ns > 0 && request->settings.view.from_ns >= duration_ns)
		warning(invocation, "--from %s selects nothing: the recording lasts %g s",
			option_value(invocation, OPTION_FROM), (double)duration_ns / ns_per_s);
}

/* Writes the options that select and change call paths, as they were given. Those that select from a store are in the URL. */
static int describe_selection(struct view_request *request, const struct invocation *invocation, struct error *error)
{
	struct buffer *text = &request->selection;
	for (size_t i = 0; i < invocation->use_count; i++) {
		const struct option_use *use = &invocation->uses[i];
		int id = use->option->id;
		bool is_in_url = id == OPTION_LABEL || id == OPTION_FROM || id == OPTION_TO;
		if (id < OPTION_THREAD || id > OPTION_TRANSFORM || (is_in_url && option_given(invocation, STORE_URL)))
			continue;
		buffer_printf(text, " --%s", use->option->name);
		if (use->value) {
			buffer_append_byte(text, ' ');
			quote_for_shell(text, use->value);
		}
	}
	buffer_append_byte(text, '\0');
	request->render.selection = (const char *)text->bytes;
	return buffer_error(text) < 0 ? error_set(error, ERROR_MEMORY, "out of memory") : 0;
}

int view_request_init(struct view_request *request, const struct invocation *invocation, const struct profile *profile,
		      struct error *error)
{
	const char *format = option_value(invocation, OPTION_FORMAT);
	*request = (struct view_request){ .render = { .colour = wants_colour(),
						      .columns = terminal_columns(),
						      .lines = terminal_lines(),
						      .hint = "--threshold 0 --limit 0 shows all" } };
	settings_init(&request->settings);
	buffer_init(&request->selection);
	int result = format ? view_read_format(format, &request->render.format, error) : 0;
	if (result == 0)
		result = read_settings(request, invocation, profile, error);
	if (result == 0)
		result = describe_selection(request, invocation, error);
	if (result == 0 && profile && request->settings.resource_count == 0)
		result = setting_read(&settings_table[0], &request->settings, profile, NULL, 0, error);
	if (result == 0 && profile && request->settings.resource_count == 0)
		result = lookup_no_resources(error);
	request->render.threshold = request->settings.threshold;
	request->render.limit = request->settings.limit;
	if (request->settings.is_long)
		request->render.columns = 0;
	if (result < 0)
		view_request_release(request);
	else if (profile)
		warn_of_empty_range(request, invocation, profile);
	return result;
}

void view_request_release(struct view_request *request)
{
	settings_release(&request->settings);
	buffer_release(&request->selection);
	*request = (struct view_request){ 0 };
}

int view_make_lexical(struct invocation *invocation)
{
	int64_t moved = lexical_has_pairs(invocation->profile) ? lexical_paths(invocation->profile) : ERROR_NOT_FOUND;
	if (moved == ERROR_NOT_FOUND)
		return failure(
			invocation,
			"cannot use --lexical: the profile does not record where addresses of functions are "
			"taken (compile with cpprof cc, and record with --instrumented), and no function is nested "
			"in another one");
	return moved < 0 ? failure(invocation, "%s", error_text((int)moved)) : EXIT_DONE;
}
