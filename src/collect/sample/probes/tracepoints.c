/* Tracepoints by name, as the kernel describes them:
 *
 * 	events/sched/sched_switch/id		372
 * 	events/sched/sched_switch/format	field:pid_t prev_pid;	offset:24;	size:4;	signed:1;
 * 		...				field:char prev_comm[16];	offset:8;	size:16;	signed:0;
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/near_names.h"
#include "collect/sample/probes/probe_points.h"
#include "collect/sample/probes/tracefs.h"

/* Appends a whole file and a NUL. Returns 0 or an error. */
static int read_text(int folder, const char *name, struct buffer *text)
{
	enum { CHUNK_BYTES = 4096, TEXT_MAX = 1 << 20 };
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return ERROR_SYSTEM;
	ssize_t got = 1;
	while (got > 0 && text->size < TEXT_MAX) {
		uint8_t chunk[CHUNK_BYTES];
		got = read(fd, chunk, sizeof(chunk));
		if (got > 0)
			buffer_append(text, chunk, (size_t)got);
		else if (got < 0 && errno == EINTR)
			got = 1;
	}
	int refusal = errno;
	close(fd);
	errno = refusal;
	buffer_append_byte(text, 0);
	return got < 0 ? ERROR_SYSTEM : buffer_error(text);
}

/* --- folders --- */

/* Offers the names of a folder's folders, and closes the descriptor. */
static void offer_folders(int fd, struct near_names *near)
{
	DIR *folder = fdopendir(fd);
	if (!folder) {
		close(fd);
		return;
	}
	for (struct dirent *entry; (entry = readdir(folder));)
		if (entry->d_name[0] != '.' && entry->d_type == DT_DIR)
			near_names_offer(near, entry->d_name);
	closedir(folder);
}

