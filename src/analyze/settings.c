#include "analyze/settings.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/lookup.h"
#include "base/quote.h"
#include "base/time_unit.h"
#include "base/whole_number.h"
#include "profile/companion.h"

/* One setting that is read or shown. */
struct setting_use {
	const struct setting *setting;
	struct settings *settings;
	const struct profile *profile;
	const char *const *values; /* [count]; one at most, unless SETTING_REPEATS */
	size_t count;              /* 0: the setting is reset */
	bool is_option;            /* it is named by its option, not by its command */
	struct error *error;
	struct buffer *text; /* for show */
};

/* --- words --- */

const char *view_by_word(size_t by)
{
	static const char *const names[] = {
		[VIEW_FUNCTION] = "function", [VIEW_CALLSITE] = "callsite", [VIEW_LINE] = "line",
		[VIEW_MODULE] = "module",     [VIEW_GROUP] = "group",
	};
	return by < sizeof(names) / sizeof(names[0]) ? names[by] : NULL;
}

const char *view_kernel_word(size_t kernel)
{
	static const char *const names[] = {
		[VIEW_KERNEL_SHOW] = "show", [VIEW_KERNEL_HIDE] = "hide", [VIEW_KERNEL_ONLY] = "only"
	};
	return kernel < sizeof(names) / sizeof(names[0]) ? names[kernel] : NULL;
}

static const char *switch_word(size_t index)
{
	static const char *const names[] = { "on", "off", NULL };
	return names[index];
}

/* Returns the row's enum. */
static unsigned *word_of(const struct setting_use *use)
{
	_Static_assert(sizeof(enum view_by) == sizeof(unsigned) && sizeof(enum view_kernel) == sizeof(unsigned), "");
	return (unsigned *)((char *)use->settings + use->setting->member);
}

/* Reads the first word that begins with the value. */
static int read_word(const struct setting_use *use)
{
	word_at *words = use->setting->words;
	const char *text = use->count ? use->values[0] : words(0);
	for (unsigned i = 0; words(i); i++) {
		if (*text && strncmp(words(i), text, strlen(text)) == 0) {
			*word_of(use) = i;
			return 0;
		}
	}
	char list[128];
	return error_set(use->error, ERROR_USAGE, "unknown %s %s (%s)", use->setting->kind_of_word, QUOTE(text),
			 words_list(words, list, sizeof(list)));
}

static void show_word(const struct setting_use *use)
{
	buffer_append_string(use->text, use->setting->words(*word_of(use)));
}

int settings_read_switch(const char *text, bool *on, struct error *error)
{
	static const char *const words[][2] = { { "off", "on" }, { "no", "yes" }, { "0", "1" } };
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		for (int value = 0; value < 2; value++) {
			if (strcmp(text, words[i][value]) == 0) {
				*on = value;
				return 0;
			}
		}
	}
	return error_set(error, ERROR_USAGE, "%s is not a switch (on or off)", QUOTE(text));
}

static bool *switch_of(const struct setting_use *use)
{
	return (bool *)((char *)use->settings + use->setting->member);
}

static int read_switch(const struct setting_use *use)
{
	bool on = false, inverts = !use->is_option && use->setting->flags & SETTING_INVERTS;
	if (use->count && settings_read_switch(use->values[0], &on, use->error) < 0)
		return ERROR_USAGE;
	*switch_of(use) = use->count && on != inverts;
	return 0;
}

static void show_switch(const struct setting_use *use)
{
	bool inverts = use->setting->flags & SETTING_INVERTS;
	buffer_append_string(use->text, *switch_of(use) != inverts ? "on" : "off");
}

/* --- numbers --- */

/* Reads a plain decimal number that is not negative, and sets *end behind it. strtod alone would also accept "nan",
 * "inf", "0x1" and "-1". */
