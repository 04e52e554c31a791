/* Prints the next commands of the summary: a table of conditions, the most urgent first. Each row looks at the profile and prints a command, or
 * nothing. */
#include "reports/summary.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/kernel_work.h"
#include "analyze/short_names.h"
#include "base/line_wrap.h"
#include "base/quote.h"
#include "profile/findings.h"
#include "profile/generated_code.h"
#include "profile/nameless.h"
#include "profile/quality.h"
#include "profile/runtimes.h"
#include "render/emit.h"
#include "render/info.h"

enum { WORD_COLUMNS = 48, WHY_BYTES = 200 };

/* From these shares on, a command is proposed. */
#define SHARE_LOST 0.01
#define SHARE_BROKEN 0.05
#define SHARE_SYSTEM 0.3
#define SHARE_READY 0.05
#define SHARE_COMPUTING 0.5 /* below: the program waits */

static const double HUNDRED = 100;

struct advice {
	FILE *out;
	const struct result *result;
	const struct render_options *options;
	const char *separator; /* between a command and its reason */
	uint32_t *label;       /* set to the function that the command is about */
};

/* A command that fits this profile. Prints nothing and returns false if it does not fit. */
typedef bool suggestion(const struct advice *advice);

static bool is_warm(const struct advice *advice, uint64_t hits)
{
	return fraction_of(hits, advice->result->view->total) >= RENDER_SHARE_WARM;
}

/* --- commands --- */

/* Returns whether a reader can see and type each character of a word. */
static bool is_typable(const char *word)
{
	for (const char *at = word; *at; at++)
		if ((unsigned char)*at < ' ' || (unsigned char)*at >= 0x7f)
			return false;
	return true;
}

/* Prints the reason behind a command. */
static void print_why(const struct advice *advice, const char *why)
{
	fputs(advice->separator, advice->out);
	render_safe_text(advice->out, why);
	fputc('\n', advice->out);
}

/* Prints "  cpprof WORDS NAME SELECTION FILE   why". `name` and `selection` may be NULL. */
static void print_words(const struct advice *advice, const char *words, const char *name, const char *selection,
			const char *why)
{
	const char *file = advice->options->file;
	struct buffer line;
	buffer_init(&line);
	buffer_printf(&line, "  cpprof %s%s", words, name ? " " : "");
	if (name)
		quote_for_shell(&line, name);
	if (selection && is_typable(selection))
		buffer_append_string(&line, selection);
	if (file)
		buffer_append_byte(&line, ' ');
	if (file && strcmp(file, "-") != 0 && is_typable(file))
		quote_for_shell(&line, file);
	else if (file)
		buffer_append_string(&line, "FILE");
	if (buffer_error(&line) < 0)
		render_failed(advice->options);
	else
		fwrite(line.bytes, 1, line.size, advice->out);
	buffer_release(&line);
	print_why(advice, why);
}

/* Prints a command that shows the whole recording. */
static void print_command(const struct advice *advice, const char *words, const char *why)
{
	print_words(advice, words, NULL, NULL, why);
}

/* Prints a command that shows what the summary shows, of its selection. */
static void print_view(const struct advice *advice, const char *words, const char *name, const char *why)
{
	print_words(advice, words, name, advice->options->selection, why);
}

/* Prints "  cpprof record WORDS COMMAND   why". */
static void print_recording(const struct advice *advice, const char *words, const char *why)
{
	const char *command = profile_note(advice->result->view->profile, "command");
	fprintf(advice->out, "  cpprof record %s ", words);
	render_safe_text(advice->out, command && command[0] && strlen(command) <= WORD_COLUMNS ? command : "COMMAND");
	print_why(advice, why);
}

/* --- functions --- */

/* Writes `name` with "..." for "…". */
static void with_dots(char *to, size_t bytes, const char *name, size_t size)
{
	const size_t mark = strlen(SHORT_NAME_MARK);
	size_t at = 0;
	for (size_t i = 0; i < size && at + 4 < bytes;) {
		bool is_mark = size - i >= mark && memcmp(name + i, SHORT_NAME_MARK, mark) == 0;
		at += (size_t)snprintf(to + at, bytes - at, is_mark ? "..." : "%c", is_mark ? ' ' : name[i]);
		i += is_mark ? mark : 1;
	}
	to[at] = '\0';
}

/* Whether a word means this function alone. */
static bool means(const struct advice *advice, const char *word, uint32_t label)
{
	struct label_set found = { 0 };
	int64_t count = view_find(advice->result->view, word, &found);
	bool fits = count == 1 && label_set_has(&found, label);
	label_set_release(&found);
	if (count == ERROR_MEMORY)
		render_failed(advice->options);
	return fits;
}

