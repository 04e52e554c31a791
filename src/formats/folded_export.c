/*
 * Writing folded stacks: the profile's tree is merged by names, so that each
 * distinct path of names is one node, and those with hits become lines.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/path.h"
#include "formats/folded.h"
#include "profile/thread_mark.h"

enum { LINES_ROOT = 0 };

/* A node of the merged tree. */
struct line {
	uint32_t parent; /* of a smaller number */
	uint32_t name;   /* string in `names` */
	uint64_t hits;
	size_t text; /* offset in `texts` */
};

/* What stands on a path behind its last mark of a thread. */
enum extent {
	ONLY_START, /* nothing but start code, and nothing above that mark */
	YET_START,  /* nothing but start code, below what started the thread */
	SHOWN,
};

/* A node of the profile's tree. */
struct place {
	uint32_t line;      /* in `lines` */
	uint32_t innermost; /* while ONLY_START: the line of its innermost frame alone */
	uint8_t extent;     /* enum extent */
};

struct export
{
	const struct profile *profile;
	const struct convert_selection *selection;
	struct strings names; /* as written: without ';' */
	uint32_t *name_of;    /* per string of the profile: its number in `names`, or PROFILE_NONE */
	struct line *lines;
	size_t line_count;
	size_t line_capacity;
	struct hash_map line_by_edge; /* (parent, name) -> line */
	struct place *places;
	struct buffer scratch;
	struct buffer texts; /* of lines with hits, each with its NUL */
};

/* --- names --- */

/* A name as it stands in a line. */
static int64_t add_name(struct export *export, const char *text)
{
	buffer_clear(&export->scratch);
	buffer_append_string(&export->scratch, text);
	for (size_t i = 0; i < export->scratch.size; i++) {
		uint8_t *byte = &export->scratch.bytes[i];
		if (*byte == ';')
			*byte = ':';
		else if (*byte == '\n' || *byte == '\r')
			*byte = ' ';
	}
	if (buffer_error(&export->scratch))
		return ERROR_MEMORY;
	return strings_add(&export->names, (const char *)export->scratch.bytes, export->scratch.size);
}

static int64_t function_name(struct export *export, uint32_t function)
{
	uint32_t string = export->profile->functions[function].name;
	if (export->name_of[string] == PROFILE_NONE) {
		int64_t name = add_name(export, profile_string(export->profile, string));
		if (name < 0)
			return name;
		export->name_of[string] = (uint32_t)name;
	}
	return export->name_of[string];
}

/* "libfoo.so+0x1a40": a location that was never symbolized. */
static int64_t address_name(struct export *export, const struct profile_location *location)
{
	const char *path = profile_string(export->profile, export->profile->modules[location->module].path);
	char *text;
	if (asprintf(&text, "%s+0x%llx", path_basename(path), (unsigned long long)location->address) < 0)
		return ERROR_MEMORY;
	int64_t name = add_name(export, text);
	free(text);
	return name;
}

/* --- the merged tree --- */

static int64_t add_line(struct export *export, uint32_t parent, int64_t name)
{
	if (name < 0)
		return name;
	uint64_t key = (uint64_t)parent << 32 | (uint32_t)name;
	uint32_t found = hash_map_get(&export->line_by_edge, key);
	if (found != HASH_MAP_NONE)
		return found;
	if (export->line_count >= PROFILE_NONE)
		return ERROR_LIMIT;
	if (ARRAY_RESERVE(export->lines, export->line_capacity, export->line_count + 1) < 0 ||
	    hash_map_put(&export->line_by_edge, key, (uint32_t) export->line_count) < 0)
		return ERROR_MEMORY;
	export->lines[export->line_count] = (struct line){ .parent = parent, .name = (uint32_t)name };
	return (int64_t) export->line_count++;
}

static int place_frame(struct export *export, struct place *place, int64_t name, bool is_start)
{
	if (place->extent == YET_START && is_start)
		return name < 0 ? (int)name : 0;
	int64_t line;
	if (place->extent == ONLY_START && is_start) {
		line = add_line(export, LINES_ROOT, name);
		place->innermost = (uint32_t)line;
	} else {
		line = add_line(export, place->line, name);
		place->line = (uint32_t)line;
		place->extent = SHOWN;
	}
	return line < 0 ? (int)line : 0;
}

/* A thread goes on where its creator's path, as shown, ends. */
static void place_mark(const struct export *export, uint32_t mark, struct place *place)
{
	const struct convert_selection *selection = export->selection;
	uint32_t parent = export->profile->nodes[mark].parent;
	if (selection->no_stitch) {
		*place = export->places[PROFILE_ROOT];
		return;
	}
	*place = export->places[parent];
	if (selection->untrimmed)
		return;
	struct thread_creator creator = thread_mark_creator(export->profile, mark, selection->no_inlines);
	const struct place *above = &export->places[creator.node];
	if (above->extent == ONLY_START) {
		*place = export->places[PROFILE_ROOT];
	} else if (above->extent == YET_START) {
		*place = *above;
	} else {
		for (uint32_t i = 0; i < creator.cut; i++)
			place->line = export->lines[place->line].parent;
		place->extent = YET_START;
	}
}

