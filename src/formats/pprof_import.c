/*
 * pprof, read. The message is read whole, because its texts come last and samples refer to
 * everything else. Numbers of texts are indexes; numbers of functions, locations and mappings are ids
 * of the writer's choice.
 *
 * A resource whose sample type is the period type, and whose values are multiples of the period,
 * has that interval. Of the others, the file does not state how many samples its values are, so
 * their kind is RESOURCE_SUMS, with a note.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash_map.h"
#include "base/quote.h"
#include "formats/format.h"
#include "formats/import_tree.h"
#include "formats/input.h"
#include "formats/pprof_fields.h"
#include "formats/protobuf.h"

enum { NAME_BYTES = 256 }; /* of an address, or of a number with its unit */

struct value_type {
	uint64_t type, unit; /* texts */
	bool is_multiple;    /* all values are multiples of the period */
};

struct mapping {
	uint32_t module;
	uint64_t start, offset;
};

struct function {
	uint64_t name, system_name, file; /* texts */
	uint64_t line;
};

struct place {
	struct cursor message;
	uint32_t location; /* in the profile; PROFILE_NONE: not used yet */
};

/* The rows of messages with ids, by the id. */
struct rows {
	struct hash_map by_id;
	size_t count, capacity;
};

struct reader {
	struct import_tree tree;
	struct cursor message; /* the whole profile */
	uint32_t *texts;       /* per text of the file: its id in the profile's strings */
	size_t text_count, text_capacity;
	bool lacks_text; /* it refers to one that it does not have */
	struct value_type *types;
	size_t type_count, type_capacity;
	struct value_type period_type;
	uint64_t period, start_unix_ns, duration_ns, comment;
	struct mapping *mappings;
	struct function *functions;
	struct place *places;
	struct rows mapping_rows, function_rows, place_rows;
	struct import_frame *frames; /* of the location that is made */
	size_t frame_capacity;
	struct profile_label *labels; /* of the sample that is read */
	size_t label_count, label_capacity;
	struct protobuf_numbers locations, values;
};

static int refuse(const struct reader *reader, const char *what)
{
	const char *mark = quote_mark(reader->tree.name);
	return error_set(reader->tree.error, ERROR_FORMAT, "cannot read %s%s%s as pprof: %s", mark, reader->tree.name,
			 mark, what);
}

/* `where`: over the rest of the bytes, from the damage on. */
static int damaged(const struct reader *reader, const struct cursor *where)
{
	char what[64];
	snprintf(what, sizeof(what), "it is damaged, or cut, at byte %zu",
		 where->next ? (size_t)(where->next - reader->message.next) : 0);
	return refuse(reader, what);
}

/* A text that does not exist is "": writers put the texts last, so that a file without them is cut. */
static const char *text_at(struct reader *reader, uint64_t number)
{
	reader->lacks_text |= number > 0 && number >= reader->text_count;
	return number < reader->text_count ? profile_string(reader->tree.profile, reader->texts[number]) : "";
}

/* --- texts, types and the profile's own fields --- */

static int add_text(struct reader *reader, const struct cursor *bytes)
{
	size_t left = cursor_left(bytes); /* 0, without bytes, if the field is a number */
	size_t size = left ? strnlen((const char *)bytes->next, left) : 0;
	int64_t id = strings_add(&reader->tree.profile->strings, size ? (const char *)bytes->next : "", size);
	if (id < 0)
		return import_tree_fail(&reader->tree, (int)id);
	if (ARRAY_RESERVE(reader->texts, reader->text_capacity, reader->text_count + 1) < 0)
		return import_tree_fail(&reader->tree, ERROR_MEMORY);
	reader->texts[reader->text_count++] = (uint32_t)id;
	return 0;
}

static int read_type(const struct reader *reader, struct cursor message, struct value_type *type)
{
	struct protobuf_field field;
	*type = (struct value_type){ .is_multiple = true };
	while (protobuf_next(&message, &field)) {
		if (field.number == VALUE_TYPE_TYPE)
			type->type = field.value;
		else if (field.number == VALUE_TYPE_UNIT)
			type->unit = field.value;
	}
	return message.failed ? damaged(reader, &message) : 0;
}

