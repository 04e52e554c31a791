/*
 * callgrind.out, read (valgrind.org, "Callgrind Format Specification"). The file has functions and
 * calls, and no call paths. A path made of its calls would divide the costs of a function among its
 * callers by a guess. So the profile has no such paths:
 *
 *     fn=(1) parse
 *     12 4000 1          a path of one frame, parse at line 12, with hits of each event. Totals and self costs are exact
 *     cfn=(2) read
 *     calls=3 40         the path parse, read with 3 hits of `calls`
 *     14 9000 0          the callee's inclusive costs, which are left out: the callee's own lines have them already
 *
 * Valgrind and cpprof write "totals:" behind the costs of each part: without it, a file of theirs is
 * cut. The sums of the part's costs must be the totals; those at the end that are 0 may be left out. Names may be numbered, "(1) parse" and then "(1)"; numbers of lines may be relative, "+3", "-2"
 * and "*". Recursion levels ("parse'2") are the function itself. As cpprof writes it, the function
 * [root] is a path without frames, and the titles of events end in a unit.
 */
#include "formats/callgrind_import.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash_map.h"
#include "base/quote.h"
#include "formats/import_tree.h"
#include "formats/input.h"
#include "formats/input_text.h"

enum { EVENTS_MOST = 64, POSITIONS_MOST = 2 };
enum name_kind { NAME_MODULE, NAME_FILE, NAME_FUNCTION, NAME_KINDS };

/* A function, by strings of the profile. */
struct place {
	uint32_t module, file, function;
};

struct reader {
	struct import_tree tree;
	uint64_t line;
	bool is_ours, has_events, has_lines;
	bool is_of_valgrind;                  /* which counts; other writers convert samples to this format, too */
	bool has_totals;                      /* ... and they have been read */
	struct hash_map numbered[NAME_KINDS]; /* number -> string of the profile */
	struct place here, callee;            /* here.file: of the function's definition */
	struct place target;                  /* of a jump, which has no costs */
	uint32_t line_file;                   /* file of the lines that follow */
	bool has_callee_file, has_callee_module;
	uint64_t calls; /* of the call whose costs follow; 0: none follow */
	bool is_call;
	uint32_t positions, line_position; /* columns in front of the costs, and which is the line */
	uint64_t position[POSITIONS_MOST]; /* the last ones */
	uint32_t events[EVENTS_MOST];      /* per column: the resource */
	uint64_t sums[EVENTS_MOST];        /* ... and the costs of this part so far */
	uint32_t event_count;
	uint32_t calls_resource; /* PROFILE_NONE: not added yet */
};

static int refuse(const struct reader *reader, const char *what)
{
	return error_set(reader->tree.error, ERROR_FORMAT, "%s:%" PRIu64 ": expected %s, as callgrind writes it",
			 reader->tree.name, reader->line, what);
}

static int refuse_total(const struct reader *reader, uint32_t column, uint64_t total)
{
	const struct profile *profile = reader->tree.profile;
	const char *event = profile_string(profile, profile->resources[reader->events[column]].name);
	return error_set(reader->tree.error, ERROR_FORMAT,
			 "%s:%" PRIu64 ": the costs of '%s' add up to %" PRIu64 ", but their total is %" PRIu64
			 ": the file is damaged",
			 reader->tree.name, reader->line, event, reader->sums[column], total);
}

static const char *skip_blanks(const char *text)
{
	return text + strspn(text, " \t");
}

/* Returns what follows the key, or NULL if the line has another one. */
static char *after(char *line, const char *key)
{
	size_t length = strlen(key);
	return strncmp(line, key, length) == 0 ? line + length + strspn(line + length, " \t") : NULL;
}

/* Reads a decimal number, or one of base 16 with 0x in front. Returns what follows it, or NULL
 * if there is none, or one above 2^64 - 1. */
static const char *read_number(const char *text, uint64_t *number)
{
	bool is_hex = text[0] == '0' && text[1] == 'x';
	return is_hex ? input_text_hex(text + 2, UINT64_MAX, number) : input_text_number(text, UINT64_MAX, number);
}