/* Extends its parent's place by the frames of a node's location. */
static int place_node(struct export *export, const struct profile_node *node, struct place *place)
{
	const struct profile *profile = export->profile;
	const struct profile_location *location = &profile->locations[node->location];
	*place = export->places[node->parent];
	if (location->first_frame == PROFILE_NONE)
		return place_frame(export, place, address_name(export, location), false);
	int code = 0;
	uint32_t innermost = export->selection->no_inlines ? location->frame_count - 1 : 0;
	for (uint32_t i = location->frame_count; i-- > innermost && code == 0;) {
		uint32_t function = profile->frames[location->first_frame + i].function;
		code = place_frame(export, place, function_name(export, function),
				   profile->functions[function].role == ROLE_START);
	}
	return code;
}

static int merge(struct export *export)
{
	const struct profile *profile = export->profile;
	int64_t root = strings_init(&export->names) < 0 ? ERROR_MEMORY : add_name(export, "[no stack]");
	export->name_of = malloc(profile->strings.count * sizeof(*export->name_of));
	export->places = malloc(profile->node_count * sizeof(*export->places));
	if (!export->name_of || !export->places || add_line(export, PROFILE_NONE, root) < 0)
		return ERROR_MEMORY;
	memset(export->name_of, 0xff, profile->strings.count * sizeof(*export->name_of));
	export->places[PROFILE_ROOT] = (struct place){ .extent = export->selection->untrimmed ? SHOWN : ONLY_START };
	int code = 0;
	for (uint32_t i = 1; i < profile->node_count && code == 0; i++) {
		if (thread_mark_is(profile, i))
			place_mark(export, i, &export->places[i]);
		else
			code = place_node(export, &profile->nodes[i], &export->places[i]);
	}
	for (size_t i = 0; i < profile->hit_count && code == 0; i++) {
		const struct profile_hit *hit = &profile->hits[i];
		const struct place *place = &export->places[hit->node];
		if (hit->resource == export->selection->resource)
			export->lines[place->extent == ONLY_START ? place->innermost : place->line].hits += hit->count;
	}
	return code;
}

/* --- text --- */

static void append_path(struct export *export, uint32_t line)
{
	/* From the inside out, then the names change ends: no recursion, however deep the path is. */
	uint32_t previous = PROFILE_NONE;
	uint32_t at = line;
	while (at != LINES_ROOT) {
		uint32_t parent = export->lines[at].parent;
		export->lines[at].parent = previous;
		previous = at;
		at = parent;
	}
	uint32_t above = LINES_ROOT;
	for (at = previous; at != PROFILE_NONE;) {
		uint32_t below = export->lines[at].parent;
		buffer_append_string(&export->texts, strings_get(&export->names, export->lines[at].name));
		buffer_append_byte(&export->texts, below == PROFILE_NONE ? 0 : ';');
		export->lines[at].parent = above;
		above = at;
		at = below;
	}
}

static int compare_texts(const void *left, const void *right, void *texts)
{
	const struct line *a = *(const struct line *const *)left;
	const struct line *b = *(const struct line *const *)right;
	return strcmp((const char *)texts + a->text, (const char *)texts + b->text);
}

static int write_lines(struct export *export, FILE *out)
{
	struct line **sorted = malloc(export->line_count * sizeof(*sorted));
	size_t count = 0;
	for (size_t i = 0; sorted && i < export->line_count; i++) {
		struct line *line = &export->lines[i];
		if (line->hits == 0)
			continue;
		line->text = export->texts.size;
		if (i == LINES_ROOT)
			buffer_append(&export->texts, "[no stack]", sizeof("[no stack]"));
		else
			append_path(export, (uint32_t)i);
		sorted[count++] = line;
	}
	if (!sorted || buffer_error(&export->texts)) {
		free(sorted);
		return ERROR_MEMORY;
	}
	qsort_r(sorted, count, sizeof(*sorted), compare_texts, export->texts.bytes);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s %llu\n", (const char *)export->texts.bytes + sorted[i]->text,
			(unsigned long long)sorted[i]->hits);
	free(sorted);
	return 0;
}

int folded_export(const struct profile *profile, const struct convert_selection *selection, FILE *out,
		  struct error *error)
{
	if (selection->resource >= profile->resource_count)
		return error_set(error, ERROR_NOT_FOUND, "the profile has no resource %u", selection->resource);
	struct export export = { .profile = profile, .selection = selection };
	int code = merge(&export);
	if (code == 0)
		code = write_lines(&export, out);
	if (code < 0)
		error_set(error, code, "cannot export: %s", error_text(code));
	free(export.name_of);
	free(export.lines);
	free(export.places);
	strings_release(&export.names);
	hash_map_release(&export.line_by_edge);
	buffer_release(&export.scratch);
	buffer_release(&export.texts);
	if (code == 0 && (fflush(out) != 0 || ferror(out)))
		code = error_set_errno(error, "cannot write the folded stacks");
	return code;
}
