#include "frames/jail/desk.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/error.h"
#include "base/path.h"
#include "elf/elf_image.h"

enum {
	REQUESTS_MAX = 200000,
	COUNTED_MOST = 1 << 30,
	DOWNLOADS_MAX = 8, /* of one module: its debug file, and one that it shares with others */
};

/* Copies the path of a request. Returns false if it is not an absolute path. */
static bool read_path(const struct wire_message *request, char path[PATH_MAX])
{
	if (request->size == 0 || request->size >= PATH_MAX || request->bytes[0] != '/' ||
	    memchr(request->bytes, 0, request->size))
		return false;
	memcpy(path, request->bytes, request->size);
	path[request->size] = 0;
	return true;
}

/* Returns whether an open file may be given away: /proc/kcore is a regular ELF file, too. */
static bool may_pass_on(int fd)
{
	char magic[SELFMAG];
	struct statfs system;
	return fstatfs(fd, &system) == 0 && system.f_type != PROC_SUPER_MAGIC && system.f_type != SYSFS_MAGIC &&
	       elf_image_read(fd, magic, sizeof(magic), 0) == sizeof(magic) && memcmp(magic, ELFMAG, SELFMAG) == 0;
}

/* Returns the bytes of a file that were written: neither holes nor space that is only reserved. Both read as zeros. */
static uint64_t data_of(int fd, uint64_t size)
{
	enum { PARTS_MOST = 4096 };
	uint64_t bytes = 0;
	off_t position = lseek(fd, 0, SEEK_CUR), begin = 0, end = 0;
	for (int i = 0; i < PARTS_MOST && (begin = lseek(fd, end, SEEK_DATA)) >= 0; i++) {
		end = lseek(fd, begin, SEEK_HOLE);
		if (end <= begin)
			break;
		bytes += (uint64_t)(end - begin);
	}
	bool is_unknown = begin < 0 && errno != ENXIO; /* a file system that reports none */
	lseek(fd, position, SEEK_SET);
	return is_unknown ? size : bytes;
}

void desk_count(struct desk_files *files, int fd)
{
	enum { FILES_MAX = sizeof(files->seen) / sizeof(files->seen[0]) };
	struct stat status;
	if (fd < 0 || fstat(fd, &status) < 0 || files->count == FILES_MAX)
		return;
	for (size_t i = 0; i < files->count; i++)
		if (files->seen[i].device == status.st_dev && files->seen[i].inode == status.st_ino)
			return;
	files->seen[files->count].device = status.st_dev;
	files->seen[files->count++].inode = status.st_ino;
	uint64_t bytes = data_of(fd, (uint64_t)status.st_size);
	files->bytes += bytes < COUNTED_MOST - files->bytes ? bytes : COUNTED_MOST - files->bytes;
}

static int send_opened(struct desk *desk, int socket, int fd, int number)
{
	int32_t answer = fd >= 0 ? 0 : number;
	if (fd >= 0 && !may_pass_on(fd)) {
		close(fd);
		fd = -1;
		answer = EACCES;
	}
	desk_count(desk->files, fd);
	int status = wire_send(socket, WIRE_OPENED, &answer, sizeof(answer), fd);
	if (fd >= 0)
		close(fd);
	return status;
}

/* Notes whether a file of split debug information was found. The jail looks for each in several folders, one after the other. */
static void note_split(struct desk_files *files, const char *path, bool is_there)
{
	static const char ending[] = ".dwo";
	const char *name = path_basename(path);
	size_t length = strlen(name), end = sizeof(ending) - 1;
	if (length <= end || strcmp(name + length - end, ending) != 0)
		return;
	bool is_noted = strncmp(files->split_lacking, name, DESK_NAME_BYTES - 1) == 0;
	if (is_there && is_noted)
		files->split_lacking[0] = 0;
	else if (!is_there && !files->split_lacking[0])
		snprintf(files->split_lacking, DESK_NAME_BYTES, "%s", name);
}

static int send_link(int socket, const char *path)
{
	char answer[sizeof(int32_t) + PATH_MAX];
	ssize_t bytes = readlink(path, answer + sizeof(int32_t), PATH_MAX);
	const int32_t number = bytes < 0 ? errno : 0;
	memcpy(answer, &number, sizeof(number));
	return wire_send(socket, WIRE_LINK, answer, sizeof(number) + (bytes < 0 ? 0 : (size_t)bytes), -1);
}

int desk_answer(struct desk *desk, int socket, const struct wire_message *request)
{
	char path[PATH_MAX];
	int fd, status;
	if (desk->served++ >= REQUESTS_MAX)
		return ERROR_LIMIT;
	switch (request->kind) {
	case WIRE_OPEN:
		if (!read_path(request, path))
			return ERROR_CORRUPT;
		fd = path_open_regular(path);
		status = send_opened(desk, socket, fd, errno);
		note_split(desk->files, path, fd >= 0);
		return status;
	case WIRE_OPEN_BUILD_ID:
		if (!desk->download || desk->downloads++ >= DOWNLOADS_MAX)
			return send_opened(desk, socket, -1, ENOENT);
		fd = download_get(desk->download, request->bytes, request->size);
		return send_opened(desk, socket, fd, ENOENT);
	case WIRE_READ_LINK:
		return read_path(request, path) ? send_link(socket, path) : ERROR_CORRUPT;
	default:
		return ERROR_CORRUPT;
	}
}