/* --- names --- */

/* Reads "(1) parse", "(1)" or "parse" as a string of the profile. */
static int read_name(struct reader *reader, enum name_kind kind, const char *text, uint32_t *name)
{
	uint64_t number;
	const char *end = text[0] == '(' ? read_number(text + 1, &number) : NULL;
	bool is_numbered = end && *end == ')';
	const char *rest = is_numbered ? skip_blanks(end + 1) : text;
	if (is_numbered && !*rest) {
		*name = hash_map_get(&reader->numbered[kind], number);
		return *name == HASH_MAP_NONE ? refuse(reader, "a name at the first use of its number") : 0;
	}
	size_t length = strlen(rest);
	const char *level = kind == NAME_FUNCTION ? strrchr(rest, '\'') : NULL;
	if (level && level > rest && level[1] && !level[1 + strspn(level + 1, "0123456789")])
		length = (size_t)(level - rest);
	if (kind != NAME_FUNCTION && strcmp(rest, "???") == 0)
		length = 0;
	int64_t id = strings_add(&reader->tree.profile->strings, rest, length);
	if (id < 0)
		return import_tree_fail(&reader->tree, (int)id);
	*name = (uint32_t)id;
	return is_numbered && hash_map_put(&reader->numbered[kind], number, *name) < 0
		       ? import_tree_fail(&reader->tree, ERROR_MEMORY)
		       : 0;
}

/* Reads a line that names a place, "fn=(1) parse". Returns 1 if it is one. */
static int read_place(struct reader *reader, char *line)
{
	struct place *here = &reader->here, *callee = &reader->callee, *target = &reader->target;
	const struct {
		const char *key;
		enum name_kind kind;
		uint32_t *name, *other; /* both get the name; other may be NULL */
		bool *is_set;
	} keys[] = {
		{ "ob=", NAME_MODULE, &here->module, NULL, NULL },
		{ "fl=", NAME_FILE, &here->file, &reader->line_file, NULL },
		{ "fi=", NAME_FILE, &reader->line_file, NULL, NULL },
		{ "fe=", NAME_FILE, &reader->line_file, NULL, NULL },
		{ "fn=", NAME_FUNCTION, &here->function, NULL, NULL },
		{ "cob=", NAME_MODULE, &callee->module, NULL, &reader->has_callee_module },
		{ "cfi=", NAME_FILE, &callee->file, NULL, &reader->has_callee_file },
		{ "cfl=", NAME_FILE, &callee->file, NULL, &reader->has_callee_file },
		{ "cfn=", NAME_FUNCTION, &callee->function, NULL, NULL },
		{ "jfi=", NAME_FILE, &target->file, NULL, NULL },
		{ "jfn=", NAME_FUNCTION, &target->function, NULL, NULL },
	};
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *text = after(line, keys[i].key);
		if (!text)
			continue;
		int code = read_name(reader, keys[i].kind, text, keys[i].name);
		if (code < 0)
			return code;
		if (keys[i].other)
			*keys[i].other = *keys[i].name;
		if (keys[i].is_set)
			*keys[i].is_set = true;
		if (keys[i].name == &here->function)
			reader->line_file = here->file;
		return 1;
	}
	return 0;
}

/* --- paths --- */

static bool is_root(const struct reader *reader, const struct place *place)
{
	return reader->is_ours && strcmp(profile_string(reader->tree.profile, place->function), "[root]") == 0;
}

/* Returns the child of a node for a function at a line. */
static int64_t child_of(struct reader *reader, uint32_t node, const struct place *place, uint32_t file, uint64_t line)
{
	struct profile *profile = reader->tree.profile;
	const char *function = profile_string(profile, place->function);
	const struct import_frame frame = { .function = function,
					    .function_bytes = strlen(function),
					    .file = profile_string(profile, file),
					    .home = profile_string(profile, place->file),
					    .line = line <= UINT32_MAX ? (uint32_t)line : 0 };
	int64_t module = import_tree_module(&reader->tree, profile_string(profile, place->module));
	int64_t location = module < 0 ? module : import_tree_location(&reader->tree, (uint32_t)module, &frame, 1);
	if (location < 0)
		return location;
	int64_t child = profile_add_node(profile, node, (uint32_t)location);
	return child < 0 ? import_tree_fail(&reader->tree, (int)child) : child;
}