static int add_type(struct reader *reader, const struct cursor *message)
{
	if (ARRAY_RESERVE(reader->types, reader->type_capacity, reader->type_count + 1) < 0)
		return import_tree_fail(&reader->tree, ERROR_MEMORY);
	return read_type(reader, *message, &reader->types[reader->type_count++]);
}

static int read_head_field(struct reader *reader, const struct protobuf_field *field)
{
	switch (field->number) {
	case PROFILE_STRING:
		return add_text(reader, &field->bytes);
	case PROFILE_SAMPLE_TYPE:
		return add_type(reader, &field->bytes);
	case PROFILE_PERIOD_TYPE:
		return read_type(reader, field->bytes, &reader->period_type);
	case PROFILE_PERIOD:
		reader->period = field->value <= INT64_MAX ? field->value : 0;
		return 0;
	case PROFILE_TIME_NS:
		reader->start_unix_ns = field->value <= INT64_MAX ? field->value : 0;
		return 0;
	case PROFILE_DURATION_NS:
		reader->duration_ns = field->value <= INT64_MAX / 2 ? field->value : 0;
		return 0;
	case PROFILE_COMMENT: /* packed, as other writers have it, or single */
		if (!reader->comment)
			reader->comment =
				field->is_bytes
					? cursor_varint(&(struct cursor){ field->bytes.next, field->bytes.end, false })
					: field->value;
		return 0;
	default:
		return 0;
	}
}

/* --- mappings, functions, locations --- */

/* Makes room for one more row of these, whose id is `id`. Returns its number, or a negative error. */
static int64_t new_row(struct reader *reader, struct rows *rows, void *items, size_t item_bytes, uint64_t id)
{
	if (array_reserve(items, &rows->capacity, rows->count + 1, item_bytes) < 0 ||
	    hash_map_put(&rows->by_id, id, (uint32_t)rows->count) < 0)
		return import_tree_fail(&reader->tree, ERROR_MEMORY);
	return (int64_t)rows->count++;
}

static int add_mapping(struct reader *reader, struct cursor message)
{
	struct protobuf_field field;
	struct mapping mapping = { 0 };
	uint64_t id = 0, file = 0, build_id = 0;
	while (protobuf_next(&message, &field)) {
		if (field.number == MAPPING_ID)
			id = field.value;
		else if (field.number == MAPPING_START)
			mapping.start = field.value;
		else if (field.number == MAPPING_OFFSET)
			mapping.offset = field.value;
		else if (field.number == MAPPING_FILE)
			file = field.value;
		else if (field.number == MAPPING_BUILD_ID)
			build_id = field.value;
	}
	if (message.failed)
		return damaged(reader, &message);
	int64_t module = import_tree_module(&reader->tree, text_at(reader, file));
	if (module < 0)
		return (int)module;
	import_tree_build_id(&reader->tree, (uint32_t)module, text_at(reader, build_id));
	int64_t row = new_row(reader, &reader->mapping_rows, &reader->mappings, sizeof(mapping), id);
	if (row < 0)
		return (int)row;
	mapping.module = (uint32_t)module;
	reader->mappings[row] = mapping;
	return 0;
}

static int add_function(struct reader *reader, struct cursor message)
{
	struct protobuf_field field;
	struct function function = { 0 };
	uint64_t id = 0;
	while (protobuf_next(&message, &field)) {
		if (field.number == FUNCTION_ID)
			id = field.value;
		else if (field.number == FUNCTION_NAME)
			function.name = field.value;
		else if (field.number == FUNCTION_SYSTEM_NAME)
			function.system_name = field.value;
		else if (field.number == FUNCTION_FILE)
			function.file = field.value;
		else if (field.number == FUNCTION_LINE)
			function.line = field.value;
	}
	if (message.failed)
		return damaged(reader, &message);
	int64_t row = new_row(reader, &reader->function_rows, &reader->functions, sizeof(function), id);
	if (row < 0)
		return (int)row;
	reader->functions[row] = function;
	return 0;
}

