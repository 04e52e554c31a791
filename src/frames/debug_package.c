#include "frames/debug_package.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/path.h"

enum {
	RELEASE_BYTES = 16 * 1024,
	LIST_BYTES_MAX = 32 * 1024 * 1024, /* of one package */
	SEARCH_S = 2,
};

/* Reads the start of a file, which the caller frees, with a NUL behind it. Returns NULL if it cannot be read. */
static char *read_start(const char *path, size_t most, size_t *size)
{
	int fd = path_open_regular(path);
	off_t end = fd >= 0 ? lseek(fd, 0, SEEK_END) : -1;
	size_t wanted = end < 0 ? 0 : (size_t)end < most ? (size_t)end : most;
	char *bytes = end < 0 ? NULL : malloc(wanted + 1);
	*size = 0;
	while (bytes && *size < wanted) {
		ssize_t got = pread(fd, bytes + *size, wanted - *size, (off_t)*size);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		*size += (size_t)got;
	}
	if (bytes)
		bytes[*size] = 0;
	if (fd >= 0)
		close(fd);
	return bytes;
}

/* --- the distribution --- */

/* By ID or a word of ID_LIKE in /etc/os-release. */
static const struct distribution {
	const char *id, *server;
	bool has_dpkg;
} distributions[] = {
	{ "debian", "https://debuginfod.debian.net", true },
	{ "ubuntu", "https://debuginfod.ubuntu.com", true },
	{ "fedora", "https://debuginfod.fedoraproject.org/", false },
	{ "centos", "https://debuginfod.centos.org/", false },
	{ "arch", "https://debuginfod.archlinux.org", false },
	{ "opensuse", "https://debuginfod.opensuse.org/", false },
	{ "suse", "https://debuginfod.opensuse.org/", false },
	{ "void", "https://debuginfod.s.voidlinux.org/", false },
};

static const struct distribution *distribution_of(const char *word, size_t length)
{
	for (size_t i = 0; i < sizeof(distributions) / sizeof(distributions[0]); i++)
		if (strlen(distributions[i].id) == length && strncmp(distributions[i].id, word, length) == 0)
			return &distributions[i];
	return NULL;
}

/* Finds the first known word in the value of a line KEY="word word". */
static const struct distribution *find_in_line(const char *text, const char *key)
{
	size_t length = strlen(key);
	const char *line = text;
	while (line && strncmp(line, key, length) != 0) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	const struct distribution *found = NULL;
	for (const char *word = line ? line + length : ""; !found && *word && *word != '\n';) {
		word += strspn(word, " \"'");
		size_t bytes = strcspn(word, " \"'\n");
		found = distribution_of(word, bytes);
		word += bytes;
		if (bytes == 0)
			break;
	}
	return found;
}

static const struct distribution *distribution_of_system(const char *root)
{
	/* The servers of elfutils pass requests on to the servers of the distributions. */
	static const struct distribution unknown = { "", "https://debuginfod.elfutils.org/", false };
	static const char *const files[] = { "/etc/os-release", "/usr/lib/os-release" };
	const struct distribution *found = NULL;
	char path[PATH_MAX];
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		size_t size;
		snprintf(path, sizeof(path), "%s%s", root, files[i]);
		char *text = read_start(path, RELEASE_BYTES, &size);
		if (!text)
			continue;
		found = find_in_line(text, "ID=");
		if (!found)
			found = find_in_line(text, "ID_LIKE=");
		free(text);
		break;
	}
	return found ? found : &unknown;
}

/* --- packages --- */

/* Whether a text, which ends in a NUL, has a line that is equal to `wanted`. */
static bool has_line(const char *text, size_t size, const char *wanted)
{
	size_t length = strlen(wanted);
	for (const char *at = text; (at = memmem(at, size - (size_t)(at - text), wanted, length)); at++)
		if ((at == text || at[-1] == '\n') && (at[length] == '\n' || at[length] == 0))
			return true;
	return false;
}

/* dpkg may know a file by its name from before /lib became a link to /usr/lib. */
static bool list_has(const char *list, const char *path)
{
	size_t size;
	char *text = read_start(list, LIST_BYTES_MAX, &size);
	bool is_in_usr = strncmp(path, "/usr/", strlen("/usr/")) == 0;
	char other[PATH_MAX];
	if (!is_in_usr)
		snprintf(other, sizeof(other), "/usr%s", path);
	bool found =
		text && (has_line(text, size, path) || has_line(text, size, is_in_usr ? path + strlen("/usr") : other));
	free(text);
	return found;
}

static uint64_t now_s(void)
{
	struct timespec time = { 0 };
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec;
}

/* Sets the name of the package with the debug symbols, by the name of a list: "zlib1g:ARCHITECTURE.list". The C library's has another name. */
static void set_name(struct debug_package *package, const char *list)
{
	int length = (int)strcspn(list, ":");
	if (list[length] == 0)
		length -= (int)strlen(".list");
	bool is_c_library = length == 5 && strncmp(list, "libc6", 5) == 0;
	snprintf(package->name, sizeof(package->name), "%.*s-%s", length, list, is_c_library ? "dbg" : "dbgsym");
}

static bool is_list(const char *name)
{
	const char *end = strrchr(name, '.');
	return end && end != name && strcmp(end, ".list") == 0 && strlen(name) < DEBUG_PACKAGE_BYTES / 2;
}

static void search_dpkg(const char *root, const char *path, struct debug_package *package)
{
	char name[PATH_MAX];
	snprintf(name, sizeof(name), "%s/var/lib/dpkg/info", root);
	DIR *folder = opendir(name);
	uint64_t end_s = now_s() + SEARCH_S + 1;
	bool has_lists = false;
	if (!folder)
		return;
	for (struct dirent *entry; (entry = readdir(folder)) && !package->name[0];) {
		if (!is_list(entry->d_name))
			continue;
		if (now_s() >= end_s) {
			has_lists = false;
			break;
		}
		has_lists = true;
		snprintf(name, sizeof(name), "%s/var/lib/dpkg/info/%s", root, entry->d_name);
		if (list_has(name, path))
			set_name(package, entry->d_name);
	}
	package->is_searched = has_lists;
	closedir(folder);
}

void debug_package_find(const char *root, const char *path, struct debug_package *package)
{
	const struct distribution *distribution = distribution_of_system(root);
	*package = (struct debug_package){ .server = distribution->server };
	if (distribution->has_dpkg && path[0] == '/' && strlen(path) < PATH_MAX / 2)
		search_dpkg(root, path, package);
}