/* Valgrind counts. Other writers do not state how many samples their amounts are. */
static enum import_amounts amounts_of(const struct reader *reader)
{
	return reader->is_of_valgrind ? IMPORT_EXACT : IMPORT_SUMS;
}

/* Adds the calls of `callee` from line `line` of the present function. cpprof writes its counts
 * of calls as an event, too, and each call as one if it has no counts. */
static int add_calls(struct reader *reader, uint64_t line)
{
	if (reader->is_ours)
		return 0;
	if (reader->calls_resource == PROFILE_NONE) {
		int64_t resource = import_tree_resource(&reader->tree, "calls", "call");
		int code = resource < 0 ? (int)resource
					: import_tree_amounts(&reader->tree, (uint32_t)resource, amounts_of(reader));
		if (code < 0)
			return code;
		reader->calls_resource = (uint32_t)resource;
	}
	const struct place *callee = &reader->callee;
	int64_t node = is_root(reader, &reader->here)
			       ? PROFILE_ROOT
			       : child_of(reader, PROFILE_ROOT, &reader->here, reader->line_file, line);
	if (node >= 0)
		node = child_of(reader, (uint32_t)node, callee, callee->file, 0);
	return node < 0 ? (int)node
			: import_tree_hit(&reader->tree, 0, PROFILE_NONE, (uint32_t)node, reader->calls_resource,
					  reader->calls);
}

/* --- lines of costs --- */

/* Reads a position, which may be relative to the last one. */
static const char *read_position(struct reader *reader, const char *text, uint32_t column)
{
	uint64_t number = 0, last = reader->position[column];
	char sign = *text;
	const char *end = sign == '*'                  ? text + 1
			  : sign == '+' || sign == '-' ? read_number(text + 1, &number)
						       : read_number(text, &number);
	if (sign == '*' || sign == '+')
		number = last + number;
	else if (sign == '-')
		number = last - number;
	reader->position[column] = number;
	return end && (!*end || *end == ' ' || *end == '\t') ? skip_blanks(end) : NULL;
}

/* Reads the cost in a column. Returns what follows it, or NULL if it is none of an event. */
static const char *read_cost(const struct reader *reader, const char *text, uint32_t column, uint64_t *cost)
{
	const char *end = column < reader->event_count ? read_number(text, cost) : NULL;
	return end && (!*end || *end == ' ' || *end == '\t') ? skip_blanks(end) : NULL;
}

/* Compares "totals: 24 3" with the sums of the part, and begins the next part. */
static int read_totals(struct reader *reader, const char *text)
{
	uint32_t columns = 0;
	for (uint64_t total; *text; columns++) {
		if (!(text = read_cost(reader, text, columns, &total)))
			return refuse(reader, "a total for each event");
		if (total != reader->sums[columns])
			return refuse_total(reader, columns, total);
	}
	for (; columns < reader->event_count; columns++)
		if (reader->sums[columns])
			return refuse_total(reader, columns, 0);
	memset(reader->sums, 0, sizeof(reader->sums));
	reader->has_totals = true;
	return 0;
}

static int read_costs(struct reader *reader, const char *text)
{
	uint64_t cost;
	int64_t node = -1;
	for (uint32_t i = 0; i < reader->positions; i++)
		if (!(text = read_position(reader, text, i)))
			return refuse(reader, "a line number and costs");
	uint64_t line = reader->has_lines ? reader->position[reader->line_position] : 0;
	bool is_call = reader->is_call;
	reader->has_totals = false;
	reader->is_call = reader->has_callee_file = reader->has_callee_module = false;
	if (is_call)
		return add_calls(reader, line);
	for (uint32_t i = 0; *text; i++) {
		if (!(text = read_cost(reader, text, i, &cost)))
			return refuse(reader, "a cost for each event");
		reader->sums[i] += cost;
		if (cost > 0 && node < 0)
			node = is_root(reader, &reader->here)
				       ? PROFILE_ROOT
				       : child_of(reader, PROFILE_ROOT, &reader->here, reader->line_file, line);
		int code = cost == 0  ? 0
			   : node < 0 ? (int)node
				      : import_tree_hit(&reader->tree, 0, PROFILE_NONE, (uint32_t)node,
							reader->events[i], cost);
		if (code < 0)
			return code;
	}
	return 0;
}

