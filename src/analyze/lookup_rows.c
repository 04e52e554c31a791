/* Finds resources by name; threads and processes by number, name, row or control group. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analyze/lookup.h"
#include "analyze/process_tree.h"
#include "base/name_list.h"
#include "base/quote.h"
#include "base/whole_number.h"
#include "profile/cgroup.h"
#include "profile/companion.h"

int lookup_no_resources(struct error *error)
{
	return error_set(error, ERROR_NOT_FOUND, "the profile has no resources");
}

int lookup_resource(const struct profile *profile, const char *text, uint32_t *resource, struct error *error)
{
	size_t length = strlen(text);
	struct name_list all = { 0 };
	struct name_list fitting = { 0 };
	uint32_t found = PROFILE_NONE;
	bool exact = false;
	for (uint32_t i = 0; i < profile->resource_count && !exact; i++) {
		const char *name = profile_string(profile, profile->resources[i].name);
		const char *title = profile_string(profile, profile->resources[i].title);
		exact = strcmp(name, text) == 0 || (length && strcasecmp(title, text) == 0);
		bool begins = length && strncmp(name, text, length) == 0 && !companion_is(profile, i);
		if (exact || begins) {
			found = i;
			name_list_add(&fitting, name);
		}
		name_list_add(&all, name);
	}
	int status = 0;
	if (exact || fitting.count == 1)
		*resource = found;
	else if (fitting.count)
		status = error_set(error, ERROR_AMBIGUOUS, "resource %s may be %s", QUOTE(text),
				   name_list_text(&fitting));
	else if (!all.count)
		status = lookup_no_resources(error);
	else
		status = error_set(error, ERROR_NOT_FOUND, "no resource %s in this profile; it has %s", QUOTE(text),
				   name_list_text(&all));
	name_list_release(&all);
	name_list_release(&fitting);
	return status;
}

/* Describes threads or processes, which are found in the same way, as a table of (number, name) rows. */
struct row_table {
	const char *what;        /* "thread" */
	const char *what_plural; /* "threads" */
	const char *number_name; /* "TID" */
	size_t count;
	void (*row)(const struct profile *profile, uint32_t index, uint32_t *number, const char **name);
};

/* The rows that were found. */
struct rows {
	size_t count;
	uint32_t last;
	bool *chosen; /* [table->count]; NULL: the caller wants one row */
	struct name_list names;
};

static void thread_row(const struct profile *profile, uint32_t index, uint32_t *number, const char **name)
{
	*number = profile->threads[index].tid;
	*name = profile_string(profile, profile->threads[index].name);
}

static void process_row(const struct profile *profile, uint32_t index, uint32_t *number, const char **name)
{
	*number = profile->processes[index].pid;
	*name = profile_string(profile, profile->processes[index].name);
}

static void add_row(struct rows *rows, const struct row_table *table, uint32_t index, uint32_t number)
{
	char shown[96];
	rows->last = index;
	rows->count++;
	if (rows->chosen)
		rows->chosen[index] = true;
	snprintf(shown, sizeof(shown), "#%u (%s %u)", index + 1, table->number_name, number);
	name_list_add(&rows->names, shown);
}

/* Adds the rows that have the number, if `by_number`, or else the name. */
static void find_rows(const struct profile *profile, const struct row_table *table, const char *text, bool by_number,
		      uint64_t wanted, struct rows *rows)
{
	for (uint32_t i = 0; i < table->count; i++) {
		uint32_t number;
		const char *name;
		table->row(profile, i, &number, &name);
		if (by_number ? number == wanted : strcmp(name, text) == 0)
			add_row(rows, table, i, number);
	}
}

static int row_missing(const struct profile *profile, const struct row_table *table, const char *text,
		       struct error *error)
{
	if (!table->count)
		return error_set(error, ERROR_NOT_FOUND, "the profile has no %s", table->what_plural);
	struct name_list all = { 0 };
	for (uint32_t i = 0; i < table->count; i++) {
		uint32_t number;
		const char *name;
		char shown[96];
		table->row(profile, i, &number, &name);
		snprintf(shown, sizeof(shown), "%u (%s)", number, name);
		name_list_add(&all, shown);
	}
	int status = error_set(error, ERROR_NOT_FOUND, "no %s %s; there %s %s", table->what, QUOTE(text),
			       all.count == 1 ? "is" : "are", name_list_text(&all));
	name_list_release(&all);
	return status;
}

