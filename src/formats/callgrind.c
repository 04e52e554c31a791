/*
 * callgrind.out: the format of Valgrind's callgrind_annotate and of KCachegrind (valgrind.org,
 * "Callgrind Format Specification"). It has no paths, but functions with the cost of each line, and
 * calls with their inclusive cost:
 *
 *     fn=(1) parse                    the file is fl=, the module ob=
 *     12 4000 1                       line, then a cost for each resource
 *     cfn=(2) read
 *     calls=3 40                      calls, and the line of the callee's definition
 *     14 9000 0                       the line of the call, and the callee's inclusive costs
 *
 * A function that is on a path already is written as another function there, "parse'2", as callgrind does. Without
 * that, a recursive function would be counted several times by readers, which add up its calls:
 *
 *     main parse parse read  100      parse: 100 (a call from main), parse'2: 100 (a call from parse)
 *
 * The paths begin in the function [root], because readers take a function's inclusive cost from the calls of it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/compare.h"
#include "base/hash_map.h"
#include "base/strings.h"
#include "formats/amount.h"
#include "formats/callgrind_import.h"
#include "formats/format.h"

enum { NO_CALLEE = UINT32_MAX };

/* A function at a level of recursion, from 1 on. Function and frame PROFILE_NONE: [root]. */
struct level {
	uint32_t function; /* number of its name among the frames' names */
	uint32_t number;
	uint32_t frame; /* any of its frames */
};

/* A row of the file: the cost of one line in one level, or the cost of calls from there. */
struct cost {
	uint32_t level, frame, callee; /* indexes; callee is NO_CALLEE, or a level */
	uint32_t id;                   /* its amounts are amounts[id * shown_count]... */
	uint64_t calls;
};

struct callgrind {
	const struct call_paths *paths;
	struct sink *out;
	uint32_t *shown; /* the resources that are written */
	uint32_t shown_count;
	uint32_t calls_resource; /* it counts calls; PROFILE_NONE: no resource does */
	uint32_t *function_of;   /* per frame */
	uint32_t *level_of;      /* per path */
	uint64_t *inclusive;     /* per path and shown resource */
	uint64_t *own;           /* per shown resource: those of one path */
	struct level *levels;
	struct cost *costs;
	uint64_t *amounts;
	size_t level_count, level_capacity, cost_count, cost_capacity, amount_capacity;
	struct hash_map by_level; /* (function, number) -> level */
	struct hash_map by_line;  /* (level, frame) -> its cost without a callee */
	struct hash_map by_call;  /* (that cost, callee) -> cost */
	struct strings names[3];  /* texts that readers have met: enum name_kind */
	int status;
};

enum name_kind { NAME_MODULE, NAME_FILE, NAME_FUNCTION };

static void fail(struct callgrind *callgrind, int status)
{
	if (status < 0 && callgrind->status == 0)
		callgrind->status = status;
}

/* --- levels --- */

/* Frames are in the order of their names. */
static void number_functions(struct callgrind *callgrind)
{
	const struct call_paths *paths = callgrind->paths;
	uint32_t function = 0;
	for (size_t i = 0; i < paths->frame_count; i++) {
		if (i > 0 && strcmp(paths->frames[i].name, paths->frames[i - 1].name) != 0)
			function++;
		callgrind->function_of[i] = function;
	}
}

static uint32_t level_at(struct callgrind *callgrind, uint32_t function, uint32_t number, uint32_t frame)
{
	bool is_new;
	int64_t level = HASH_MAP_ITEM(&callgrind->by_level, (uint64_t)function << 32 | number, callgrind->levels,
				      callgrind->level_capacity, callgrind->level_count, &is_new);
	if (level < 0)
		fail(callgrind, (int)level);
	if (is_new)
		callgrind->levels[level] = (struct level){ function, number, frame };
	return level < 0 ? 0 : (uint32_t)level;
}

/* Paths are in depth-first order, so the open ones are a stack. `open` counts the open paths of each function. */
static void find_levels(struct callgrind *callgrind, uint32_t *open)
{
	const struct call_paths *paths = callgrind->paths;
	uint32_t last = 0;
	callgrind->level_of[0] = level_at(callgrind, PROFILE_NONE, 1, PROFILE_NONE);
	for (uint32_t i = 1; i < paths->count && callgrind->status == 0; i++) {
		for (; last != paths->parent[i]; last = paths->parent[last])
			open[callgrind->function_of[paths->frame[last]]]--;
		uint32_t function = callgrind->function_of[paths->frame[i]];
		callgrind->level_of[i] = level_at(callgrind, function, ++open[function], paths->frame[i]);
		last = i;
	}
}

/* --- costs --- */

