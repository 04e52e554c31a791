/*
 * `cpprof regress`: what the services of a store use more than before. A is a baseline and B what followed it, both in windows of equal
 * length, each of which is one recording for the comparison of `diff`:
 *
 *   --baseline ... [a3] [a2] [a1] --since ... [b2] [b1] --to
 *
 * If there are more windows than are needed, some are chosen at equal distances.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buffer.h"
#include "base/name_list.h"
#include "base/plural.h"
#include "base/strings.h"
#include "cmd/diff.h"
#include "cmd/message.h"
#include "cmd/pager_output.h"
#include "cmd/report_options.h"
#include "cmd/store_options.h"
#include "cmd/view_options.h"
#include "reports/regress.h"
#include "store/store.h"
#include "store/times.h"

enum { OPTION_BASELINE = DIFF_OPTIONS_END, OPTION_WINDOW, OPTION_SINCE, OPTION_UNTIL, OPTION_AMOUNTS };

enum { DAY_S = 86400, WEEK_S = 7 * DAY_S };

struct regress {
	const struct invocation *invocation;
	const char *store;           /* its URL, or the path of its database */
	struct diff_request request; /* what is the same for all services */
	int64_t now_s, baseline_s, since_s, to_s, window_s;
	/* The windows of the present service: the windows of A, then the windows of B. */
	struct profile *profiles[DIFF_SIDES * REGRESS_WINDOWS_MOST];
	char *names[DIFF_SIDES * REGRESS_WINDOWS_MOST];
	size_t count;
	/* The document, which is begun with the first service. */
	struct pager_output page;
	struct render_document document;
	bool is_begun;
	size_t services, compared, exceeding;
};

/* --- times --- */

static int read_time(const struct invocation *invocation, int option, int64_t now_s, int64_t *seconds,
		     struct error *error)
{
	const char *text = option_value(invocation, option);
	int64_t unix_ns;
	if (!text)
		return 0;
	int status = store_time_read(text, now_s, &unix_ns, error);
	*seconds = status == 0 ? unix_ns / STORE_NS_PER_S : 0;
	return status;
}

enum { AGE_BYTES = 24 };

/* Writes an age as options have it, in whole units: "36h". */
static const char *age_text(int64_t seconds, char text[AGE_BYTES])
{
	static const struct {
		char unit;
		int64_t seconds;
	} units[] = { { 'd', DAY_S }, { 'h', 3600 }, { 'm', 60 }, { 's', 1 } };
	size_t i = 0;
	while (seconds % units[i].seconds != 0)
		i++;
	snprintf(text, AGE_BYTES, "%" PRId64 "%c", seconds / units[i].seconds, units[i].unit);
	return text;
}

