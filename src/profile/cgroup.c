#include "profile/cgroup.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

static const char HEX[] = "0123456789abcdef";

/* --- patterns --- */

/* Returns whether the path, or a leading part of it, equals the pattern or matches it. The literal comparison is
 * needed because systemd's names contain backslashes, which fnmatch would remove. */
static bool path_fits(const char *path, const char *pattern)
{
	size_t length = strlen(pattern);
	while (length > 1 && pattern[length - 1] == '/')
		length--;
	if (strncmp(path, pattern, length) == 0 &&
	    (path[length] == 0 || path[length] == '/' || (length == 1 && pattern[0] == '/')))
		return true;
	return fnmatch(pattern, path, FNM_LEADING_DIR) == 0;
}

bool cgroup_fits(const char *path, const char *pattern)
{
	if (!path[0] || path_fits(path, pattern))
		return path[0];
	for (const char *part = strchr(path, '/'); part && pattern[0] != '/'; part = strchr(part + 1, '/'))
		if (path_fits(part + 1, pattern))
			return true;
	return false;
}

/* --- owners --- */

struct component {
	const char *text; /* in the path */
	size_t length;
};

static bool begins_with(const struct component *component, const char *text)
{
	size_t length = strlen(text);
	return component->length >= length && memcmp(component->text, text, length) == 0;
}

/* Removes a suffix. Returns false if the component does not have it, or is nothing else. */
static bool cut_suffix(struct component *component, const char *suffix)
{
	size_t length = strlen(suffix);
	if (component->length <= length || memcmp(component->text + component->length - length, suffix, length) != 0)
		return false;
	component->length -= length;
	return true;
}

/* Writes the name with the characters that systemd wrote as "\x2d". */
static void write_name(const struct component *component, char *name)
{
	size_t used = 0;
	for (size_t i = 0; i < component->length && used + 1 < CGROUP_NAME_BYTES; i++) {
		unsigned byte;
		bool is_escaped = component->length - i >= 4 && strncmp(component->text + i, "\\x", 2) == 0 &&
				  isxdigit((unsigned char)component->text[i + 2]) &&
				  sscanf(component->text + i + 2, "%2x", &byte) == 1 && byte != 0;
		name[used++] = is_escaped ? (char)byte : component->text[i];
		i += is_escaped ? 3 : 0;
	}
	name[used] = 0;
}

/* Returns whether systemd-run made the name: run-u7, run-r0123abcd, run-p7-i8. */
static bool is_numbered(const struct component *unit)
{
	enum { MARK = sizeof("run-u") - 1 };
	if (!begins_with(unit, "run-") || unit->length <= MARK || !strchr("upr", unit->text[MARK - 1]))
		return false;
	const char *number = unit->text + MARK;
	size_t length = unit->length - MARK;
	return strspn(number, "0123456789abcdef-i") >= length && strcspn(number, "0123456789") < length;
}

/* Cuts app-LAUNCHER-NAME-NUMBER, of which LAUNCHER and NUMBER need not be there, down to NAME, which has no '-'. */
static void cut_application(struct component *unit, bool has_number)
{
	enum { MARK = sizeof("app-") - 1 };
	unit->text += MARK;
	unit->length -= MARK;
	const char *last = memrchr(unit->text, '-', unit->length);
	if (last && last > unit->text && has_number) {
		unit->length = (size_t)(last - unit->text);
		last = memrchr(unit->text, '-', unit->length);
	}
	size_t before = last ? (size_t)(last + 1 - unit->text) : 0;
	if (before < unit->length) {
		unit->text += before;
		unit->length -= before;
	}
}

static bool find_unit(const char *path, struct component unit, char *name)
{
	/* The user's own part of the tree, in which desktops start applications. */
	bool is_users = strncmp(path, "/user.slice/", sizeof("/user.slice/") - 1) == 0;
	bool is_application = is_users && begins_with(&unit, "app-");
	bool is_scope = is_application && cut_suffix(&unit, ".scope");
	if (!is_scope && !cut_suffix(&unit, ".service"))
		return false;
	const char *instance = memchr(unit.text, '@', unit.length);
	if (begins_with(&unit, "user@") || instance == unit.text || is_numbered(&unit))
		return false;
	if (instance)
		unit.length = (size_t)(instance - unit.text);
	if (is_application && unit.length > sizeof("app-") - 1)
		cut_application(&unit, is_scope);
	write_name(&unit, name);
	return true;
}

/* Returns the pod in the part of the path before a container's id, or NULL. */
static const char *find_pod(const char *path, const char *id)
{
	enum { POD_DIGITS = 8 };
	const char *found = NULL;
	for (const char *at = strstr(path, "pod"); at && at < id; at = strstr(at + 1, "pod"))
		if (at > path && strchr("/-", at[-1]) && strspn(at + 3, HEX) >= POD_DIGITS)
			found = at;
	return found;
}

/* The id is the component or its end: docker-ID.scope, ID, kubepods-podPOD.slice:cri-containerd:ID. */
static bool find_container(const char *path, struct component component, char *name)
{
	enum { ID_DIGITS = 64, SHOWN_DIGITS = 12, SHOWN_POD = sizeof("pod01234567") - 1 };
	cut_suffix(&component, ".scope");
	if (component.length < ID_DIGITS)
		return false;
	const char *id = component.text + component.length - ID_DIGITS;
	if (strspn(id, HEX) < ID_DIGITS || (id > component.text && !strchr("-:", id[-1])))
		return false;
	const char *pod = find_pod(path, id);
	snprintf(name, CGROUP_NAME_BYTES, "%.*s%s%.*s", pod ? SHOWN_POD : 0, pod ? pod : "", pod ? "-" : "",
		 SHOWN_DIGITS, id);
	return true;
}

enum cgroup_owner cgroup_owner_find(const char *path, char *name)
{
	name[0] = 0;
	for (const char *end = path + strlen(path); end > path;) {
		const char *slash = memrchr(path, '/', (size_t)(end - path));
		const char *text = slash ? slash + 1 : path;
		const struct component component = { .text = text, .length = (size_t)(end - text) };
		if (find_container(path, component, name))
			return CGROUP_CONTAINER;
		if (find_unit(path, component, name))
			return CGROUP_UNIT;
		end = slash ? slash : path;
	}
	return CGROUP_NO_OWNER;
}