static bool number_read(const char *text, double *number, const char **end)
{
	size_t digits = strspn(text, "0123456789.");
	if (!digits || (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')))
		return false;
	char *stop;
	*number = strtod(text, &stop);
	*end = stop;
	return stop != text && isfinite(*number);
}

/* Reads "0.5" or "50%". */
static bool fraction_read(const char *text, double *fraction)
{
	const char *end;
	double number;
	if (!number_read(text, &number, &end))
		return false;
	if (*end == '%') {
		number /= 100;
		end++;
	}
	*fraction = number;
	return *end == '\0';
}

int settings_read_fraction(const char *text, double *fraction)
{
	double number;
	if (!fraction_read(text, &number))
		return ERROR_USAGE;
	*fraction = number;
	return 0;
}

static int read_threshold(const struct setting_use *use)
{
	const char *text = use->count ? use->values[0] : "0.005";
	double fraction;
	if (!fraction_read(text, &fraction) || fraction > 1)
		return error_set(use->error, ERROR_USAGE, "threshold %s is not a fraction from 0 to 1 (as 0.01 or 1%%)",
				 QUOTE(text));
	use->settings->threshold = fraction;
	return 0;
}

static void show_threshold(const struct setting_use *use)
{
	buffer_printf(use->text, "%g", use->settings->threshold);
}

static int read_spread(const struct setting_use *use)
{
	const char *text = use->count ? use->values[0] : "0.05";
	double fraction;
	if (!fraction_read(text, &fraction) || fraction > 1)
		return error_set(use->error, ERROR_USAGE, "spread %s is not a fraction from 0 to 1 (as 0.05 or 5%%)",
				 QUOTE(text));
	use->settings->spread = fraction;
	return 0;
}

static int read_limit(const struct setting_use *use)
{
	const char *text = use->count ? use->values[0] : "40";
	uint64_t count;
	if (!whole_number_read(text, &count))
		return error_set(use->error, ERROR_USAGE, "limit %s is not a number of entries (0: all)", QUOTE(text));
	use->settings->limit = (size_t)count;
	return 0;
}

static void show_limit(const struct setting_use *use)
{
	buffer_printf(use->text, use->settings->limit ? "%zu" : "%zu (all)", use->settings->limit);
}

static int read_seconds(const char *text, uint64_t *ns, struct error *error)
{
	const char *end;
	double number;
	if (!*text)
		return error_set(error, ERROR_USAGE, "missing time in seconds (as 1.5 or 200ms)");
	if (number_read(text, &number, &end)) {
		const double unit_ns = (double)time_unit_ns(*end ? end : "s");
		if (unit_ns > 0 && number * unit_ns < 9e18) {
			*ns = (uint64_t)llround(number * unit_ns);
			return 0;
		}
	}
	return error_set(error, ERROR_USAGE, "%s is not a time in seconds (as 1.5 or 200ms)", QUOTE(text));
}

static int read_from(const struct setting_use *use)
{
	use->settings->view.from_ns = 0;
	return use->count ? read_seconds(use->values[0], &use->settings->view.from_ns, use->error) : 0;
}

/* The start of the range was read before. */
static int read_to(const struct setting_use *use)
{
	struct view_options *view = &use->settings->view;
	uint64_t to_ns = 0;
	int status = use->count ? read_seconds(use->values[0], &to_ns, use->error) : 0;
	if (status == 0 && use->count && to_ns <= view->from_ns)
		status = error_set(use->error, ERROR_USAGE,
				   "the time range from %g s to %g s is empty (its end comes after its start)",
				   (double)view->from_ns / 1e9, (double)to_ns / 1e9);
	if (status == 0)
		view->to_ns = to_ns;
	return status;
}

int settings_read_time(const char *from, const char *to, struct view_options *view, struct error *error)
{
	struct settings settings = { 0 };
	struct setting_use start = { .settings = &settings, .values = &from, .count = from && *from, .error = error };
	struct setting_use end = { .settings = &settings, .values = &to, .count = to && *to, .error = error };
	int status = read_from(&start);
	if (status == 0)
		status = read_to(&end);
	if (status == 0) {
		view->from_ns = settings.view.from_ns;
		view->to_ns = settings.view.to_ns;
	}
	return status;
}

static int read_time(const struct setting_use *use)
{
	if (use->count != 0 && use->count != 2)
		return error_set(use->error, ERROR_USAGE, "time takes FROM and TO in seconds, or 'all'");
	const char *from = use->count ? use->values[0] : NULL, *to = use->count ? use->values[1] : NULL;
	return settings_read_time(from, to && strcmp(to, "end") == 0 ? NULL : to, &use->settings->view, use->error);
}

static void show_time(const struct setting_use *use)
{
	const struct view_options *view = &use->settings->view;
	const double from_s = (double)view->from_ns / 1e9, to_s = (double)view->to_ns / 1e9;
	if (view->to_ns)
		buffer_printf(use->text, "%g s to %g s", from_s, to_s);
	else if (view->from_ns)
		buffer_printf(use->text, "%g s to the end", from_s);
	else
		buffer_append_string(use->text, "all");
}

/* --- rows of the profile --- */

static const char *resource_name(const struct profile *profile, size_t index)
{
	return index < profile->resource_count ? profile_string(profile, profile->resources[index].name) : NULL;
}

static const char *thread_name(const struct profile *profile, size_t index)
{
	return index < profile->thread_count ? profile_string(profile, profile->threads[index].name) : NULL;
}

static const char *process_name(const struct profile *profile, size_t index)
{
	return index < profile->process_count ? profile_string(profile, profile->processes[index].name) : NULL;
}

int settings_choose(struct settings *settings, const uint32_t *resources, size_t count, struct error *error)
{
	uint32_t *copy = malloc((count ? count : 1) * sizeof(*copy));
	if (!copy)
		return error_set(error, ERROR_MEMORY, "out of memory");
	memcpy(copy, resources, count * sizeof(*copy));
	free(settings->resources);
	settings->resources = copy;
	settings->resource_count = count;
	settings->view.resource = count ? copy[0] : 0;
	return 0;
}

/* Appends the resource that the text means, unless it is chosen already; NULL: all that are no companions. */
static int add_resources(const struct profile *profile, const char *text, uint32_t *chosen, size_t *count,
			 struct error *error)
{
	uint32_t wanted = 0;
	int status = text ? lookup_resource(profile, text, &wanted, error) : 0;
	for (uint32_t i = 0; i < profile->resource_count && status == 0; i++) {
		bool is_new = text ? i == wanted : !companion_is(profile, i);
		for (size_t k = 0; k < *count && is_new; k++)
			is_new = chosen[k] != i;
		if (is_new)
			chosen[(*count)++] = i;
	}
	return status;
}

static int read_resources(const struct setting_use *use)
{
	uint32_t *chosen = calloc(use->profile->resource_count + 1, sizeof(*chosen));
	size_t count = 0;
	int status = chosen ? 0 : error_set(use->error, ERROR_MEMORY, "out of memory");
	for (size_t i = 0; i < use->count && status == 0; i++) {
		bool all = !use->is_option && strcmp(use->values[i], "all") == 0;
		status = add_resources(use->profile, all ? NULL : use->values[i], chosen, &count, use->error);
	}
	if (status == 0 && use->count == 0)
		status = add_resources(use->profile, NULL, chosen, &count, use->error);
	if (status == 0)
		status = settings_choose(use->settings, chosen, count, use->error);
	free(chosen);
	return status;
}

static int read_thread(const struct setting_use *use)
{
	return lookup_thread(use->profile, use->count ? use->values[0] : "all", &use->settings->view.thread,
			     use->error);
}

/* Appends "4711 (worker)", or "all" if `name` is NULL. */
static void show_row(struct buffer *text, uint32_t number, const char *name)
{
	if (name)
		buffer_printf(text, "%" PRIu32 " (%s)", number, name);
	else
		buffer_append_string(text, "all");
}

static void show_thread(const struct setting_use *use)
{
	uint32_t index = use->settings->view.thread;
	show_row(use->text, index == VIEW_ANY ? 0 : use->profile->threads[index].tid,
		 index == VIEW_ANY ? NULL : thread_name(use->profile, index));
}

typedef int choose_processes(const struct profile *profile, const char *text, bool *chosen, struct error *error);

static int read_rows(const struct setting_use *use, choose_processes *choose)
{
	struct settings *settings = use->settings;
	const struct profile *profile = use->profile;
	bool narrows = use->is_option && settings->processes, any = false;
	bool *chosen = use->count ? calloc(profile->process_count + 1, sizeof(*chosen)) : NULL;
	int status = use->count && !chosen ? error_set(use->error, ERROR_MEMORY, "out of memory") : 0;
	for (size_t i = 0; i < use->count && status == 0; i++)
		status = choose(profile, use->values[i], chosen, use->error);
	for (size_t i = 0; i < profile->process_count && narrows && status == 0; i++) {
		chosen[i] = chosen[i] && settings->processes[i];
		any = any || chosen[i];
	}
	if (status == 0 && narrows && !any)
		status = error_set(use->error, ERROR_NOT_FOUND, "no selected process is in that control group");
	if (status) {
		free(chosen);
		return status;
	}
	free(settings->processes);
	settings->view.processes = settings->processes = chosen;
	return 0;
}

static int read_processes(const struct setting_use *use)
{
	return read_rows(use, lookup_process);
}

static int read_cgroups(const struct setting_use *use)
{
	return read_rows(use, lookup_cgroup);
}

static void show_processes(const struct setting_use *use)
{
	const struct profile *profile = use->profile;
	size_t count = 0, last = 0;
	for (size_t i = 0; use->settings->processes && i < profile->process_count; i++) {
		count += use->settings->processes[i];
		last = use->settings->processes[i] ? i : last;
	}
	if (count > 1)
		buffer_printf(use->text, "%zu of %zu", count, profile->process_count);
	else
		show_row(use->text, count ? profile->processes[last].pid : 0,
			 count ? process_name(profile, last) : NULL);
}

static int read_labels(const struct setting_use *use)
{
	struct settings *settings = use->settings;
	const struct profile *profile = use->profile;
	bool *chosen = use->count ? calloc(profile->label_set_count, sizeof(*chosen)) : NULL;
	struct buffer texts;
	buffer_init(&texts);
	for (size_t i = 0; i < use->count; i++)
		buffer_printf(&texts, strchr(use->values[i], ' ') ? "%s'%s'" : "%s%s", i ? " " : "", use->values[i]);
	buffer_append_byte(&texts, 0);
	int status = buffer_error(&texts) || (use->count && !chosen)
			     ? error_set(use->error, ERROR_MEMORY, "out of memory")
			     : 0;
	if (status == 0 && use->count)
		status = lookup_label_sets(profile, use->values, use->count, chosen, use->error);
	if (status || !use->count)
		buffer_release(&texts);
	if (status) {
		free(chosen);
		return status;
	}
	free(settings->label_sets);
	free(settings->label_texts);
	settings->view.label_sets = settings->label_sets = chosen;
	settings->label_texts = chosen ? (char *)texts.bytes : NULL;
	return 0;
}

static void show_labels(const struct setting_use *use)
{
	buffer_append_string(use->text, use->settings->label_texts ? use->settings->label_texts : "all");
}

/* --- transforms --- */

/* Takes a list in place of the present one. */
static void take_transforms(struct settings *settings, struct transforms *list)
{
	transforms_free(settings->transforms);
	settings->view.transforms = settings->transforms = list;
}

/* Looks up the functions of the list now, so that a command of a session fails, and not every report after it. */
static int try_transforms(const struct setting_use *use, struct transforms *list)
{
	struct view_options options = use->settings->view;
	struct transformed *transformed;
	options.transforms = list;
	int status = transformed_get(use->profile, &options, &transformed, use->error);
	transformed_drop(transformed); /* the list holds it, too */
	return status;
}

static int read_transforms(const struct setting_use *use)
{
	struct transforms *list = use->count ? transforms_new() : NULL;
	int status = use->count && !list ? error_set(use->error, ERROR_MEMORY, "out of memory") : 0;
	for (size_t i = 0; i < use->count && status == 0; i++)
		status = transforms_add(list, use->values[i], use->error);
	if (status == 0 && list && !use->is_option)
		status = try_transforms(use, list);
	if (status < 0)
		transforms_free(list);
	else
		take_transforms(use->settings, list);
	return status;
}

static void show_transforms(const struct setting_use *use)
{
	if (use->settings->transforms)
		transforms_show(use->settings->transforms, use->text);
	else
		buffer_append_string(use->text, "none");
}

/* --- the table --- */

#define SWITCH(name)                                                                                                   \
	.arguments = "[on|off]", .words = switch_word, .member = offsetof(struct settings, name), .read = read_switch, \
	.show = show_switch
#define WORD(name, list) .words = list, .member = offsetof(struct settings, name), .read = read_word, .show = show_word

const struct setting settings_table[] = {
	{ .option = "resource",
	  .command = "resource",
	  .bit = SETTING_RESOURCE,
	  .arguments = "[NAME...|all]",
	  .summary = "the resources; or those to report on",
	  .detail = "With several chosen, each report is printed once for each of them.\n",
	  .row_name = resource_name,
	  .flags = SETTING_REPEATS | SETTING_SPLITS,
	  .read = read_resources },
	{ .option = "threshold",
	  .command = "threshold",
	  .bit = SETTING_THRESHOLD,
	  .arguments = "[FRACTION]",
	  .summary = "show only entries that reach this usage fraction",
	  .detail = "As '0.01' or '1%'; 0 shows everything.\n",
	  .read = read_threshold,
	  .show = show_threshold },
	{ .option = "limit",
	  .command = "limit",
	  .bit = SETTING_LIMIT,
	  .arguments = "[N]",
	  .summary = "show at most so many entries",
	  .detail = "0 shows all.\n",
	  .read = read_limit,
	  .show = show_limit },
	{ .option = "zeros",
	  .command = "zeros",
	  .bit = SETTING_ZEROS,
	  .summary = "list paths and functions without hits, too",
	  .detail = "They have hits of another resource, or call functions that have. The threshold does\n"
		    "not apply: a list has all its rows, up to the limit.\n",
	  SWITCH(view.zeros) },
	{ .option = "by",
	  .command = "by",
	  .bit = SETTING_BY,
	  .arguments = "[KIND]",
	  .summary = "show frames by function, callsite, line, module or group",
	  .kind_of_word = "kind of frame",
	  WORD(view.by, view_by_word) },
	{ .option = "thread",
	  .command = "thread",
	  .bit = SETTING_THREAD,
	  .arguments = "[TID|NAME|all]",
	  .summary = "select one thread",
	  .row_name = thread_name,
	  .read = read_thread,
	  .show = show_thread },
	{ .option = "process",
	  .command = "process",
	  .bit = SETTING_PROCESS,
	  .arguments = "[PID|NAME|NAME+|all]",
	  .summary = "select one process, or those of one name, + with all that they started",
	  .row_name = process_name,
	  .flags = SETTING_REPEATS,
	  .read = read_processes,
	  .show = show_processes },
	{ .option = "cgroup",
	  .command = "cgroup",
	  .bit = SETTING_CGROUP,
	  .shown_as = "process",
	  .arguments = "[PATTERN|all]",
	  .summary = "select the processes of control groups",
	  .detail = "A path, with all below it, or a pattern: 'cgroup /system.slice', 'cgroup *docker*'.\n",
	  .flags = SETTING_REPEATS,
	  .read = read_cgroups,
	  .show = show_processes },
	{ .option = "label",
	  .command = "label",
	  .bit = SETTING_LABEL,
	  .arguments = "[KEY=VALUE...|all]",
	  .summary = "select the hits with these labels",
	  .detail = "As the program set them: 'label tenant=acme kind=new'; 'label tenant' is any tenant. Of\n"
		    "several values of one key any will do, of several keys all must hold.\n",
	  .flags = SETTING_REPEATS | SETTING_SPLITS,
	  .read = read_labels,
	  .show = show_labels },
	{ .command = "time",
	  .bit = SETTING_TIME,
	  .arguments = "[FROM TO|all]",
	  .summary = "select a range of seconds",
	  .detail = "Seconds since the recording began: 'time 1.5 2', 'time 200ms end'.\n",
	  .flags = SETTING_REPEATS | SETTING_SPLITS,
	  .read = read_time,
	  .show = show_time },
	{ .option = "no-inlines",
	  .command = "inlines",
	  .bit = SETTING_FRAMES,
	  .summary = "inlined functions as frames of their own, or not",
	  .flags = SETTING_INVERTS,
	  SWITCH(view.no_inlines) },
	{ .option = "kernel",
	  .command = "kernel",
	  .bit = SETTING_FRAMES,
	  .arguments = "[show|hide|only]",
	  .summary = "show the kernel's functions, leave them out, or show nothing else",
	  .kind_of_word = "way to show the kernel",
	  WORD(view.kernel, view_kernel_word) },
	{ .option = "untrimmed",
	  .command = "trim",
	  .bit = SETTING_FRAMES,
	  .summary = "leave out the frames of the C library above main",
	  .flags = SETTING_INVERTS,
	  SWITCH(view.untrimmed) },
	{ .option = "native-frames",
	  .command = "native",
	  .bit = SETTING_FRAMES,
	  .summary = "show the interpreter's own frames above the functions that it interprets",
	  SWITCH(view.native_frames) },
	{ .option = "no-tail-calls",
	  .command = "tails",
	  .bit = SETTING_FRAMES,
	  .summary = "functions that tail calls removed from stacks, where they were found",
	  .flags = SETTING_INVERTS,
	  SWITCH(view.no_tail_calls) },
	{ .option = "no-stitch",
	  .command = "stitch",
	  .bit = SETTING_FRAMES,
	  .summary = "threads below the path that started them, or apart",
	  .flags = SETTING_INVERTS,
	  SWITCH(view.no_stitch) },
	{ .option = "transform",
	  .command = "transform",
	  .bit = SETTING_TRANSFORM,
	  .arguments = "[KIND=FUNCTION...|all]",
	  .summary = "change the call paths: focus, path, drop, merge, above, collapse",
	  .detail = "In this order, before all else; 'all' shows the paths as they were recorded.\n"
		    "  focus=F     count only hits with F; paths begin at it\n"
		    "  path=F;G    count only hits whose paths begin with F, G; they begin at G\n"
		    "  drop=F      count only hits without F\n"
		    "  merge=F     leave F out; its own hits are its caller's\n"
		    "  above=F     leave out what is above F\n"
		    "  collapse=F  show F once where it is recursive\n",
	  .flags = SETTING_REPEATS | SETTING_SPLITS,
	  .read = read_transforms,
	  .show = show_transforms },
	{ .option = "long",
	  .command = "long",
	  .summary = "on a terminal: names in full, a row for each frame",
	  .flags = SETTING_DRAWS,
	  SWITCH(is_long) },
	{ .option = "spread", .read = read_spread },
	{ .option = "from", .bit = SETTING_TIME, .read = read_from },
	{ .option = "to", .bit = SETTING_TIME, .read = read_to },
	{ 0 },
};

const struct setting *setting_of_command(const char *command)
{
	for (const struct setting *setting = settings_table; setting->command; setting++)
		if (strcmp(setting->command, command) == 0)
			return setting;
	return NULL;
}

const struct setting *setting_of_option(const char *option)
{
	for (const struct setting *setting = settings_table; setting->read; setting++) {
		const char *name = setting->option, *text = option;
		while (name && *name && (*name == *text || (*name == '-' && *text == '_')))
			name++, text++;
		if (name && !*name && !*text)
			return setting;
	}
	return NULL;
}

/* --- reading --- */

void settings_init(struct settings *settings)
{
	*settings = (struct settings){ .view = { .thread = VIEW_ANY } };
	setting_read(setting_of_command("threshold"), settings, NULL, NULL, 0, NULL);
	setting_read(setting_of_command("limit"), settings, NULL, NULL, 0, NULL);
	setting_read(setting_of_option("spread"), settings, NULL, NULL, 0, NULL);
}

void settings_release(struct settings *settings)
{
	free(settings->processes);
	free(settings->label_sets);
	free(settings->label_texts);
	free(settings->resources);
	transforms_free(settings->transforms);
	*settings = (struct settings){ 0 };
}

int setting_read(const struct setting *setting, struct settings *settings, const struct profile *profile,
		 const char *const *values, size_t count, struct error *error)
{
	return setting->read(&(struct setting_use){ setting, settings, profile, values, count, .error = error });
}

void setting_show(const struct setting *setting, struct settings *settings, const struct profile *profile,
		  struct buffer *text)
{
	setting->show(&(struct setting_use){ setting, settings, profile, .text = text });
}

int settings_read(struct settings *settings, const struct profile *profile, const struct setting_text *texts,
		  size_t count, struct error *error)
{
	const char **values = calloc(count + 1, sizeof(*values));
	int status = values ? 0 : error_set(error, ERROR_MEMORY, "out of memory");
	for (const struct setting *setting = settings_table; setting->read && status == 0; setting++) {
		size_t found = 0;
		for (size_t i = 0; i < count; i++)
			if (texts[i].setting == setting)
				values[found++] = texts[i].text;
		size_t step = setting->flags & SETTING_REPEATS ? found : 1;
		for (size_t i = 0; i < found && status == 0; i += step)
			status = setting->read(&(struct setting_use){ setting, settings, profile, values + i, step,
								      .is_option = true, .error = error });
	}
	free(values);
	return status;
}