static struct cost *add_cost(struct callgrind *callgrind, struct hash_map *map, uint64_t key, const struct cost *fields)
{
	bool is_new;
	size_t width = callgrind->shown_count;
	int64_t id = ERROR_MEMORY;
	if (ARRAY_RESERVE(callgrind->amounts, callgrind->amount_capacity, (callgrind->cost_count + 1) * width) == 0)
		id = HASH_MAP_ITEM(map, key, callgrind->costs, callgrind->cost_capacity, callgrind->cost_count,
				   &is_new);
	if (id < 0) {
		fail(callgrind, (int)id);
		return NULL;
	}
	if (is_new) {
		memset(callgrind->amounts + (size_t)id * width, 0, width * sizeof(*callgrind->amounts));
		callgrind->costs[id] = *fields;
		callgrind->costs[id].id = (uint32_t)id;
	}
	return &callgrind->costs[id];
}

static struct cost *line_cost(struct callgrind *callgrind, uint32_t path)
{
	const struct cost fields = { .level = callgrind->level_of[path],
				     .frame = callgrind->paths->frame[path],
				     .callee = NO_CALLEE };
	return add_cost(callgrind, &callgrind->by_line, (uint64_t)fields.level << 32 | fields.frame, &fields);
}

static void add_amounts(struct callgrind *callgrind, const struct cost *cost, const uint64_t *amounts)
{
	uint64_t *sums = callgrind->amounts + (size_t)cost->id * callgrind->shown_count;
	for (uint32_t i = 0; i < callgrind->shown_count; i++)
		sums[i] = amount_sum(sums[i], amounts[i]);
}

static void exclusive_amounts(const struct callgrind *callgrind, uint32_t path, uint64_t *amounts)
{
	const struct call_paths *paths = callgrind->paths;
	const uint64_t *hits = call_paths_values(paths, path);
	for (uint32_t i = 0; i < callgrind->shown_count; i++)
		amounts[i] = amount_of(paths->profile, callgrind->shown[i],
				       hits[callgrind->shown[i] - paths->first_resource]);
}

/* Readers take 0 calls for the end of the list of calls, so each call of a profile without counts is one. */
static uint64_t calls_of(const struct callgrind *callgrind, uint32_t path)
{
	const struct call_paths *paths = callgrind->paths;
	if (callgrind->calls_resource == PROFILE_NONE)
		return 0;
	uint64_t hits = call_paths_values(paths, path)[callgrind->calls_resource - paths->first_resource];
	return amount_of(paths->profile, callgrind->calls_resource, hits);
}

/* Children have larger ids, so that one pass from the last path on adds up inclusive amounts. */
static void find_costs(struct callgrind *callgrind)
{
	const struct call_paths *paths = callgrind->paths;
	size_t width = callgrind->shown_count;
	for (uint32_t i = 0; i < paths->count; i++)
		exclusive_amounts(callgrind, i, callgrind->inclusive + i * width);
	for (uint32_t i = (uint32_t)paths->count; i-- > 0 && callgrind->status == 0;) {
		const uint64_t *amounts = callgrind->inclusive + i * width;
		exclusive_amounts(callgrind, i, callgrind->own);
		struct cost *line = line_cost(callgrind, i);
		if (line)
			add_amounts(callgrind, line, callgrind->own);
		if (i == 0)
			break;
		uint64_t *outer = callgrind->inclusive + paths->parent[i] * width;
		for (size_t n = 0; n < width; n++)
			outer[n] = amount_sum(outer[n], amounts[n]);
		struct cost *caller = line_cost(callgrind, paths->parent[i]);
		if (!caller)
			return;
		const struct cost fields = { .level = caller->level,
					     .frame = caller->frame,
					     .callee = callgrind->level_of[i] };
		struct cost *call =
			add_cost(callgrind, &callgrind->by_call, (uint64_t)caller->id << 32 | fields.callee, &fields);
		if (!call)
			return;
		add_amounts(callgrind, call, amounts);
		call->calls = amount_sum(call->calls, calls_of(callgrind, i));
	}
}

/* --- the file --- */

static int by_place(const void *left, const void *right)
{
	const struct cost *a = left, *b = right;
	/* NO_CALLEE last, plus 1: first */
	return COMPARE(a->level, b->level) ?: COMPARE(a->frame, b->frame) ?: COMPARE(a->callee + 1, b->callee + 1);
}

/* A text of one line. */
static void write_text(struct sink *out, const char *text)
{
	while (*text) {
		size_t plain = strcspn(text, "\n\r");
		sink_write(out, text, plain);
		text += plain;
		if (*text) {
			sink_text(out, " ");
			text++;
		}
	}
}

