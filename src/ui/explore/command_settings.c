/* Commands that change a setting (analyze/settings.h). They print its value, with arguments after the change. */
#include <stdlib.h>
#include <string.h>

#include "analyze/settings.h"
#include "base/quote.h"
#include "ui/explore/command.h"
#include "ui/explore/words.h"

static bool is_chosen(const struct settings *settings, uint32_t resource)
{
	for (size_t i = 0; i < settings->resource_count; i++)
		if (settings->resources[i] == resource)
			return true;
	return false;
}

/* Prints all resources and marks the chosen resources. */
static int show_resources(struct session *session, FILE *out, struct error *error)
{
	const struct profile *profile = session->profile;
	uint64_t *totals = totals_new(profile, error);
	if (!totals)
		return error->code;
	for (uint32_t i = 0; i < profile->resource_count; i++) {
		const struct profile_resource *resource = &profile->resources[i];
		fputs(is_chosen(&session->settings, i) ? "* " : "  ", out);
		render_safe_text(out, profile_string(profile, resource->name));
		fputs(" (", out);
		render_safe_text(out, profile_string(profile, resource->title));
		fputs("), ", out);
		totals_print(out, profile, i, totals[i]);
		if (resource_has_samples(resource)) {
			char interval[64];
			render_interval(interval, sizeof(interval), resource->interval,
					profile_string(profile, resource->unit));
			fprintf(out, ", one every %s", interval);
		}
		const char *note = profile_string(profile, resource->note);
		if (*note) {
			fputs(", ", out);
			render_safe_text(out, note);
		}
		fputc('\n', out);
	}
	free(totals);
	return 0;
}

static int compare_resources(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	return a < b ? -1 : a > b;
}

static int change(struct session *session, const struct setting *setting, const char *arguments, struct error *error)
{
	struct words words;
	bool splits = setting->flags & SETTING_SPLITS;
	int status = splits ? words_split(&words, arguments, error) : words_unquote(&words, arguments, error);
	if (status)
		return status;
	bool resets = setting->flags & SETTING_REPEATS && words.count == 1 && strcmp(words.items[0], "all") == 0;
	status = setting_read(setting, &session->settings, session->profile, (const char *const *)words.items,
			      resets ? 0 : words.count, error);
	words_release(&words);
	if (status == 0 && !setting->show) {
		session->resources_named = true;
		qsort(session->settings.resources, session->settings.resource_count, sizeof(uint32_t),
		      compare_resources);
	}
	return status;
}

int explore_setting_run(const struct explore_command *command, struct session *session, const char *arguments,
			FILE *out, struct error *error)
{
	const struct setting *setting = command->setting;
	struct buffer text;
	int status = *arguments ? change(session, setting, arguments, error) : 0;
	if (status)
		return status;
	if (!setting->show)
		return show_resources(session, out, error);
	buffer_init(&text);
	setting_show(setting, &session->settings, session->profile, &text);
	buffer_append_byte(&text, 0);
	fprintf(out, "%s: ", setting->shown_as ? setting->shown_as : setting->command);
	render_safe_text(out, buffer_error(&text) ? "?" : (const char *)text.bytes);
	fputc('\n', out);
	buffer_release(&text);
	return 0;
}