static int add_place(struct reader *reader, struct cursor message)
{
	struct protobuf_field field;
	struct place place = { .message = message, .location = PROFILE_NONE };
	uint64_t id = 0;
	while (protobuf_next(&message, &field))
		if (field.number == LOCATION_ID)
			id = field.value;
	if (message.failed)
		return damaged(reader, &message);
	int64_t row = new_row(reader, &reader->place_rows, &reader->places, sizeof(place), id);
	if (row < 0)
		return (int)row;
	reader->places[row] = place;
	return 0;
}

static uint32_t line_number(uint64_t line)
{
	return line <= INT32_MAX ? (uint32_t)line : 0;
}

/* Sets the function and the line of a frame. Returns whether the function has a name. */
static bool read_line(struct reader *reader, struct cursor message, struct import_frame *frame)
{
	struct protobuf_field field;
	uint32_t row = HASH_MAP_NONE;
	while (protobuf_next(&message, &field)) {
		if (field.number == LINE_FUNCTION)
			row = hash_map_get(&reader->function_rows.by_id, field.value);
		else if (field.number == LINE_NUMBER)
			frame->line = line_number(field.value);
	}
	if (message.failed || row == HASH_MAP_NONE)
		return false;
	const struct function *function = &reader->functions[row];
	const char *name = text_at(reader, function->name), *system_name = text_at(reader, function->system_name);
	frame->function = name[0] ? name : system_name;
	frame->function_bytes = strlen(frame->function);
	frame->linkage = strcmp(frame->function, system_name) != 0 ? system_name : "";
	frame->file = text_at(reader, function->file);
	frame->start_line = line_number(function->line);
	return frame->function_bytes > 0;
}

/* Names a location without lines by its address: "libc.so.6+0x1234". */
static int64_t name_address(struct reader *reader, const struct mapping *mapping, uint64_t address)
{
	char name[NAME_BYTES];
	const char *path =
		mapping ? profile_string(reader->tree.profile, reader->tree.profile->modules[mapping->module].path)
			: "";
	const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	if (mapping && address >= mapping->start)
		address = address - mapping->start + mapping->offset;
	snprintf(name, sizeof(name), "%.*s%s0x%" PRIx64, NAME_BYTES - 32, base, base[0] ? "+" : "", address);
	const struct import_frame frame = { .function = name, .function_bytes = strlen(name) };
	int64_t module = mapping ? mapping->module : import_tree_module(&reader->tree, "");
	return module < 0 ? module : import_tree_location(&reader->tree, (uint32_t)module, &frame, 1);
}

static int64_t make_location(struct reader *reader, struct cursor message)
{
	struct protobuf_field field;
	const struct mapping *mapping = NULL;
	uint64_t address = 0;
	size_t count = 0;
	while (protobuf_next(&message, &field)) {
		if (field.number == LOCATION_MAPPING) {
			uint32_t row = hash_map_get(&reader->mapping_rows.by_id, field.value);
			mapping = row == HASH_MAP_NONE ? NULL : &reader->mappings[row];
		} else if (field.number == LOCATION_ADDRESS) {
			address = field.value;
		} else if (field.number == LOCATION_LINE) {
			if (ARRAY_RESERVE(reader->frames, reader->frame_capacity, count + 1) < 0)
				return import_tree_fail(&reader->tree, ERROR_MEMORY);
			reader->frames[count] = (struct import_frame){ .kind = FRAME_NATIVE };
			count += read_line(reader, field.bytes, &reader->frames[count]);
		}
	}
	if (count == 0)
		return name_address(reader, mapping, address);
	int64_t module = mapping ? mapping->module : import_tree_module(&reader->tree, "");
	return module < 0 ? module : import_tree_location(&reader->tree, (uint32_t)module, reader->frames, count);
}

/* --- samples --- */