/* Writes a word that means the label's function: its short name, which is what the rows show, or else its whole name. Returns whether there
 * is one that a user would type. */
static bool word_of(const struct advice *advice, uint32_t label, char *word, size_t bytes)
{
	struct short_names *names = short_names_of_view(advice->result->view);
	struct buffer text;
	buffer_init(&text);
	if (names)
		short_names_append(names, label, WORD_COLUMNS, &text);
	bool is_made = names && buffer_error(&text) == 0;
	if (is_made)
		with_dots(word, bytes, (const char *)text.bytes, text.size);
	else
		render_failed(advice->options);
	buffer_release(&text);
	short_names_free(names);
	return is_made && word[0] != '[' && is_typable(word) && means(advice, word, label);
}

/* Whether the summary shows a resource, by its name. */
static bool shows(const struct advice *advice, const char *resource)
{
	const struct view *view = advice->result->view;
	return strcmp(profile_string(view->profile, view->resource->name), resource) == 0;
}

/* --- the conditions --- */

static bool suggest_losses(const struct advice *advice)
{
	const struct profile *profile = advice->result->view->profile;
	const struct quality quality = quality_of(profile);
	double share = fraction_of(profile->lost, quality.samples + profile->lost);
	char why[WHY_BYTES];
	snprintf(why, sizeof(why), "%.1f %% of the samples were lost: fewer samples a second", HUNDRED * share);
	if (share >= SHARE_LOST)
		print_recording(advice, "-F 250", why);
	return share >= SHARE_LOST;
}

static double broken_share(const struct advice *advice)
{
	const struct quality quality = quality_of(advice->result->view->profile);
	return fraction_of(quality.broken, quality.stacks);
}

static bool suggest_broken(const struct advice *advice)
{
	double share = broken_share(advice);
	char why[WHY_BYTES];
	snprintf(why, sizeof(why), "%.1f %% of the stacks are broken ('how the stacks ended' has the reasons)",
		 HUNDRED * share);
	if (share >= SHARE_BROKEN)
		print_command(advice, "info", why);
	return share >= SHARE_BROKEN;
}

/* suggest_broken has proposed the same command where it fits. */
static bool suggest_info(const struct advice *advice)
{
	const struct profile *profile = advice->result->view->profile;
	struct finding_walk walk = { 0 };
	const char *names_missing = finding_codes[FINDING_NAMES_MISSING].name; /* suggest_symbols prints the remedy */
	const struct profile_finding *first = finding_next(profile, &walk);
	while (first && strcmp(profile_string(profile, first->code), names_missing) == 0)
		first = finding_next(profile, &walk);
	bool fits = first && first->severity != FINDING_NOTE && broken_share(advice) < SHARE_BROKEN;
	if (fits)
		print_command(advice, "info", profile_string(profile, first->text));
	return fits;
}

/* Prints how a file gets symbols. */
static void print_symbols(const struct advice *advice, const char *path)
{
	struct buffer remedy;
	buffer_init(&remedy);
	nameless_append_remedy(advice->result->view->profile, path, &remedy);
	buffer_append_byte(&remedy, 0);
	fputs("  ", advice->out);
	render_safe_text(advice->out, path);
	fputs(" has no symbols: ", advice->out);
	if (buffer_error(&remedy) == 0)
		render_safe_text(advice->out, (const char *)remedy.bytes);
	else
		render_failed(advice->options);
	fputc('\n', advice->out);
	buffer_release(&remedy);
}

/* Returns the file that a function without a symbol, which is named after its module and address, is in; or NULL. */
static const char *file_without_symbols(const struct view *view, uint32_t index)
{
	const struct view_label *label = &view->labels[index];
	return nameless_is(view->profile, label->function)
		       ? profile_string(view->profile, view->profile->modules[label->module].path)
		       : NULL;
}

/* Examines the functions with many hits of their own, and the functions of own code that many hits are charged to. */
static bool suggest_symbols(const struct advice *advice)
{
	const struct path_list *list = advice->result->paths;
	const struct own_code *own = advice->result->own;
	const struct view *view = advice->result->view;
	const char *file = NULL;
	for (size_t i = 0; i < list->count && !file && is_warm(advice, list->entries[i].hits); i++)
		file = file_without_symbols(view, path_labels(list, &list->entries[i])[0]);
	for (size_t i = 0; i < own->charged_count && !file && is_warm(advice, own->charged[i].hits); i++)
		file = file_without_symbols(view, own->charged[i].label);
	if (file)
		print_symbols(advice, file);
	return file != NULL;
}