/* Writes KEY=(ID) TEXT, and only the id where the text was written before. */
static void write_name(struct callgrind *callgrind, const char *key, enum name_kind kind, const char *text)
{
	struct strings *names = &callgrind->names[kind];
	size_t before = names->count;
	int64_t id = strings_add(names, text, strlen(text));
	if (id < 0) {
		fail(callgrind, (int)id);
		return;
	}
	sink_printf(callgrind->out, "%s(%" PRId64 ")", key, id);
	if (names->count > before) {
		sink_text(callgrind->out, " ");
		write_text(callgrind->out, text);
	}
	sink_text(callgrind->out, "\n");
}

static const char *file_word(const char *file)
{
	return file[0] ? file : "???";
}

static const char *home_of(const struct callgrind *callgrind, const struct level *level)
{
	return level->frame == PROFILE_NONE ? "???" : file_word(callgrind->paths->frames[level->frame].home_file);
}

/* Writes the module, the file and the function of a level, as that of the costs that follow, or as a callee ("c"). */
static void write_level(struct callgrind *callgrind, uint32_t index, bool is_callee)
{
	const struct level *level = &callgrind->levels[index];
	const struct path_frame *frame = level->frame == PROFILE_NONE ? NULL : &callgrind->paths->frames[level->frame];
	char *name = NULL;
	if (level->number > 1 && asprintf(&name, "%s'%" PRIu32, frame->name, level->number) < 0) {
		fail(callgrind, ERROR_MEMORY);
		return;
	}
	write_name(callgrind, is_callee ? "cob=" : "ob=", NAME_MODULE,
		   frame && frame->module[0] ? frame->module : "???");
	write_name(callgrind, is_callee ? "cfi=" : "fl=", NAME_FILE, home_of(callgrind, level));
	write_name(callgrind, is_callee ? "cfn=" : "fn=", NAME_FUNCTION, name ? name : frame ? frame->name : "[root]");
	free(name);
}

static void write_amounts(const struct callgrind *callgrind, const uint64_t *amounts)
{
	for (uint32_t i = 0; i < callgrind->shown_count; i++)
		sink_printf(callgrind->out, " %" PRIu64, amounts[i]);
	sink_text(callgrind->out, "\n");
}

static void write_cost(struct callgrind *callgrind, const struct cost *cost)
{
	const struct path_frame *frames = callgrind->paths->frames;
	if (cost->callee != NO_CALLEE) {
		uint32_t callee = callgrind->levels[cost->callee].frame;
		write_level(callgrind, cost->callee, true);
		sink_printf(callgrind->out, "calls=%" PRIu64 " %" PRIu32 "\n", cost->calls ? cost->calls : 1,
			    frames[callee].home_line);
	}
	sink_printf(callgrind->out, "%" PRIu32, cost->frame == PROFILE_NONE ? 0 : frames[cost->frame].line);
	write_amounts(callgrind, callgrind->amounts + (size_t)cost->id * callgrind->shown_count);
}

static bool is_zero(const struct callgrind *callgrind, const struct cost *cost)
{
	const uint64_t *amounts = callgrind->amounts + (size_t)cost->id * callgrind->shown_count;
	for (uint32_t i = 0; i < callgrind->shown_count; i++)
		if (amounts[i])
			return false;
	return cost->callee == NO_CALLEE;
}

/* Lines of another file than that of the function's definition are between fi= and fe=. */
static void write_costs(struct callgrind *callgrind)
{
	const struct call_paths *paths = callgrind->paths;
	const char *file = "";
	uint32_t level = NO_CALLEE;
	qsort(callgrind->costs, callgrind->cost_count, sizeof(*callgrind->costs), by_place);
	for (size_t i = 0; i < callgrind->cost_count && callgrind->status == 0 && !sink_failed(callgrind->out); i++) {
		const struct cost *cost = &callgrind->costs[i];
		if (is_zero(callgrind, cost))
			continue;
		const char *home = home_of(callgrind, &callgrind->levels[cost->level]);
		if (cost->level != level) {
			sink_text(callgrind->out, "\n");
			write_level(callgrind, cost->level, false);
			level = cost->level;
			file = home;
		}
		const char *here = cost->frame == PROFILE_NONE ? home : file_word(paths->frames[cost->frame].file);
		if (strcmp(here, file) != 0)
			write_name(callgrind, strcmp(here, home) == 0 ? "fe=" : "fi=", NAME_FILE, here);
		file = here;
		write_cost(callgrind, cost);
	}
}

/* A name of an event: readers take it for a word of a formula, so it has letters, digits and '_'. */
static void write_event_name(struct sink *out, const char *name)
{
	for (const char *at = name; *at; at++) {
		bool is_plain = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || (*at >= '0' && *at <= '9');
		sink_write(out, is_plain ? at : "_", 1);
	}
}