/* The thread of a sample, by its labels. */
struct owner {
	uint64_t pid, tid;
	uint64_t process, thread; /* texts */
};

static int add_label(struct reader *reader, const char *key, const char *value)
{
	if (ARRAY_RESERVE(reader->labels, reader->label_capacity, reader->label_count + 1) < 0)
		return import_tree_fail(&reader->tree, ERROR_MEMORY);
	int64_t key_id = profile_add_string(reader->tree.profile, key);
	int64_t value_id = profile_add_string(reader->tree.profile, value);
	if (key_id < 0 || value_id < 0)
		return import_tree_fail(&reader->tree, ERROR_MEMORY);
	reader->labels[reader->label_count++] =
		(struct profile_label){ .key = (uint32_t)key_id, .value = (uint32_t)value_id };
	return 0;
}

static int read_label(struct reader *reader, struct cursor message, struct owner *owner)
{
	struct protobuf_field field;
	uint64_t key = 0, text = 0, number = 0, unit = 0;
	while (protobuf_next(&message, &field)) {
		if (field.number == LABEL_KEY)
			key = field.value;
		else if (field.number == LABEL_TEXT)
			text = field.value;
		else if (field.number == LABEL_NUMBER)
			number = field.value;
		else if (field.number == LABEL_UNIT)
			unit = field.value;
	}
	if (message.failed)
		return damaged(reader, &message);
	const char *name = text_at(reader, key);
	const struct {
		const char *name;
		uint64_t *to, from;
	} own[] = { { "process", &owner->process, text },
		    { "thread", &owner->thread, text },
		    { "pid", &owner->pid, number },
		    { "tid", &owner->tid, number } };
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		if (strcmp(own[i].name, name) == 0 && own[i].from) {
			*own[i].to = own[i].from;
			return 0;
		}
	}
	if (!name[0])
		return 0;
	if (text)
		return add_label(reader, name, text_at(reader, text));
	char value[NAME_BYTES];
	snprintf(value, sizeof(value), "%" PRId64 "%s%.100s", (int64_t)number, unit ? " " : "", text_at(reader, unit));
	return add_label(reader, name, value);
}

static int read_sample(struct reader *reader, struct cursor message, struct owner *owner)
{
	struct protobuf_field field;
	int code = 0;
	reader->locations.count = reader->values.count = reader->label_count = 0;
	while (code == 0 && protobuf_next(&message, &field)) {
		if (field.number == SAMPLE_LOCATIONS)
			code = protobuf_append_numbers(&reader->locations, &field);
		else if (field.number == SAMPLE_VALUES)
			code = protobuf_append_numbers(&reader->values, &field);
		else if (field.number == SAMPLE_LABEL && owner)
			code = read_label(reader, field.bytes, owner);
	}
	if (code == ERROR_MEMORY)
		return import_tree_fail(&reader->tree, ERROR_MEMORY);
	if (code < 0 || message.failed)
		return reader->tree.error->code < 0 ? reader->tree.error->code : damaged(reader, &message);
	if (reader->values.count != reader->type_count)
		return refuse(reader, "a sample has another number of values than the profile has types");
	return 0;
}

/* Returns the node of the sample's path. Its locations come innermost first. */
static int64_t node_of_sample(struct reader *reader, const struct cursor *sample)
{
	int64_t node = PROFILE_ROOT;
	for (size_t i = reader->locations.count; i > 0; i--) {
		uint32_t row = hash_map_get(&reader->place_rows.by_id, reader->locations.items[i - 1]);
		if (row == HASH_MAP_NONE)
			return damaged(reader, sample);
		struct place *place = &reader->places[row];
		if (place->location == PROFILE_NONE) {
			int64_t location = make_location(reader, place->message);
			if (location < 0)
				return location;
			place->location = (uint32_t)location;
		}
		node = profile_add_node(reader->tree.profile, (uint32_t)node, place->location);
		if (node < 0)
			return import_tree_fail(&reader->tree, (int)node);
	}
	return node;
}