/* Returns whether a label is generated code that no perf map names. */
static bool is_nameless(const struct view *view, uint32_t index)
{
	const struct view_label *label = &view->labels[index];
	return label->module != PROFILE_NONE && view->profile->modules[label->module].kind == MODULE_ANON &&
	       strcmp(label->text, GENERATED_CODE_NAMELESS) == 0;
}

static bool suggest_perf_map(const struct advice *advice)
{
	const struct path_list *list = advice->result->paths;
	const struct view *view = advice->result->view;
	const struct runtime *runtime = runtime_of_profile(view->profile);
	for (size_t i = 0; i < list->count && is_warm(advice, list->entries[i].hits); i++) {
		if (!is_nameless(view, path_labels(list, &list->entries[i])[0]))
			continue;
		if (runtime && runtime->variable)
			print_recording(advice, "--jit", "[anon] is generated code: with names");
		else
			fprintf(advice->out, "  [anon] is generated code: record it with names by %s\n",
				runtime ? runtime->by_hand
					: "a perf map, if its runtime can write one (/tmp/perf-PID.map)");
		return true;
	}
	return false;
}

/* Sets *gticks to the amount of a resource. Returns false if the profile has none of it. */
static bool amount_of(const struct profile *profile, const char *name, double *gticks)
{
	uint32_t resource = profile_find_resource(profile, name);
	if (resource == PROFILE_NONE)
		return false;
	*gticks = (double)info_resource_sum(profile, resource).hits * (double)profile->resources[resource].interval;
	return *gticks > 0;
}

static bool suggest_system_time(const struct advice *advice)
{
	const struct profile *profile = advice->result->view->profile;
	double system, all = 0;
	char why[WHY_BYTES];
	if (summary_is_part(advice->result->view) || shows(advice, "sys") || !amount_of(profile, "sys", &system))
		return false;
	if (!amount_of(profile, "cpu", &all) && amount_of(profile, "user", &all))
		all += system;
	if (all <= 0 || system / all < SHARE_SYSTEM)
		return false;
	snprintf(why, sizeof(why), "the kernel computes for %.0f %% of the CPU time: which calls make it",
		 HUNDRED * (system < all ? system / all : 1));
	print_view(advice, "report -r sys", NULL, why);
	return true;
}

/* A program that computes for less than half of its time waits: CPU time does not show for what. */
static bool suggest_waiting(const struct advice *advice)
{
	static const char *const waits[] = { "report -r blocked", "report -r real" };
	const struct profile *profile = advice->result->view->profile;
	double computed, waited, duration = (double)profile_duration_ns(profile);
	char why[WHY_BYTES];
	if (summary_is_part(advice->result->view) || kernel_work_has_waits(advice->result->view) ||
	    !amount_of(profile, "cpu", &computed) || duration <= 0 || computed / duration >= SHARE_COMPUTING)
		return false;
	snprintf(why, sizeof(why), "it computes for %.0f %% of its time: what it waits for",
		 HUNDRED * computed / duration);
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		if (!amount_of(profile, strrchr(waits[i], ' ') + 1, &waited))
			continue;
		print_view(advice, waits[i], NULL, why);
		return true;
	}
	print_recording(advice, "-r real", why);
	return true;
}

/* Finds the function of a library in which the program waits most. */
static bool find_wait_place(const struct advice *advice, char *word, size_t bytes)
{
	const struct own_entry *most = &advice->result->own->kernel_call;
	return kernel_work_has_waits(advice->result->view) && is_warm(advice, most->hits) &&
	       word_of(advice, most->label, word, bytes);
}

static bool suggest_wait_place(const struct advice *advice)
{
	const struct own_entry *most = &advice->result->own->kernel_call;
	char word[WORD_COLUMNS * 4], why[WHY_BYTES + WORD_COLUMNS * 4];
	if (!find_wait_place(advice, word, sizeof(word)))
		return false;
	snprintf(why, sizeof(why), "%.0f %% waits in %s: who calls it",
		 HUNDRED * fraction_of(most->hits, advice->result->view->total), word);
	*advice->label = most->label;
	print_view(advice, "report --up", word, why);
	return true;
}

/* No other call ends this part of the wait. */
static bool suggest_processors(const struct advice *advice)
{
	double share = fraction_of(advice->result->own->ready, advice->result->view->total);
	if (!kernel_work_has_waits(advice->result->view) || share < SHARE_READY)
		return false;
	fprintf(advice->out, "  %.0f %% waits for a processor: the threads could run, and others did\n",
		HUNDRED * share);
	return true;
}

static bool is_main(const struct view *view, uint32_t label)
{
	uint32_t function = view->labels[label].function;
	return function != PROFILE_NONE && view->profile->functions[function].role == ROLE_MAIN;
}

