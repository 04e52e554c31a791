#include "formats/json_import.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/quote.h"

int json_import_open(struct json_import *import, const char *format, bool open_array, FILE *in, const char *name,
		     struct error *error)
{
	*import = (struct json_import){ .format = format };
	struct error found = { 0 };
	int code = import_tree_open(&import->tree, name, error);
	if (code < 0)
		return code;
	import->text = json_document_read(in, open_array, JSON_PART_BYTES, &found);
	import->document = import->text ? json_document_root(import->text) : NULL;
	if (import->document)
		return 0;
	if (found.code == ERROR_FORMAT)
		return json_import_refuse(import, "%s", found.message);
	return error_set(error, found.code, "cannot read %s%s%s: %s", quote_mark(name), name, quote_mark(name),
			 found.message);
}

struct profile *json_import_close(struct json_import *import, int code)
{
	json_document_free(import->text);
	return import_tree_close(&import->tree, code);
}

int json_import_refuse(const struct json_import *import, const char *format, ...)
{
	char reason[256], at[96] = "";
	const struct json_place *place = &import->place;
	const char *name = import->tree.name, *mark = quote_mark(name);
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(reason, sizeof(reason), format, arguments);
	va_end(arguments);
	if (place->kind && place->group)
		snprintf(at, sizeof(at), " (%s %zu of %s %zu)", place->kind, place->number, place->group,
			 place->group_number);
	else if (place->kind)
		snprintf(at, sizeof(at), " (%s %zu)", place->kind, place->number);
	return error_set(import->tree.error, ERROR_FORMAT, "cannot read %s%s%s as %s: %s%s", mark, name, mark,
			 import->format, reason, at);
}

int64_t json_import_resource(struct json_import *import, const char *name, const char *title, const char *unit,
			     enum import_amounts amounts)
{
	struct profile *profile = import->tree.profile;
	uint32_t known = profile_find_resource(profile, name);
	if (known != PROFILE_NONE)
		return known;
	int64_t id = import_tree_resource(&import->tree, name, unit);
	int64_t shown = id < 0 || !title ? 0 : profile_add_string(profile, title);
	if (id < 0)
		return id;
	if (shown < 0)
		return import_tree_fail(&import->tree, (int)shown);
	if (title)
		profile->resources[id].title = (uint32_t)shown;
	int code = import_tree_amounts(&import->tree, (uint32_t)id, amounts);
	return code < 0 ? code : id;
}

int64_t json_import_own(struct json_import *import, const struct json_node *object, const char *unit,
			const char **title)
{
	const struct json_node *resource = json_node_member(object, "resource");
	const char *name = json_node_text(json_node_member(resource, "name"));
	const char *stated = json_node_text(json_node_member(resource, "unit"));
	*title = json_node_text(json_node_member(resource, "title"));
	if (!name || !name[0] || !*title || !stated)
		return PROFILE_NONE;
	return json_import_resource(import, name, *title, unit ? unit : stated,
				    strcmp(name, "samples") == 0 ? IMPORT_SAMPLES : IMPORT_SUMS);
}

int64_t json_import_child(struct json_import *import, uint32_t node, const char *module,
			  const struct import_frame *frame)
{
	int64_t id = import_tree_module(&import->tree, module);
	int64_t location = id < 0 ? id : import_tree_location(&import->tree, (uint32_t)id, frame, 1);
	if (location < 0)
		return location;
	int64_t child = profile_add_node(import->tree.profile, node, (uint32_t)location);
	return child < 0 ? import_tree_fail(&import->tree, (int)child) : child;
}

bool json_import_amount(const struct json_node *number, long double factor, uint64_t *amount)
{
	if (!json_node_is(number, JSON_NODE_NUMBER))
		return false;
	long double value = roundl((long double)json_node_number(number) * factor);
	if (!(value >= 0 && value <= (long double)PROFILE_HITS_MOST))
		return false;
	*amount = (uint64_t)value;
	return true;
}

uint32_t json_import_index(const struct json_node *array, size_t index, size_t limit)
{
	uint32_t number = json_import_number(json_node_element(array, index), PROFILE_NONE);
	return number < limit ? number : PROFILE_NONE;
}

uint32_t json_import_number(const struct json_node *value, uint32_t otherwise)
{
	double number = json_node_is(value, JSON_NODE_NUMBER) ? json_node_number(value) : -1;
	return number >= 0 && number <= UINT32_MAX && number == floor(number) ? (uint32_t)number : otherwise;
}

bool json_import_begins(const unsigned char *start, size_t bytes, char bracket)
{
	size_t at = 0;
	while (at < bytes && (start[at] == ' ' || start[at] == '\t' || start[at] == '\n' || start[at] == '\r'))
		at++;
	return at < bytes && start[at] == (unsigned char)bracket;
}

bool json_import_contains(const unsigned char *start, size_t bytes, const char *text)
{
	return memmem(start, bytes, text, strlen(text)) != NULL;
}