static int64_t thread_of(struct reader *reader, const struct owner *owner)
{
	if (!owner->pid && !owner->tid && !owner->process && !owner->thread)
		return PROFILE_NONE;
	return import_tree_thread(&reader->tree, (uint32_t)owner->pid, (uint32_t)owner->tid,
				  text_at(reader, owner->process), text_at(reader, owner->thread));
}

static int add_sample(struct reader *reader, const struct cursor *message)
{
	struct profile *profile = reader->tree.profile;
	struct owner owner = { 0 };
	int code = read_sample(reader, *message, &owner);
	int64_t node = code < 0 ? code : node_of_sample(reader, message);
	int64_t thread = node < 0 ? node : thread_of(reader, &owner);
	if (thread < 0)
		return (int)thread;
	size_t first = profile->hit_count;
	for (uint32_t i = 0; code == 0 && i < reader->type_count; i++)
		code = import_tree_hit(&reader->tree, 0, (uint32_t)thread, (uint32_t)node, i,
				       reader->values.items[i] / profile->resources[i].interval);
	if (code < 0 || first == profile->hit_count)
		return code;
	int64_t set = profile_add_label_set(profile, reader->labels, reader->label_count);
	if (set < 0 || profile_label_hits(profile, first, (uint32_t)set) < 0)
		return import_tree_fail(&reader->tree, ERROR_MEMORY);
	return 0;
}

/* Reads the values of a sample before the resources are added. */
static int read_values(struct reader *reader, const struct cursor *message)
{
	int code = read_sample(reader, *message, NULL);
	for (size_t i = 0; code == 0 && i < reader->type_count; i++) {
		if (reader->values.items[i] > INT64_MAX)
			return refuse(reader, "it has negative values, as differences of two profiles do");
		if (reader->period && reader->values.items[i] % reader->period)
			reader->types[i].is_multiple = false;
	}
	return code;
}

/* --- the whole --- */

/* Calls `visit` with every field of this number. */
static int visit_fields(struct reader *reader, enum profile_field number,
			int (*visit)(struct reader *reader, const struct cursor *message))
{
	struct cursor message = reader->message;
	struct protobuf_field field;
	int code = 0;
	while (code == 0 && protobuf_next(&message, &field))
		if (field.number == number)
			code = visit(reader, &field.bytes);
	return code;
}

static int read_head(struct reader *reader)
{
	struct cursor message = reader->message;
	struct protobuf_field field;
	int code = 0;
	while (code == 0 && protobuf_next(&message, &field))
		code = read_head_field(reader, &field);
	if (code == 0 && message.failed)
		return damaged(reader, &message);
	if (code == 0 && reader->type_count == 0)
		return refuse(reader, "it has no sample types");
	return code;
}

static int read_rows(struct reader *reader)
{
	struct cursor message = reader->message;
	struct protobuf_field field;
	int code = 0;
	while (code == 0 && protobuf_next(&message, &field)) {
		if (field.number == PROFILE_MAPPING)
			code = add_mapping(reader, field.bytes);
		else if (field.number == PROFILE_FUNCTION)
			code = add_function(reader, field.bytes);
		else if (field.number == PROFILE_LOCATION)
			code = add_place(reader, field.bytes);
	}
	return code;
}

static int add_resources(struct reader *reader)
{
	struct profile *profile = reader->tree.profile;
	for (size_t i = 0; i < reader->type_count; i++) {
		const struct value_type *type = &reader->types[i];
		const char *unit = format_unit_read(text_at(reader, type->unit));
		const char *name = text_at(reader, type->type);
		int64_t id = import_tree_resource(&reader->tree, name[0] ? name : "value", unit[0] ? unit : "count");
		if (id < 0)
			return (int)id;
		struct profile_resource *resource = &profile->resources[id];
		bool is_period = reader->period && type->is_multiple && type->type == reader->period_type.type &&
				 type->unit == reader->period_type.unit;
		bool is_count = strcmp(name, "samples") == 0;
		resource->interval = is_period ? reader->period : 1;
		int code = import_tree_amounts(&reader->tree, (uint32_t)id,
					       is_period || is_count ? IMPORT_SAMPLES : IMPORT_SUMS);
		if (code < 0)
			return code;
	}
	return 0;
}