/* Reads "calls=3 40", which the costs of the call follow. */
static int read_calls(struct reader *reader, const char *text)
{
	reader->is_call = true;
	if (!reader->has_callee_module)
		reader->callee.module = reader->here.module;
	if (!reader->has_callee_file)
		reader->callee.file = reader->line_file;
	return read_number(text, &reader->calls) ? 0 : refuse(reader, "'calls=NUMBER LINE'");
}

/* --- the head --- */

/* Returns the resource of an event. cpprof wrote '-' as '_'. */
static int64_t resource_of(struct reader *reader, char *name)
{
	struct profile *profile = reader->tree.profile;
	for (char *at = name; reader->is_ours && *at; at++)
		*at = *at == '_' ? '-' : *at;
	uint32_t known = profile_find_resource(profile, name);
	if (known != PROFILE_NONE)
		return known;
	bool is_count = strcmp(name, "samples") == 0;
	int64_t id = import_tree_resource(&reader->tree, name, is_count ? "sample" : "event");
	enum import_amounts amounts = is_count ? IMPORT_SAMPLES : amounts_of(reader);
	int code = id < 0 ? (int)id : import_tree_amounts(&reader->tree, (uint32_t)id, amounts);
	return code < 0 ? code : id;
}

/* Reads "cpu : CPU Time (ns)". A formula ("Cy = 3 Ir") has no costs in the file. */
static int read_event(struct reader *reader, char *text)
{
	char *title = strchr(text, ':'), *name_end = text + strcspn(text, " \t:=");
	struct profile *profile = reader->tree.profile;
	if (!title || strchr(text, '='))
		return 0;
	title += 1 + strspn(title + 1, " \t");
	*name_end = 0;
	char *unit = reader->is_ours ? strrchr(title, '(') : NULL;
	size_t length = unit ? strlen(unit) : 0;
	bool has_unit = length > 2 && unit > title && unit[length - 1] == ')';
	if (has_unit) {
		unit[length - 1] = 0;
		unit[-1] = 0;
	}
	int64_t id = resource_of(reader, text);
	int64_t shown = id < 0 ? id : profile_add_string(profile, title[0] ? title : text);
	int64_t measured = shown < 0 || !has_unit ? 0 : profile_add_string(profile, unit + 1);
	if (id < 0)
		return (int)id;
	if (shown < 0 || measured < 0)
		return import_tree_fail(&reader->tree, ERROR_MEMORY);
	profile->resources[id].title = (uint32_t)shown;
	if (has_unit)
		profile->resources[id].unit = (uint32_t)measured;
	return 0;
}

/* Reads "Ir Dr Dw". */
static int read_events(struct reader *reader, char *text)
{
	char *rest = NULL;
	reader->event_count = 0;
	reader->has_events = true;
	for (char *name = strtok_r(text, " \t", &rest); name; name = strtok_r(NULL, " \t", &rest)) {
		if (reader->event_count == EVENTS_MOST)
			return refuse(reader, "at most 64 events");
		int64_t id = resource_of(reader, name);
		if (id < 0)
			return (int)id;
		reader->events[reader->event_count++] = (uint32_t)id;
	}
	return reader->event_count ? 0 : refuse(reader, "the names of events");
}

/* Reads "instr line". */
static int read_positions(struct reader *reader, const char *text)
{
	const char *line = strstr(text, "line");
	bool has_instructions = strstr(text, "instr") || strstr(text, "addr");
	reader->positions = (line != NULL) + has_instructions;
	reader->line_position = line && has_instructions ? 1 : 0;
	reader->has_lines = line != NULL;
	return reader->positions ? 0 : refuse(reader, "the positions 'line' or 'instr'");
}

