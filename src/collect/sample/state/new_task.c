#include "collect/sample/state/new_task.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <string.h>
#include <unistd.h>

#include "collect/sample/probes/tracefs.h"

bool new_task_find(struct new_task *format)
{
	struct error error; /* no message: thread starts are recorded where possible */
	int root = tracefs_open(&error);
	if (root < 0)
		return false;
	int fd = openat(root, "events/task/task_newtask/format", O_RDONLY | O_CLOEXEC);
	close(root);
	FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
	if (!file) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	bool found = new_task_parse(format, file);
	fclose(file);
	return found;
}

/*   ID: 205
 *   	field:pid_t pid;	offset:8;	size:4;	signed:1;
 *   	field:u64 clone_flags;	offset:32;	size:8;	signed:0;    (once: unsigned long) */
bool new_task_parse(struct new_task *format, FILE *file)
{
	enum { ID_FOUND = 1, PID_FOUND = 2, FLAGS_FOUND = 4, ALL_FOUND = 7 };
	unsigned found = 0;
	char line[256];
	while (fgets(line, sizeof(line), file)) {
		unsigned long long id;
		char field[64];
		size_t offset, size;
		if (sscanf(line, "ID: %llu", &id) == 1) {
			format->config = id;
			found |= ID_FOUND;
		}
		if (sscanf(line, " field:%63[^;]; offset:%zu; size:%zu;", field, &offset, &size) != 3)
			continue;
		const char *name = strrchr(field, ' ');
		if (name && strcmp(name, " pid") == 0 && size == sizeof(uint32_t)) {
			format->pid_offset = offset;
			found |= PID_FOUND;
		}
		if (name && strcmp(name, " clone_flags") == 0 && size == sizeof(uint64_t)) {
			format->flags_offset = offset;
			found |= FLAGS_FOUND;
		}
	}
	return found == ALL_FOUND;
}

bool new_task_read(const struct new_task *format, const uint8_t *data, size_t bytes, uint32_t *tid, bool *is_thread)
{
	uint64_t flags;
	if (bytes < sizeof(flags) || format->flags_offset > bytes - sizeof(flags) ||
	    format->pid_offset > bytes - sizeof(*tid))
		return false;
	memcpy(&flags, data + format->flags_offset, sizeof(flags));
	memcpy(tid, data + format->pid_offset, sizeof(*tid));
	*is_thread = flags & CLONE_THREAD;
	return true;
}