static int describe(struct reader *reader)
{
	struct profile *profile = reader->tree.profile;
	const char *command = text_at(reader, reader->comment);
	profile->start_unix_ns = (int64_t)reader->start_unix_ns;
	if (reader->duration_ns > 0) {
		profile->start_ns = 1; /* 0 would be "not known" */
		profile->end_ns = 1 + reader->duration_ns;
	}
	return command[0] && profile_add_note(profile, "command", command) < 0
		       ? import_tree_fail(&reader->tree, ERROR_MEMORY)
		       : 0;
}

static int read_all(struct reader *reader, FILE *in)
{
	struct buffer bytes;
	int code = input_bytes_read(&bytes, in, reader->tree.name, reader->tree.error);
	reader->message = cursor_over(bytes.bytes, bytes.size);
	if (code == 0)
		code = read_head(reader);
	if (code == 0)
		code = read_rows(reader);
	if (code == 0)
		code = visit_fields(reader, PROFILE_SAMPLE, read_values);
	if (code == 0)
		code = add_resources(reader);
	if (code == 0)
		code = visit_fields(reader, PROFILE_SAMPLE, add_sample);
	if (code == 0)
		code = describe(reader);
	if (code == 0 && reader->lacks_text)
		code = damaged(reader, &(struct cursor){ .next = reader->message.end });
	buffer_release(&bytes);
	return code;
}

struct profile *pprof_import(FILE *in, const char *name, const char *image, struct error *error)
{
	(void)image; /* names need no image */
	struct reader reader = { 0 };
	hash_map_init(&reader.mapping_rows.by_id);
	hash_map_init(&reader.function_rows.by_id);
	hash_map_init(&reader.place_rows.by_id);
	int code = import_tree_open(&reader.tree, name, error);
	if (code == 0)
		code = read_all(&reader, in);
	hash_map_release(&reader.mapping_rows.by_id);
	hash_map_release(&reader.function_rows.by_id);
	hash_map_release(&reader.place_rows.by_id);
	free(reader.texts);
	free(reader.types);
	free(reader.mappings);
	free(reader.functions);
	free(reader.places);
	free(reader.frames);
	free(reader.labels);
	free(reader.locations.items);
	free(reader.values.items);
	return import_tree_close(&reader.tree, code);
}

/* The type of each field of a profile: bytes, or a number. */
static bool is_profile_field(const struct protobuf_field *field)
{
	static const bool is_bytes[] = {
		[PROFILE_SAMPLE_TYPE] = true, [PROFILE_SAMPLE] = true,   [PROFILE_MAPPING] = true,
		[PROFILE_LOCATION] = true,    [PROFILE_FUNCTION] = true, [PROFILE_STRING] = true,
		[PROFILE_PERIOD_TYPE] = true, [PROFILE_COMMENT] = false
	};
	bool is_known = field->number >= PROFILE_SAMPLE_TYPE && field->number <= PROFILE_COMMENT;
	return is_known && (field->is_bytes == is_bytes[field->number] || field->number == PROFILE_COMMENT);
}

/* The first bytes are fields of a profile, and are no text: the key of a message with its
 * length, or of a number of many bytes. */
bool pprof_recognise(const unsigned char *start, size_t bytes)
{
	enum { FIELDS_TO_SEE = 3, BYTES_TO_SEE = 32 };
	struct cursor message = cursor_over(start, bytes);
	struct protobuf_field field;
	bool is_text = true;
	for (size_t i = 0; i < bytes && i < BYTES_TO_SEE; i++)
		is_text &= start[i] >= ' ' || strchr("\t\n\r", start[i] ? start[i] : 'a') != NULL;
	if (is_text)
		return false;
	for (size_t seen = 0; seen < FIELDS_TO_SEE; seen++)
		if (!protobuf_next(&message, &field) || !is_profile_field(&field))
			return false;
	return true;
}