static void write_head(struct callgrind *callgrind)
{
	const struct profile *profile = callgrind->paths->profile;
	const char *command = profile_note(profile, "command");
	struct sink *out = callgrind->out;
	sink_text(out, "# callgrind format\nversion: 1\ncreator: cpprof " CPPROF_VERSION "\n");
	if (command) {
		sink_text(out, "cmd: ");
		write_text(out, command);
		sink_text(out, "\n");
	}
	sink_text(out, "positions: line\n");
	for (uint32_t i = 0; i < callgrind->shown_count; i++) {
		const struct profile_resource *resource = &profile->resources[callgrind->shown[i]];
		sink_text(out, "event: ");
		write_event_name(out, profile_string(profile, resource->name));
		sink_text(out, " : ");
		write_text(out, profile_string(profile, resource->title));
		sink_text(out, " (");
		write_text(out, profile_string(profile, resource->unit));
		sink_text(out, ")\n");
	}
	sink_text(out, "events:");
	for (uint32_t i = 0; i < callgrind->shown_count; i++) {
		sink_text(out, " ");
		write_event_name(out, profile_string(profile, profile->resources[callgrind->shown[i]].name));
	}
	sink_text(out, "\nsummary:");
	write_amounts(callgrind, callgrind->inclusive);
}

static int write_all(struct callgrind *callgrind)
{
	const struct call_paths *paths = callgrind->paths;
	uint32_t *open = calloc(paths->frame_count + 1, sizeof(*open));
	uint32_t calls = profile_find_resource(paths->profile, "calls");
	bool has_calls = calls >= paths->first_resource && calls - paths->first_resource < paths->resource_count;
	callgrind->calls_resource = has_calls ? calls : PROFILE_NONE;
	if (!open)
		return ERROR_MEMORY;
	callgrind->shown_count = written_resources(paths, callgrind->shown);
	number_functions(callgrind);
	find_levels(callgrind, open);
	free(open);
	if (callgrind->status == 0)
		find_costs(callgrind);
	if (callgrind->status < 0)
		return callgrind->status;
	write_head(callgrind);
	write_costs(callgrind);
	sink_text(callgrind->out, "\ntotals:");
	write_amounts(callgrind, callgrind->inclusive);
	return callgrind->status;
}

static int callgrind_init(struct callgrind *callgrind)
{
	const struct call_paths *paths = callgrind->paths;
	hash_map_init(&callgrind->by_level);
	hash_map_init(&callgrind->by_line);
	hash_map_init(&callgrind->by_call);
	callgrind->shown = malloc((paths->resource_count + 1) * sizeof(*callgrind->shown));
	callgrind->function_of = malloc((paths->frame_count + 1) * sizeof(*callgrind->function_of));
	callgrind->level_of = malloc((paths->count + 1) * sizeof(*callgrind->level_of));
	callgrind->inclusive =
		calloc((paths->count + 1) * (paths->resource_count + (size_t)1), sizeof(*callgrind->inclusive));
	callgrind->own = malloc((paths->resource_count + 1) * sizeof(*callgrind->own));
	bool has_all = callgrind->shown && callgrind->function_of && callgrind->level_of && callgrind->inclusive &&
		       callgrind->own;
	int status = has_all ? 0 : ERROR_MEMORY;
	for (size_t i = 0; i < sizeof(callgrind->names) / sizeof(*callgrind->names); i++)
		if (strings_init(&callgrind->names[i]) < 0)
			status = ERROR_MEMORY;
	return status;
}

static void callgrind_release(struct callgrind *callgrind)
{
	for (size_t i = 0; i < sizeof(callgrind->names) / sizeof(*callgrind->names); i++)
		strings_release(&callgrind->names[i]);
	hash_map_release(&callgrind->by_level);
	hash_map_release(&callgrind->by_line);
	hash_map_release(&callgrind->by_call);
	free(callgrind->shown);
	free(callgrind->function_of);
	free(callgrind->level_of);
	free(callgrind->inclusive);
	free(callgrind->own);
	free(callgrind->levels);
	free(callgrind->costs);
	free(callgrind->amounts);
}

static int callgrind_export(const struct format_input *input, struct sink *out, struct error *error)
{
	(void)error; /* format_export sets it */
	struct callgrind callgrind = { .paths = input->paths, .out = out };
	int status = callgrind_init(&callgrind);
	if (status == 0)
		status = write_all(&callgrind);
	callgrind_release(&callgrind);
	return status;
}

const struct format format_callgrind = {
	.name = "callgrind",
	.title = "callgrind profile",
	.ending = "callgrind.out",
	.summary = "for callgrind_annotate and KCachegrind: costs of lines and inclusive costs of calls, all resources",
	.options = FORMAT_RESOURCE | FORMAT_FRAMES | FORMAT_SELECTION,
	.paths = FORMAT_BY_LINE,
	.has_several = true,
	.recognise = callgrind_recognise,
	.import = callgrind_import,
	.export = callgrind_export,
};
