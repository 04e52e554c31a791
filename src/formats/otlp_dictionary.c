#include "formats/otlp_dictionary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/otlp_fields.h"
#include "formats/protobuf.h"

enum { NUMBER_BIT = 31 }; /* in a key of `attributes`: the value is a number, not a string */

static void fail(struct otlp_dictionary *dictionary, int status)
{
	if (status < 0 && dictionary->status == 0)
		dictionary->status = status;
}

/* Appends the message as an element of a table, and clears it. */
static void add_message(struct otlp_dictionary *dictionary, enum dictionary_field table)
{
	protobuf_message(&dictionary->bytes, table, &dictionary->message);
	fail(dictionary, buffer_error(&dictionary->bytes));
}

uint32_t otlp_string(struct otlp_dictionary *dictionary, const char *text)
{
	int64_t id = strings_add(&dictionary->strings, text, strlen(text));
	fail(dictionary, id < 0 ? (int)id : 0);
	return id < 0 ? 0 : (uint32_t)id;
}

/* Returns the index of a key, from 1 on; sets *is_new if it had none. */
static uint32_t index_of(struct otlp_dictionary *dictionary, struct hash_map *map, uint64_t key, bool *is_new)
{
	uint32_t index;
	int added = hash_map_number(map, key, &index);
	fail(dictionary, added);
	*is_new = added != 0;
	return index;
}

/* --- attributes --- */

uint32_t otlp_text_attribute(struct otlp_dictionary *dictionary, const char *key, const char *text)
{
	uint32_t name = otlp_string(dictionary, key);
	bool is_new;
	uint32_t index = index_of(dictionary, &dictionary->attributes,
				  (uint64_t)name << 32 | otlp_string(dictionary, text), &is_new);
	if (!is_new)
		return index;
	protobuf_number(&dictionary->message, ATTRIBUTE_KEY, name);
	protobuf_text(&dictionary->inner, ANY_VALUE_TEXT, text);
	protobuf_message(&dictionary->message, ATTRIBUTE_VALUE, &dictionary->inner);
	add_message(dictionary, DICTIONARY_ATTRIBUTE);
	return index;
}

uint32_t otlp_number_attribute(struct otlp_dictionary *dictionary, const char *key, uint32_t number)
{
	uint32_t name = otlp_string(dictionary, key);
	bool is_new;
	/* A string's id is below 2^31, and a pid or tid too. */
	uint32_t index = index_of(dictionary, &dictionary->attributes,
				  (uint64_t)name << 32 | UINT32_C(1) << NUMBER_BIT | number, &is_new);
	if (!is_new)
		return index;
	protobuf_number(&dictionary->message, ATTRIBUTE_KEY, name);
	protobuf_chosen_number(&dictionary->inner, ANY_VALUE_NUMBER, number);
	protobuf_message(&dictionary->message, ATTRIBUTE_VALUE, &dictionary->inner);
	add_message(dictionary, DICTIONARY_ATTRIBUTE);
	return index;
}

/* --- stacks, locations, functions, mappings --- */

/* Returns the index of a place's location, which it gets when the first stack has it. */
static uint32_t location_of(struct otlp_dictionary *dictionary, uint32_t place)
{
	if (dictionary->location_of[place] == 0) {
		dictionary->located[dictionary->location_count] = place;
		dictionary->location_of[place] = ++dictionary->location_count;
	}
	return dictionary->location_of[place];
}

uint32_t otlp_stack(struct otlp_dictionary *dictionary, uint32_t path)
{
	if (path == 0 || dictionary->stack_of[path])
		return path == 0 ? 0 : dictionary->stack_of[path];
	for (uint32_t at = path; at != 0; at = dictionary->places.caller[at])
		buffer_append_varint(&dictionary->inner, location_of(dictionary, dictionary->places.of_path[at]));
	protobuf_message(&dictionary->message, OTLP_STACK_LOCATIONS, &dictionary->inner);
	add_message(dictionary, DICTIONARY_STACK);
	dictionary->stack_of[path] = ++dictionary->stack_count;
	return dictionary->stack_of[path];
}

static uint32_t function_of(struct otlp_dictionary *dictionary, const struct path_frame *frame)
{
	uint32_t name = otlp_string(dictionary, frame->name), file = otlp_string(dictionary, frame->file);
	bool is_new;
	uint32_t index = index_of(dictionary, &dictionary->functions, (uint64_t)name << 32 | file, &is_new);
	if (!is_new)
		return index;
	protobuf_number(&dictionary->message, OTLP_FUNCTION_NAME, name);
	if (strcmp(frame->linkage, frame->name) != 0)
		protobuf_number(&dictionary->message, OTLP_FUNCTION_SYSTEM_NAME,
				otlp_string(dictionary, frame->linkage));
	protobuf_number(&dictionary->message, OTLP_FUNCTION_FILE, file);
	if (strcmp(frame->file, frame->home_file) == 0)
		protobuf_number(&dictionary->message, OTLP_FUNCTION_LINE, frame->home_line);
	add_message(dictionary, DICTIONARY_FUNCTION);
	return index;
}

