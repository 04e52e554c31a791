#include "resources/resource_parameters.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/near_names.h"
#include "resources/syscall_names.h"

int resource_wrong_form(const struct resource_request *request, struct error *error)
{
	const struct resource_row *row = request->row;
	bool optional = row->parameters_optional;
	return error_set(error, ERROR_USAGE, "resource '%s' is not valid (%s%s:%s%s)", request->name, row->name,
			 optional ? "[" : "", row->parameters, optional ? "]" : "");
}

/* Copies the text [from, end), which must not be empty and must fit into `room` bytes with its NUL. */
static int take(const char *from, const char *end, char *to, size_t room, const struct resource_request *request,
		struct error *error)
{
	size_t length = (size_t)(end - from);
	if (length == 0)
		return resource_wrong_form(request, error);
	if (length >= room)
		return error_set(error, ERROR_USAGE, "name '%.*s' in %s is too long (limit %zu bytes)", (int)length,
				 from, request->row->name, room - 1);
	memcpy(to, from, length);
	to[length] = 0;
	return 0;
}

#define TAKE(from, end, field) take(from, end, request->target.field, sizeof(request->target.field), request, error)

static const char *end_of(const char *words)
{
	return words + strlen(words);
}

/* --- system calls --- */

int resource_parse_syscall(const char *words, struct resource_request *request, struct error *error)
{
	int result = TAKE(words, end_of(words), name);
	if (result < 0)
		return result;
	request->target.syscall = syscall_number(words);
	if (request->target.syscall >= 0)
		return 0;
	struct near_names near;
	near_names_init(&near, words);
	for (int number = 0; (size_t)number < syscall_limit(); number++)
		if (syscall_name(number))
			near_names_offer(&near, syscall_name(number));
	const char *list = near_names_text(&near);
	return error_set(error, ERROR_USAGE, "unknown system call '%s'%s", words,
			 list[0] ? list : " (\'man 2 syscalls\' lists them)");
}

int resource_parse_requested(const char *words, struct resource_request *request, struct error *error)
{
	if (strcmp(words, "requested") != 0)
		return resource_wrong_form(request, error);
	request->counter = request->row->counter_requested;
	return 0;
}

/* --- functions and probes --- */

/* Reads "arg3", or "ret" if `may_return`. */
static int take_argument(const char *words, bool may_return, struct resource_request *request, struct error *error)
{
	if (may_return && strcmp(words, "ret") == 0) {
		request->target.argument = RESOURCE_RETURN;
	} else {
		bool is_number = strncmp(words, "arg", 3) == 0 && isdigit((unsigned char)words[3]);
		if (!is_number || words[3 + strspn(words + 3, "0123456789")])
			return error_set(error, ERROR_USAGE, "'%s' in %s is not a value (arg1 to arg%d%s)", words,
					 request->name, RESOURCE_ARGUMENTS, may_return ? " or ret" : "");
		long number = strtol(words + 3, NULL, 10);
		if (number < 1 || number > RESOURCE_ARGUMENTS)
			return error_set(error, ERROR_USAGE, "%s in %s is out of range (arg1 to arg%d)", words,
					 request->name, RESOURCE_ARGUMENTS);
		request->target.argument = (int)number;
	}
	request->gtick = "unit";
	return 0;
}

/* Returns the last single colon, or NULL: the colons of "ns::f" are part of the name. */
static const char *last_single_colon(const char *words)
{
	for (const char *at = end_of(words); at-- > words;) {
		if (*at != ':')
			continue;
		if (at == words || at[-1] != ':')
			return at;
		at--; /* skips both colons of the pair */
	}
	return NULL;
}

int resource_parse_calls(const char *words, struct resource_request *request, struct error *error)
{
	const char *at = strrchr(words, '@');
	const char *end = at ? at : end_of(words);
	int result = TAKE(words, end, name);
	if (result == 0 && at)
		result = TAKE(at + 1, end_of(words), module);
	return result;
}

int resource_parse_uprobe(const char *words, struct resource_request *request, struct error *error)
{
	const char *colon = strchr(words, ':');
	if (!colon)
		return resource_wrong_form(request, error);
	int result = TAKE(words, colon, module);
	const char *function = colon + 1;
	const char *value = last_single_colon(function);
	if (result == 0)
		result = TAKE(function, value ? value : end_of(function), name);
	if (result == 0 && value)
		result = take_argument(value + 1, true, request, error);
	return result;
}

/* Reads GROUP:NAME[:MORE]. Sets *more to the text of MORE, or to NULL if there is none. */
static int take_group(const char *words, const char **more, struct resource_request *request, struct error *error)
{
	const char *colon = strchr(words, ':');
	if (!colon)
		return resource_wrong_form(request, error);
	const char *second = strchr(colon + 1, ':');
	int result = TAKE(words, colon, group);
	if (result == 0)
		result = TAKE(colon + 1, second ? second : end_of(colon), name);
	*more = second ? second + 1 : NULL;
	return result;
}

int resource_parse_tracepoint(const char *words, struct resource_request *request, struct error *error)
{
	const char *field = NULL;
	int result = take_group(words, &field, request, error);
	if (result < 0 || !field)
		return result;
	if (strchr(field, ':'))
		return resource_wrong_form(request, error);
	request->gtick = "unit";
	return TAKE(field, end_of(field), field);
}

int resource_parse_usdt(const char *words, struct resource_request *request, struct error *error)
{
	const char *value = NULL;
	int result = take_group(words, &value, request, error);
	return result == 0 && value ? take_argument(value, false, request, error) : result;
}

/* --- resources of the program --- */

/* Checks the name that a program may give to its own resource (include/cpprof/runtime.h). It is printed in one line,
 * so it must not contain control characters; a slash begins the interval. */
int resource_parse_own(const char *words, struct resource_request *request, struct error *error)
{
	size_t length = strlen(words);
	if (length > RESOURCE_OWN_BYTES)
		return error_set(error, ERROR_USAGE, "the name of the program's own resource has %zu bytes (limit %d)",
				 length, RESOURCE_OWN_BYTES);
	for (const char *at = words; *at; at++)
		if (*at == ':' || iscntrl((unsigned char)*at))
			return error_set(
				error, ERROR_USAGE,
				"the name of the program's own resource has a colon or a control character (own:NAME)");
	return TAKE(words, end_of(words), name);
}