static bool is_kernel(const struct view *view, uint32_t label)
{
	uint32_t module = view->labels[label].module;
	return module != PROFILE_NONE && view->profile->modules[module].kind == MODULE_KERNEL;
}

/* The callers of the hottest function that has some. Callers of a kernel function are hardly the user's code, and suggest_wait_place has
 * proposed the callers of a function that waits. */
static bool suggest_callers(const struct advice *advice)
{
	const struct path_list *list = advice->result->paths;
	const struct view *view = advice->result->view;
	char word[WORD_COLUMNS * 4];
	if (find_wait_place(advice, word, sizeof(word)))
		return false;
	for (size_t i = 0; i < list->count && is_warm(advice, list->entries[i].hits); i++) {
		uint32_t label = path_labels(list, &list->entries[i])[0];
		if (is_main(view, label) || is_kernel(view, label) || !word_of(advice, label, word, sizeof(word)))
			continue;
		*advice->label = label;
		print_view(advice, "report --up", word, "who calls it");
		return true;
	}
	return false;
}

static bool has_line(const struct view *view, uint32_t label)
{
	uint32_t frame = view->labels[label].frame;
	return frame != PROFILE_NONE && view->profile->frames[frame].line > 0;
}

/* The lines of the hottest function of own code that has some. The source of a library is rarely installed. */
static bool suggest_source(const struct advice *advice)
{
	const struct own_code *own = advice->result->own;
	const struct view *view = advice->result->view;
	char word[WORD_COLUMNS * 4];
	for (size_t i = 0; i < own->charged_count && is_warm(advice, own->charged[i].hits); i++) {
		uint32_t label = own->charged[i].label;
		if (!has_line(view, label) || !word_of(advice, label, word, sizeof(word)))
			continue;
		*advice->label = label;
		print_view(advice, "report --source", word, "its lines");
		return true;
	}
	return false;
}

static bool suggest_browse(const struct advice *advice)
{
	print_view(advice, "browse", NULL, "all of it, on the whole screen");
	return true;
}

static bool suggest_page(const struct advice *advice)
{
	print_command(advice, "html --open", "in pictures");
	return true;
}

/* Returns how many lines of the terminal a text takes, or 0 if memory is exhausted. */
static size_t height_of(const char *text, size_t size, const struct render_options *options)
{
	struct line_wrap wrap;
	char *wrapped = NULL;
	size_t bytes = 0, height = 0;
	FILE *out = open_memstream(&wrapped, &bytes);
	if (!out)
		return 0;
	line_wrap_init(&wrap, out, (size_t)options->columns);
	int result = line_wrap_write(&wrap, text, size);
	line_wrap_end(&wrap);
	line_wrap_release(&wrap);
	if (fclose(out) == 0 && result == 0)
		for (size_t i = 0; i < bytes; i++)
			height += wrapped[i] == '\n';
	free(wrapped);
	return height;
}

/* Adds what a suggestion prints, if it fits the profile. */
static int add(struct next_commands *next, suggestion *suggest, struct advice *advice)
{
	size_t size = 0;
	char **text = &next->texts[next->count];
	advice->label = &next->labels[next->count];
	*advice->label = PROFILE_NONE;
	advice->out = open_memstream(text, &size);
	if (!advice->out)
		return ERROR_MEMORY;
	bool fits = suggest(advice), is_whole = !ferror(advice->out);
	is_whole = fclose(advice->out) == 0 && is_whole && *text;
	if (!fits || !is_whole) {
		free(*text);
		*text = NULL;
		return is_whole ? 0 : ERROR_MEMORY;
	}
	next->heights[next->count] = height_of(*text, size, advice->options);
	return next->heights[next->count++] > 0 ? 0 : ERROR_MEMORY;
}

int next_commands_init(struct next_commands *next, const struct result *result, const struct render_options *options,
		       const char *separator)
{
	static suggestion *const suggestions[] = { suggest_losses,     suggest_broken,     suggest_symbols,
						   suggest_perf_map,   suggest_info,       suggest_waiting,
						   suggest_wait_place, suggest_processors, suggest_system_time,
						   suggest_source,     suggest_callers,    suggest_browse,
						   suggest_page };
	struct advice advice = { .result = result, .options = options, .separator = separator };
	int status = 0;
	*next = (struct next_commands){ 0 };
	for (size_t i = 0; i < sizeof(suggestions) / sizeof(suggestions[0]) && status == 0; i++)
		if (next->count < NEXT_COMMANDS_MOST)
			status = add(next, suggestions[i], &advice);
	return status;
}

void next_commands_release(struct next_commands *next)
{
	for (size_t i = 0; i < next->count; i++)
		free(next->texts[i]);
	*next = (struct next_commands){ 0 };
}