static uint32_t build_id_of(struct otlp_dictionary *dictionary, const char *path)
{
	const struct profile *profile = dictionary->paths->profile;
	char text[2 * PROFILE_BUILD_ID_MAX + 1] = "";
	for (size_t i = 0; i < profile->module_count; i++) {
		const struct profile_module *module = &profile->modules[i];
		if (strcmp(profile_string(profile, module->path), path) != 0)
			continue;
		for (size_t n = 0; n < module->build_id_bytes; n++)
			snprintf(text + 2 * n, 3, "%02x", module->build_id[n]);
		break;
	}
	return text[0] ? otlp_text_attribute(dictionary, "process.executable.build_id.gnu", text) : 0;
}

static uint32_t mapping_of(struct otlp_dictionary *dictionary, const struct path_frame *frame)
{
	uint32_t path = otlp_string(dictionary, frame->module);
	bool is_new;
	if (path == 0)
		return 0;
	uint32_t index = index_of(dictionary, &dictionary->mappings, path, &is_new);
	if (!is_new)
		return index;
	uint32_t build_id = build_id_of(dictionary, frame->module);
	protobuf_number(&dictionary->message, OTLP_MAPPING_FILE, path);
	if (build_id) {
		buffer_append_varint(&dictionary->inner, build_id);
		protobuf_message(&dictionary->message, OTLP_MAPPING_ATTRIBUTES, &dictionary->inner);
	}
	add_message(dictionary, DICTIONARY_MAPPING);
	return index;
}

/* The lines of a location come innermost first. */
static void write_location(struct otlp_dictionary *dictionary, uint32_t index)
{
	const struct path_frame *frames = dictionary->paths->frames;
	const struct place *places = dictionary->places.items;
	uint32_t mapping = mapping_of(dictionary, &frames[places[index].frame]);
	for (uint32_t at = index; at != PROFILE_NONE; at = places[at].outer)
		function_of(dictionary, &frames[places[at].frame]);
	protobuf_number(&dictionary->message, OTLP_LOCATION_MAPPING, mapping);
	for (uint32_t at = index; at != PROFILE_NONE; at = places[at].outer) {
		const struct path_frame *frame = &frames[places[at].frame];
		uint64_t key =
			(uint64_t)otlp_string(dictionary, frame->name) << 32 | otlp_string(dictionary, frame->file);
		protobuf_number(&dictionary->inner, OTLP_LINE_FUNCTION, hash_map_get(&dictionary->functions, key));
		protobuf_number(&dictionary->inner, OTLP_LINE_NUMBER, frame->line);
		protobuf_message(&dictionary->message, OTLP_LOCATION_LINE, &dictionary->inner);
	}
	add_message(dictionary, DICTIONARY_LOCATION);
}

int otlp_dictionary_end(struct otlp_dictionary *dictionary)
{
	for (uint32_t i = 0; i < dictionary->location_count && dictionary->status == 0; i++)
		write_location(dictionary, dictionary->located[i]);
	for (uint32_t i = 0; i < dictionary->strings.count && dictionary->status == 0; i++)
		protobuf_text(&dictionary->bytes, DICTIONARY_STRING, strings_get(&dictionary->strings, i));
	fail(dictionary, buffer_error(&dictionary->bytes));
	return dictionary->status;
}

/* --- life cycle --- */

int otlp_dictionary_init(struct otlp_dictionary *dictionary, const struct call_paths *paths)
{
	static const enum dictionary_field tables[] = { DICTIONARY_MAPPING, DICTIONARY_LOCATION,  DICTIONARY_FUNCTION,
							DICTIONARY_LINK,    DICTIONARY_ATTRIBUTE, DICTIONARY_STACK };
	*dictionary = (struct otlp_dictionary){ .paths = paths };
	buffer_init(&dictionary->bytes);
	buffer_init(&dictionary->message);
	buffer_init(&dictionary->inner);
	hash_map_init(&dictionary->functions);
	hash_map_init(&dictionary->mappings);
	hash_map_init(&dictionary->attributes);
	dictionary->stack_of = calloc(paths->count + 1, sizeof(*dictionary->stack_of));
	fail(dictionary, dictionary->stack_of ? 0 : ERROR_MEMORY);
	fail(dictionary, places_init(&dictionary->places, paths));
	dictionary->location_of = calloc(dictionary->places.count + 1, sizeof(*dictionary->location_of));
	dictionary->located = calloc(dictionary->places.count + 1, sizeof(*dictionary->located));
	fail(dictionary, dictionary->location_of && dictionary->located ? 0 : ERROR_MEMORY);
	fail(dictionary, strings_init(&dictionary->strings));
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		add_message(dictionary, tables[i]);
	return dictionary->status;
}

void otlp_dictionary_release(struct otlp_dictionary *dictionary)
{
	buffer_release(&dictionary->bytes);
	buffer_release(&dictionary->message);
	buffer_release(&dictionary->inner);
	places_release(&dictionary->places);
	strings_release(&dictionary->strings);
	hash_map_release(&dictionary->functions);
	hash_map_release(&dictionary->mappings);
	hash_map_release(&dictionary->attributes);
	free(dictionary->stack_of);
	free(dictionary->location_of);
	free(dictionary->located);
}