/* Finds at least one row, or returns an error. */
static int look_up(const struct profile *profile, const struct row_table *table, const char *text, struct rows *rows,
		   struct error *error)
{
	uint64_t number;
	if (text[0] == '#' && whole_number_read(text + 1, &number)) {
		if (number < 1 || number > table->count)
			return error_set(error, ERROR_NOT_FOUND, "no %s %s; the profile has %zu", table->what,
					 QUOTE(text), table->count);
		add_row(rows, table, (uint32_t)number - 1, 0);
		return 0;
	}
	if (whole_number_read(text, &number))
		find_rows(profile, table, text, true, number, rows);
	if (rows->count == 0)
		find_rows(profile, table, text, false, 0, rows);
	return rows->count ? 0 : row_missing(profile, table, text, error);
}

int lookup_thread(const struct profile *profile, const char *text, uint32_t *thread, struct error *error)
{
	const struct row_table table = { "thread", "threads", "TID", profile->thread_count, thread_row };
	struct rows rows = { 0 };
	if (strcmp(text, "all") == 0) {
		*thread = VIEW_ANY;
		return 0;
	}
	int status = look_up(profile, &table, text, &rows, error);
	if (status == 0 && rows.count > 1)
		status = error_set(error, ERROR_AMBIGUOUS, "%s fits %zu threads: %s", QUOTE(text), rows.count,
				   name_list_text(&rows.names));
	if (status == 0)
		*thread = rows.last;
	name_list_release(&rows.names);
	return status;
}

/* Adds the processes of "make+": of the rows of make in the tree of processes, and below them. */
static int choose_below(const struct profile *profile, const struct row_table *table, const char *text, bool *chosen,
			struct error *error)
{
	bool *below = calloc(profile->process_count + 1, sizeof(*below));
	char *name = strndup(text, strlen(text) - 1);
	struct rows rows = { .chosen = below };
	int status = below && name ? look_up(profile, table, name, &rows, error) : ERROR_MEMORY;
	if (status == 0)
		status = process_tree_choose(profile, below);
	if (status == ERROR_MEMORY)
		error_set(error, ERROR_MEMORY, "out of memory");
	for (size_t i = 0; i < profile->process_count && status == 0; i++)
		chosen[i] |= below[i];
	name_list_release(&rows.names);
	free(name);
	free(below);
	return status;
}

int lookup_process(const struct profile *profile, const char *text, bool *chosen, struct error *error)
{
	const struct row_table table = { "process", "processes", "PID", profile->process_count, process_row };
	struct rows rows = { .chosen = chosen };
	size_t length = strlen(text);
	bool is_below = length > 1 && text[length - 1] == '+';
	int status = 0;
	if (is_below)
		find_rows(profile, &table, text, false, 0, &rows); /* "g++" is a name */
	if (rows.count == 0)
		status = is_below ? choose_below(profile, &table, text, chosen, error)
				  : look_up(profile, &table, text, &rows, error);
	name_list_release(&rows.names);
	return status;
}

/* --- control groups --- */

static int cgroup_missing(const struct profile *profile, const char *pattern, struct error *error)
{
	struct name_list all = { 0 };
	for (size_t i = 0; i < profile->process_count; i++) {
		const char *path = profile_string(profile, profile->processes[i].cgroup);
		bool is_new = path[0];
		for (size_t k = 0; k < i && is_new; k++)
			is_new = profile->processes[k].cgroup != profile->processes[i].cgroup;
		if (is_new)
			name_list_add(&all, path);
	}
	int status = all.count ? error_set(error, ERROR_NOT_FOUND, "no process in a control group %s; there %s %s",
					   QUOTE(pattern), all.count == 1 ? "is" : "are", name_list_text(&all))
			       : error_set(error, ERROR_NOT_FOUND,
					   "the profile has no control groups ('record -a' records them)");
	name_list_release(&all);
	return status;
}

int lookup_cgroup(const struct profile *profile, const char *pattern, bool *chosen, struct error *error)
{
	if (!pattern[0])
		return error_set(error, ERROR_USAGE, "missing control group (as /system.slice or '*docker*')");
	bool found = false;
	for (size_t i = 0; i < profile->process_count; i++) {
		if (!cgroup_fits(profile_string(profile, profile->processes[i].cgroup), pattern))
			continue;
		chosen[i] = true;
		found = true;
	}
	return found ? 0 : cgroup_missing(profile, pattern, error);
}