/* The next part counts relative numbers from 0 again. */
static void begin_part(struct reader *reader)
{
	memset(reader->position, 0, sizeof(reader->position));
	memset(reader->sums, 0, sizeof(reader->sums));
}

static int read_head(struct reader *reader, char *line)
{
	char *text;
	if ((text = after(line, "events:")))
		return read_events(reader, text);
	if ((text = after(line, "event:")))
		return read_event(reader, text);
	if ((text = after(line, "positions:")))
		return read_positions(reader, text);
	if ((text = after(line, "creator:"))) {
		reader->is_ours = strncmp(text, "cpprof ", strlen("cpprof ")) == 0;
		reader->is_of_valgrind = strncmp(text, "callgrind-", strlen("callgrind-")) == 0;
	} else if ((text = after(line, "totals:")))
		return read_totals(reader, text);
	else if ((text = after(line, "cmd:")) && *text && profile_add_note(reader->tree.profile, "command", text) < 0)
		return import_tree_fail(&reader->tree, ERROR_MEMORY);
	else if (after(line, "part:"))
		begin_part(reader);
	return 0;
}

/* --- the whole --- */

/* Returns whether the line is "key: value". */
static bool is_head(const char *line)
{
	size_t length = strspn(line, "abcdefghijklmnopqrstuvwxyz");
	return length > 0 && line[length] == ':';
}

static int read_line(void *context, char *line, size_t length)
{
	struct reader *reader = context;
	if (line[length - 1] != '\n')
		return refuse(reader, "a whole line");
	while (length > 0 && strchr("\n\r \t", line[length - 1]) && line[length - 1])
		line[--length] = 0;
	if (memchr(line, 0, length))
		return refuse(reader, "text");
	if (length == 0 || line[0] == '#')
		return 0;
	if (is_head(line))
		return read_head(reader, line);
	char *calls = after(line, "calls=");
	if (calls)
		return read_calls(reader, calls);
	/* Jumps have no costs. */
	if (after(line, "jump=") || after(line, "jcnd="))
		return 0;
	if (strchr("0123456789+-*", line[0]))
		return reader->has_events ? read_costs(reader, line) : refuse(reader, "'events:' before the costs");
	int code = read_place(reader, line);
	return code == 0 ? refuse(reader, "a line of costs or names") : code < 0 ? code : 0;
}

struct profile *callgrind_import(FILE *in, const char *name, const char *image, struct error *error)
{
	(void)image; /* names need no image */
	struct reader reader = { .positions = 1, .has_lines = true, .calls_resource = PROFILE_NONE };
	for (size_t i = 0; i < NAME_KINDS; i++)
		hash_map_init(&reader.numbered[i]);
	int code = import_tree_open(&reader.tree, name, error);
	if (code == 0)
		code = input_lines_read(in, name, &reader.line, read_line, &reader, error);
	if (code == 0 && !reader.has_events)
		code = error_set(error, ERROR_FORMAT, "cannot read %s%s%s as callgrind: it has no 'events:'",
				 quote_mark(name), name, quote_mark(name));
	if (code == 0 && (reader.is_ours || reader.is_of_valgrind) && !reader.has_totals)
		code = refuse(&reader, "'totals:' behind it");
	for (size_t i = 0; i < NAME_KINDS; i++)
		hash_map_release(&reader.numbered[i]);
	return import_tree_close(&reader.tree, code);
}

bool callgrind_recognise(const unsigned char *start, size_t bytes)
{
	static const char mark[] = "# callgrind format", events[] = "\nevents:";
	if (memchr(start, 0, bytes))
		return false;
	return (bytes >= sizeof(mark) - 1 && memcmp(start, mark, sizeof(mark) - 1) == 0) ||
	       memmem(start, bytes, events, sizeof(events) - 1) != NULL ||
	       (bytes >= sizeof(events) - 2 && memcmp(start, events + 1, sizeof(events) - 2) == 0);
}