/* Finds another system with a tracepoint of this name: the user may have named the wrong one. */
static void find_elsewhere(int events, const char *name, char *found, size_t bytes)
{
	int copy = openat(events, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = copy < 0 ? NULL : fdopendir(copy);
	if (!folder && copy >= 0)
		close(copy);
	found[0] = 0;
	for (struct dirent *entry; folder && !found[0] && (entry = readdir(folder));) {
		char path[600];
		snprintf(path, sizeof(path), "%s/%s/id", entry->d_name, name);
		if (entry->d_name[0] != '.' && faccessat(events, path, F_OK, 0) == 0)
			snprintf(found, bytes, " (did you mean %.80s:%.80s?)", entry->d_name, name);
	}
	if (folder)
		closedir(folder);
}

static bool is_plain(const char *name)
{
	return name[0] != '.' && !strchr(name, '/');
}

/* Returns the remedy for a missing tracepoint: where it is, the nearest names, or where they are listed. */
static const char *remedy(const char *elsewhere, struct near_names *near)
{
	const char *nearest = near_names_text(near);
	if (elsewhere[0])
		return elsewhere;
	return nearest[0] ? nearest : " ('perf list' and the folder events of tracefs, /sys/kernel/tracing, list them)";
}

/* Returns a descriptor of the tracepoint's folder, or a negative error. */
static int open_tracepoint(int events, const struct resource_target *target, struct error *error)
{
	struct near_names near;
	char elsewhere[192];
	int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	int system = is_plain(target->group) ? openat(events, target->group, flags) : -1;
	if (system < 0) {
		near_names_init(&near, target->group);
		offer_folders(openat(events, ".", flags), &near);
		find_elsewhere(events, target->name, elsewhere, sizeof(elsewhere));
		return error_set(error, ERROR_NOT_FOUND, "this kernel has no tracepoints of '%s'%s", target->group,
				 remedy(elsewhere, &near));
	}
	int folder = is_plain(target->name) ? openat(system, target->name, flags) : -1;
	if (folder >= 0) {
		close(system);
		return folder;
	}
	near_names_init(&near, target->name);
	offer_folders(system, &near);
	find_elsewhere(events, target->name, elsewhere, sizeof(elsewhere));
	return error_set(error, ERROR_NOT_FOUND, "this kernel has no tracepoint '%s:%s'%s", target->group, target->name,
			 remedy(elsewhere, &near));
}

/* --- fields --- */

struct field {
	char name[64];
	bool is_array; /* or text of any length: __data_loc char[] name */
	struct tracepoint position;
};

/* Reads one line of a format. Returns false if it does not describe a field. */
static bool parse_field(const char *line, struct field *field)
{
	char declaration[256];
	unsigned offset, size, is_signed;
	if (sscanf(line, " field:%255[^;]; offset:%u; size:%u; signed:%u;", declaration, &offset, &size, &is_signed) !=
	    4)
		return false;
	field->is_array = strstr(declaration, "__data_loc") || strstr(declaration, "__rel_loc");
	char *bracket = strrchr(declaration, '[');
	if (bracket && declaration[strlen(declaration) - 1] == ']') {
		field->is_array = true;
		*bracket = 0;
	}
	const char *blank = strrchr(declaration, ' ');
	const char *name = blank ? blank + 1 : declaration;
	name += strspn(name, "*");
	snprintf(field->name, sizeof(field->name), "%s", name);
	field->position.offset = offset;
	field->position.size = size;
	field->position.is_signed = is_signed != 0;
	return true;
}

static bool is_number(const struct field *field)
{
	uint32_t size = field->position.size;
	return !field->is_array && (size == 1 || size == 2 || size == 4 || size == 8);
}

/* Finds the field, and fills in its position. Cuts `format` into its lines. */
static int find_field(char *format, const struct resource_target *target, struct tracepoint *found, struct error *error)
{
	/* The kernel puts an address of its own over the first fields of a record that it passes to a program. */
	enum { REPLACED_BYTES = 8 };
	struct near_names near;
	char all[256] = "";
	size_t used = 0;
	char *rest = NULL;
	bool is_no_number = false;
	near_names_init(&near, target->field);
	for (char *line = strtok_r(format, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		struct field field = { 0 };
		if (!parse_field(line, &field))
			continue;
		bool wanted = strcmp(field.name, target->field) == 0;
		if (wanted && field.position.offset < REPLACED_BYTES)
			return error_set(error, ERROR_UNSUPPORTED,
					 "cannot count the field %s of %s:%s: no eBPF program can read it", field.name,
					 target->group, target->name);
		if (wanted && is_number(&field)) {
			field.position.id = found->id;
			*found = field.position;
			return 0;
		}
		is_no_number |= wanted;
		if (!is_number(&field) || strncmp(field.name, "common_", strlen("common_")) == 0)
			continue;
		near_names_offer(&near, field.name);
		if (used < sizeof(all))
			used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s",
						 used ? ", " : "; its numbers are: ", field.name);
	}
	if (is_no_number)
		return error_set(error, ERROR_NOT_FOUND, "the field %s of %s:%s is not a number%s", target->field,
				 target->group, target->name, all[0] ? all : ", nor is any other");
	const char *nearest = near_names_text(&near);
	return error_set(error, ERROR_NOT_FOUND, "the tracepoint %s:%s has no field '%s'%s", target->group,
			 target->name, target->field, nearest[0] ? nearest : all);
}

static int read_tracepoint(int folder, const struct resource_target *target, struct tracepoint *found,
			   struct error *error)
{
	struct buffer text;
	buffer_init(&text);
	int result = read_text(folder, "id", &text);
	/* The kernel writes this number: it needs no checks. */
	if (result == 0)
		found->id = strtoull((const char *)text.bytes, NULL, 10);
	buffer_clear(&text);
	if (result == 0 && target->field[0])
		result = read_text(folder, "format", &text);
	if (result == ERROR_SYSTEM)
		result = error_set_errno(error, "cannot read the format of %s:%s in tracefs", target->group,
					 target->name);
	else if (result < 0)
		result = error_set(error, result, "out of memory");
	else if (target->field[0])
		result = find_field((char *)text.bytes, target, found, error);
	buffer_release(&text);
	return result;
}

int tracepoint_find(const struct resource_request *request, struct tracepoint *found, struct error *error)
{
	*found = (struct tracepoint){ 0 };
	int root = tracefs_open(error);
	if (root < 0)
		return root;
	int events = openat(root, "events", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int refusal = errno;
	close(root);
	errno = refusal;
	if (events < 0)
		return error_set_errno(error, "cannot read the list of tracepoints, events in tracefs");
	int folder = open_tracepoint(events, &request->target, error);
	close(events);
	if (folder < 0)
		return folder;
	int result = read_tracepoint(folder, &request->target, found, error);
	close(folder);
	return result;
}