static int64_t larger_of(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Sets an error whose remedy is a longer baseline, or shorter windows, than were used. */
static int too_few(const struct regress *regress, int code, const char *reason, struct error *error)
{
	enum { LONGER = 2, MINUTE_S = 60 };
	char baseline[AGE_BYTES], window[AGE_BYTES];
	int64_t length_s = larger_of(regress->since_s - regress->baseline_s, 1);
	int64_t longer_s = larger_of(regress->now_s - regress->since_s, 0) +
			   larger_of(LONGER * length_s, REGRESS_WINDOWS_LEAST * regress->window_s);
	int64_t shorter_s =
		regress->window_s / larger_of(LONGER, REGRESS_WINDOWS_LEAST * regress->window_s / length_s + 1);
	shorter_s -= shorter_s > MINUTE_S ? shorter_s % MINUTE_S : 0;
	age_text((longer_s + DAY_S - 1) / DAY_S * DAY_S, baseline);
	if (shorter_s < 1)
		return error_set(error, code, "%s (--baseline -%s)", reason, baseline);
	return error_set(error, code, "%s (--baseline -%s, or --window %s)", reason, baseline,
			 age_text(shorter_s, window));
}

static int read_times(struct regress *regress, struct error *error)
{
	const struct invocation *invocation = regress->invocation;
	const char *window = option_value(invocation, OPTION_WINDOW);
	int64_t now_s = time(NULL);
	regress->now_s = regress->to_s = now_s;
	regress->window_s = store_age_read(window ? window : "1h", error);
	int status = regress->window_s < 0 ? (int)regress->window_s
					   : read_time(invocation, OPTION_UNTIL, now_s, &regress->to_s, error);
	if (status < 0)
		return status;
	if (regress->window_s == 0)
		return error_set(error, ERROR_USAGE, "--window %s is out of range (1s or more)", window);
	regress->since_s = regress->to_s - regress->window_s;
	status = read_time(invocation, OPTION_SINCE, now_s, &regress->since_s, error);
	/* Whole days before the compared time, so that the hour of the day that is compared is in the baseline, too. */
	regress->baseline_s = regress->since_s - WEEK_S;
	if (status == 0)
		status = read_time(invocation, OPTION_BASELINE, now_s, &regress->baseline_s, error);
	if (status < 0)
		return status;
	if (regress->since_s >= regress->to_s)
		return error_set(error, ERROR_USAGE,
				 "nothing is to be compared: --since is not before --to (--since -1h)");
	if (regress->to_s - regress->since_s < regress->window_s)
		return error_set(error, ERROR_USAGE,
				 "less than one window is left between --since and --to (--window 10m)");
	if ((regress->since_s - regress->baseline_s) / regress->window_s < REGRESS_WINDOWS_LEAST)
		return too_few(regress, ERROR_USAGE, "the baseline has fewer than 3 windows", error);
	return 0;
}

/* Windows whose ends are rounded to buckets are equal only if they are of whole buckets. */
static int check_window(const struct regress *regress, struct error *error)
{
	char given[AGE_BYTES], longer[AGE_BYTES];
	struct store *store = store_open(regress->store, STORE_READ, error);
	if (!store)
		return error->code;
	int64_t bucket_s = larger_of(store_bucket_ns(store) / STORE_NS_PER_S, 1);
	int64_t more_s = regress->window_s % bucket_s;
	store_close(store);
	if (more_s == 0)
		return 0;
	return error_set(error, ERROR_USAGE,
			 "a window of %s is no multiple of the store's buckets of %" PRId64 " s (--window %s)",
			 age_text(regress->window_s, given), bucket_s,
			 age_text(regress->window_s + bucket_s - more_s, longer));
}

/* --- selections --- */

/* Reads what a service has used in a span of time; NULL: all services. `invocation`: the options that select from the store. Returns NULL
 * and sets `error` if there is nothing. */
static struct profile *select_span(const struct invocation *invocation, const char *store, const char *service,
				   int64_t from_s, int64_t to_s, char **name, struct error *error)
{
	struct buffer more;
	buffer_init(&more);
	buffer_printf(&more, "from=@%" PRId64 "&to=@%" PRId64, from_s, to_s);
	if (service) {
		buffer_append_string(&more, "&service=");
		store_options_append(&more, service);
	}
	buffer_append_byte(&more, 0);
	char *url = buffer_error(&more) == 0 ? store_options_url_of(invocation, store, (const char *)more.bytes) : NULL;
	buffer_release(&more);
	struct profile *profile = NULL;
	if (url)
		profile = store_options_select(invocation, url, error);
	else
		error_memory(error);
	if (profile && name)
		*name = url;
	else
		free(url);
	return profile;
}

/* Reads the windows between two times. Returns 0 or a negative error. */
static int select_windows(struct regress *regress, const char *service, int64_t from_s, int64_t to_s,
			  struct error *error)
{
	int64_t all = (to_s - from_s) / regress->window_s;
	for (int64_t i = regress_window_count(all) - 1; i >= 0; i--) {
		int64_t end_s = to_s - regress_windows_after(all, i) * regress->window_s;
		struct error own = { 0 };
		struct profile *profile =
			select_span(regress->invocation, regress->store, service, end_s - regress->window_s, end_s,
				    &regress->names[regress->count], &own);
		if (profile)
			regress->profiles[regress->count++] = profile;
		else if (own.code != ERROR_NOT_FOUND)
			return error_set(error, own.code, "%s", own.message);
	}
	return 0;
}

/* Adds the names of the services that have recordings in a span of time. Returns 0, or a negative error, ERROR_NOT_FOUND if there is none. */
static int add_services(struct strings *services, const struct invocation *invocation, const char *store,
			int64_t from_s, int64_t to_s, struct error *error)
{
	struct profile *profile = select_span(invocation, store, NULL, from_s, to_s, NULL, error);
	if (!profile)
		return error->code;
	int status = 0;
	for (size_t i = 0; i < profile->label_count && status == 0; i++) {
		const char *value = profile_string(profile, profile->labels[i].value);
		if (strcmp(profile_string(profile, profile->labels[i].key), "service") == 0 &&
		    strings_add(services, value, strlen(value)) < 0)
			status = error_memory(error);
	}
	profile_free(profile);
	return status;
}

/* Lists the services that have recordings in B. */
static int list_services(const struct regress *regress, struct strings *services, struct error *error)
{
	const char *only = option_value(regress->invocation, STORE_SERVICE);
	if (only)
		return strings_add(services, only, strlen(only)) < 0 ? error_memory(error) : 0;
	return add_services(services, regress->invocation, regress->store, regress->since_s, regress->to_s, error);
}

/* Refuses a service that has no recordings in the compared time, with a list of the services that have. */
static int check_service(const struct regress *regress, const char *service, struct error *error)
{
	/* Without options, which would select this service alone. */
	const struct invocation all = { .command = regress->invocation->command };
	struct strings services;
	struct name_list names = { 0 };
	bool is_there = false;
	if (strings_init(&services) < 0)
		return error_memory(error);
	int status = add_services(&services, &all, regress->store, regress->baseline_s, regress->to_s, error);
	for (uint32_t i = 1; i < services.count; i++) {
		is_there = is_there || strcmp(strings_get(&services, i), service) == 0;
		name_list_add(&names, strings_get(&services, i));
	}
	if (status == ERROR_NOT_FOUND || (status == 0 && !is_there))
		status = error_set(
			error, ERROR_NOT_FOUND,
			"cannot compare '%s': the store has no such service between --baseline and --to (it has %s)",
			service, names.count > 0 ? name_list_text(&names) : "no recordings then");
	name_list_release(&names);
	strings_release(&services);
	return status;
}

/* --- the comparison of a service --- */

/* Returns the label of the hits that the service has in a profile. */
static struct label_group label_of(const struct profile *profile, const char *service)
{
	struct label_group group = { 0 };
	for (size_t i = 0; i < profile->label_count && group.label_count == 0; i++)
		if (strcmp(profile_string(profile, profile->labels[i].key), "service") == 0 &&
		    strcmp(profile_string(profile, profile->labels[i].value), service) == 0)
			group = (struct label_group){ .labels = &profile->labels[i], .label_count = 1 };
	return group;
}

/* Prints the lists that have an entry which exceeds the limit. The first list is printed to CSV in any case: it has the names of the columns. */
static int print_results(struct regress *regress, const char *service, struct results *results, struct error *error)
{
	int status = 0;
	for (size_t i = 0; i < results->count && status == 0; i++) {
		struct result *result = &results->items[i];
		const struct render_document *document = &regress->document;
		bool begins_csv = document->options.format == RENDER_CSV && document->count == 0;
		if (result->missing.code ||
		    (diff_gate(result->changes, regress->request.limit, regress->request.threshold) == 0 &&
		     !begins_csv))
			continue;
		diff_keep_exceeding(result->changes);
		regress->exceeding += result->changes->count;
		result->is_section = true;
		result->section = label_of(result->view->profile, service);
		status = render_result(&regress->document, result, error);
	}
	return status;
}

static int begin_document(struct regress *regress, const struct render_options *options, struct error *error)
{
	bool wants_pager = !option_given(regress->invocation, OPTION_NO_PAGER);
	if (regress->is_begun)
		return 0;
	int status = pager_output_open(&regress->page, options, wants_pager, error);
	regress->is_begun = status == 0;
	if (status == 0)
		render_begin(&regress->document, regress->page.stream, options,
			     &(struct render_envelope){ .command = "regress" });
	return status;
}

/* Compares the windows that were read. */
static int compare(struct regress *regress, const char *service, struct error *error)
{
	struct view_request view;
	struct results results = { 0 };
	struct error uncompared = { 0 };
	struct diff_request *request = &regress->request;
	int status = view_request_init(&view, regress->invocation, regress->profiles[0], error);
	if (status < 0)
		return status;
	request->profiles = (const struct profile *const *)regress->profiles;
	request->names = (const char *const *)regress->names;
	request->resources = view.settings.resources;
	request->resource_count = view.settings.resource_count;
	request->spread = view.settings.spread;
	request->threshold = view.settings.threshold;
	status = diff_set_views(request, &view.settings.view, error);
	if (status == 0)
		status = diff_build(request, &results, &uncompared, error);
	if (status == 0)
		status = begin_document(regress, &view.render, error);
	if (status == 0)
		status = print_results(regress, service, &results, error);
	regress->compared += status == 0;
	results_release(&results);
	view_request_release(&view);
	free((void *)request->views);
	return status;
}

static void release_windows(struct regress *regress)
{
	for (size_t i = 0; i < regress->count; i++) {
		profile_free(regress->profiles[i]);
		free(regress->names[i]);
	}
	regress->count = 0;
}

/* Compares a service. One with too few windows, or without the resource, is left out with a notice. */
static int compare_service(struct regress *regress, const char *service, struct error *error)
{
	size_t *counts = regress->request.counts;
	int status = select_windows(regress, service, regress->baseline_s, regress->since_s, error);
	counts[DIFF_A] = regress->count;
	if (status == 0)
		status = select_windows(regress, service, regress->since_s, regress->to_s, error);
	counts[DIFF_B] = regress->count - counts[DIFF_A];
	bool is_named = option_given(regress->invocation, STORE_SERVICE);
	if (status == 0 && regress->count == 0 && is_named)
		status = check_service(regress, service, error);
	if (status == 0 && (counts[DIFF_A] < REGRESS_WINDOWS_LEAST || counts[DIFF_B] == 0)) {
		notice(regress->invocation,
		       "left out '%s': it has recordings in %zu window%s of the baseline and in %zu after it (at least "
		       "%d and 1)",
		       service, counts[DIFF_A], plural_ending("window", (double)counts[DIFF_A]), counts[DIFF_B],
		       REGRESS_WINDOWS_LEAST);
	} else if (status == 0) {
		struct error own = { 0 };
		status = compare(regress, service, &own);
		bool is_left_out = status == ERROR_NOT_FOUND && regress->services > 1;
		if (is_left_out)
			notice(regress->invocation, "left out '%s': %s", service, own.message);
		else if (status < 0)
			*error = own;
		status = is_left_out ? 0 : status;
	}
	release_windows(regress);
	return status;
}

static int compare_services(struct regress *regress, struct error *error)
{
	struct strings services;
	if (strings_init(&services) < 0)
		return error_memory(error);
	int status = list_services(regress, &services, error);
	regress->services = services.count - 1; /* string 0 is "" */
	regress->request.chance = regress_chance(regress->window_s, regress->services);
	for (uint32_t i = 1; i < services.count && status == 0; i++)
		status = compare_service(regress, strings_get(&services, i), error);
	if (status == 0 && regress->compared == 0)
		status = too_few(regress, ERROR_NOT_FOUND, "no service has enough recordings", error);
	strings_release(&services);
	return status;
}

/* --- the command --- */

static void end_document(struct regress *regress)
{
	if (regress->document.options.format == RENDER_TEXT)
		fprintf(regress->page.stream, "%s%zu change%s above +%.4g %%, in %zu service%s\n",
			regress->document.count > 0 ? "\n" : "", regress->exceeding,
			plural_ending("change", (double)regress->exceeding), 100 * regress->request.limit,
			regress->compared, plural_ending("service", (double)regress->compared));
	render_end(&regress->document);
}

static int run(struct invocation *invocation)
{
	struct regress regress = { .invocation = invocation,
				   .store = option_value(invocation, STORE_URL),
				   .request = { .shares = !option_given(invocation, OPTION_AMOUNTS),
						.resources_named = option_given(invocation, OPTION_RESOURCE) } };
	struct error error = { 0 };
	if (!regress.store)
		return usage_error(invocation, "missing option --store URL (cpprof regress --store cpprof.db)");
	int status = diff_choose_sections(invocation, &regress.request);
	if (status == EXIT_DONE)
		status = diff_read_limit(invocation, &regress.request);
	if (status != EXIT_DONE)
		return status;
	int result = read_times(&regress, &error);
	if (result == 0)
		result = check_window(&regress, &error);
	if (result == 0)
		result = compare_services(&regress, &error);
	if (result == 0)
		end_document(&regress);
	if (regress.is_begun && pager_output_close(&regress.page, result == 0 ? &error : NULL) < 0)
		result = result < 0 ? result : error.code;
	if (result < 0)
		return failure_of(invocation, &error);
	return regress.exceeding > 0 ? EXIT_EXCEEDED : EXIT_DONE;
}

static const char *const usage[] = {
	"--store URL [--baseline TIME] [--since TIME] [--to TIME] [--window AGE] [REPORT] [OPTION]...", NULL
};

static const struct command_option own_options[] = {
	{ OPTION_BASELINE, 0, "baseline", "TIME", "Compare with the time from here on: -7d, or a date",
	  "7 days before --since" },
	{ OPTION_SINCE, 0, "since", "TIME",
	  "The end of the baseline: what followed is compared with it, as after a release", "one window before --to" },
	{ OPTION_UNTIL, 0, "to", "TIME", "Compare up to this time", "now" },
	{ OPTION_WINDOW, 0, "window", "AGE", "Compare windows of this length: 10m, 1h, 1d", "1h" },
	{ OPTION_FAIL_ABOVE, 0, "fail-above", "PERCENT", "Leave out entries that use more by less than PERCENT", "0" },
	{ OPTION_AMOUNTS, 0, "amounts", NULL,
	  "Compare amounts, not shares of the service's total: finds also a service that uses more of everything",
	  NULL },
	ROW_RESOURCES("all"),
	ROW_THRESHOLD,
	ROW_LIMIT,
	ROW_BY,
	ROWS_STORE,
	{ STORE_LABEL, 0, "label", "KEY=VALUE", "Count only hits with this label; may be given several times", NULL },
	ROWS_FRAMES,
	ROW_FORMAT,
	ROWS_TERMINAL,
	ROWS_LIMITS,
	{ 0 },
};

static const struct command_option *make_options(void)
{
	static struct command_option rows[REPORT_OPTION_ROWS(own_options)];
	return report_options_fill(rows, report_is_list,
				   "Each function with what it calls; the default is this and --down main",
				   own_options);
}

static const struct command_example examples[] = {
	{ "cpprof regress --store cpprof.db", "what used more in the last hour than in the 7 days before it" },
	{ "cpprof regress --store cpprof.db --since 2026-11-20T14:00 --service shop",
	  "what changed in a service since a release" },
	{ "cpprof regress --store cpprof.db --window 8h --amounts -r alloc-bytes",
	  "which services began to allocate more last night" },
	{ "cpprof regress --store cpprof.db --fail-above 5 --format json", "changes above 5 %, for a script" },
	{ 0 },
};

const struct command command_regress = {
	.name = "regress",
	.task = TASK_COMPARE,
	.summary = "find what the services of a store use more than before",
	.usage = usage,
	.make_options = make_options,
	.examples = examples,
	.words = view_option_words,
	.exit_status = "0: done, and nothing uses more; 3: an entry does; 1: failure; 2: usage error.",
	.argument_max = 0,
	.takes_sums = view_takes_sums,
	.run = run,
};
