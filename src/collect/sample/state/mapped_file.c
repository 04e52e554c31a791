#include "collect/sample/state/mapped_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "collect/sample/state/proc.h"

/* The attempts to open one file. */
struct search {
	const struct mapped_file *mapped;
	int fd; /* of the file, once it is found */
	struct elf_file *elf;
	struct error why_not_elf; /* code 0: no mapped file was rejected for its content */
	bool takes_any;           /* it need not be an ELF file */
	bool needs_root;          /* the kernel shows the file to root only */
	bool is_another;          /* another file has its path */
	int path_errno;           /* of the last attempt to open its path */
};

enum { NAME_BYTES = MAPPED_FILE_PATH_BYTES + 64, PAGE_BYTES = 4096 };

void mapped_file_plain_path(const char *path, char *plain)
{
	static const char mark[] = " (deleted)";
	snprintf(plain, MAPPED_FILE_PATH_BYTES, "%s", path);
	size_t length = strlen(plain);
	if (length > sizeof(mark) - 1 && strcmp(plain + length - (sizeof(mark) - 1), mark) == 0)
		plain[length - (sizeof(mark) - 1)] = 0;
}

/* Returns whether an opened file has the device and inode of a mapping. On some file systems (btrfs, overlayfs)
 * stat(2) reports another device than the kernel reports for mappings, so the file is mapped to compare it. That
 * page is not read. */
static bool is_same_inode(int fd, const struct mapped_file *mapped)
{
	struct stat status;
	struct proc_maps maps;
	struct proc_map map;
	bool same = false;
	if (fstat(fd, &status) == 0 && status.st_dev == mapped->device && status.st_ino == mapped->inode)
		return true;
	const void *page = mmap(NULL, PAGE_BYTES, PROT_READ, MAP_PRIVATE, fd, 0);
	if (page == MAP_FAILED)
		return false;
	proc_maps_open(&maps, getpid(), gettid());
	while (!same && proc_maps_next(&maps, &map) && map.start <= (uintptr_t)page)
		same = map.start == (uintptr_t)page && map.device == mapped->device && map.inode == mapped->inode;
	proc_maps_close(&maps);
	munmap((void *)page, PAGE_BYTES);
	return same;
}

/* Returns whether a file has a word of letters, by which cores of SBCL begin and programs with a core end (SBCL's src/runtime/coreparse.c). */
static bool has_lisp_magic(int fd, off_t offset)
{
	static const char magic[8] = "LCBS";
	char bytes[sizeof(magic)];
	return pread(fd, bytes, sizeof(bytes), offset) == sizeof(bytes) && memcmp(bytes, magic, sizeof(magic)) == 0;
}

uint64_t mapped_file_lisp_core(int fd)
{
	enum { WORD = 8 };
	struct stat file;
	uint64_t offset;
	if (fstat(fd, &file) < 0 || file.st_size < 2 * WORD || !has_lisp_magic(fd, file.st_size - WORD) ||
	    pread(fd, &offset, sizeof(offset), file.st_size - 2 * WORD) != sizeof(offset) ||
	    offset >= (uint64_t)file.st_size || !has_lisp_magic(fd, (off_t)offset))
		return 0;
	return offset;
}

/* Takes an opened file if it is the mapped one; `is_mapping`: the kernel opened it by its mapping. Returns whether
 * the search is over. */
static bool take(struct search *search, int fd, bool is_mapping)
{
	const struct mapped_file *mapped = search->mapped;
	struct error error = { 0 };
	bool is_ours = mapped->inode == 0 || is_same_inode(fd, mapped);
	struct elf_file *elf = is_ours && !search->takes_any ? elf_file_open(fd, mapped->path, &error) : NULL;
	if (is_ours && mapped->build_id)
		is_ours = elf && mapped->build_id_bytes > 0 &&
			  elf_file_has_build_id(elf, mapped->build_id, mapped->build_id_bytes);
	if (is_ours && (elf || search->takes_any)) {
		search->fd = fd;
		search->elf = elf;
		return true;
	}
	if (is_ours && !elf && has_lisp_magic(fd, 0)) {
		search->fd = fd;
		return true;
	}
	if (is_ours)
		search->why_not_elf = error;
	else if (!is_mapping)
		search->is_another = true;
	elf_file_free(elf);
	close(fd);
	return is_ours;
}

static bool try_mapping(struct search *search, uint64_t start, uint64_t end)
{
	char name[NAME_BYTES];
	snprintf(name, sizeof(name), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)search->mapped->pid, start, end);
	int fd = path_open_regular(name);
	if (fd < 0 && (errno == EPERM || errno == EACCES))
		search->needs_root = true;
	return fd >= 0 && take(search, fd, true);
}

/* Searches the process's present mappings of the file: the reported one may have been cut or joined since. */
static bool try_mappings(struct search *search)
{
	const struct mapped_file *mapped = search->mapped;
	struct proc_maps maps;
	struct proc_map map;
	bool over = mapped->end > 0 && try_mapping(search, mapped->start, mapped->end);
	if (over || search->needs_root || mapped->end == 0)
		return over;
	proc_maps_open(&maps, mapped->pid, mapped->pid);
	while (!over && proc_maps_next(&maps, &map)) {
		bool is_one = mapped->inode ? map.inode == mapped->inode && map.device == mapped->device
					    : map.start <= mapped->start && mapped->start < map.end;
		over = is_one && map.inode && try_mapping(search, map.start, map.end);
	}
	proc_maps_close(&maps);
	return over;
}

static bool try_path(struct search *search, const char *root, const char *path)
{
	char name[NAME_BYTES];
	snprintf(name, sizeof(name), "%s%s", root, path);
	int fd = path_open_regular(name);
	if (fd < 0 && (search->path_errno == 0 || errno != ENOENT))
		search->path_errno = errno;
	return fd >= 0 && take(search, fd, false);
}

/* Searches the path: as the process sees it, which may run in a container, and as we do. */
static bool try_paths(struct search *search)
{
	const struct mapped_file *mapped = search->mapped;
	char root[64] = "", plain[MAPPED_FILE_PATH_BYTES];
	mapped_file_plain_path(mapped->path, plain);
	bool is_marked = strcmp(plain, mapped->path) != 0;
	/* Only the mark distinguishes an unlinked file from a later one with its path. */
	if (is_marked && !mapped->inode && !mapped->build_id)
		return false;
	if (mapped->pid > 0)
		snprintf(root, sizeof(root), "/proc/%d/root", (int)mapped->pid);
	return (root[0] && try_path(search, root, plain)) || try_path(search, "", plain) ||
	       (is_marked && root[0] && try_path(search, root, mapped->path));
}

/* The executable can be read even if it was deleted. */
static bool try_program(struct search *search)
{
	char name[64];
	const struct mapped_file *mapped = search->mapped;
	if (mapped->pid <= 0 || (!mapped->inode && !mapped->build_id))
		return false;
	snprintf(name, sizeof(name), "/proc/%d/exe", (int)mapped->pid);
	int fd = path_open_regular(name);
	return fd >= 0 && take(search, fd, true);
}

static int explain(const struct search *search, struct error *error)
{
	char plain[MAPPED_FILE_PATH_BYTES];
	mapped_file_plain_path(search->mapped->path, plain);
	if (search->why_not_elf.code) {
		if (error)
			*error = search->why_not_elf;
		return search->why_not_elf.code;
	}
	if (search->path_errno && search->path_errno != ENOENT && !search->is_another) {
		errno = search->path_errno;
		return error_set_errno(error, "cannot read '%s'", plain);
	}
	const char *fate = search->is_another ? "replaced" : "deleted";
	if (search->needs_root)
		return error_set(
			error, ERROR_PERMISSION,
			"cannot read the file that is mapped as '%s': it was %s, and only root can still read it",
			plain, fate);
	return error_set(error, ERROR_NOT_FOUND, "cannot read the file that was mapped as '%s': it was %s", plain,
			 fate);
}

int mapped_file_open(const struct mapped_file *mapped, struct elf_file **elf, struct error *error)
{
	struct search search = { .mapped = mapped, .fd = -1 };
	if (!try_mappings(&search) && !try_paths(&search))
		try_program(&search);
	*elf = search.elf;
	return search.fd >= 0 ? search.fd : explain(&search, error);
}

int mapped_file_open_any(const struct mapped_file *mapped)
{
	struct search search = { .mapped = mapped, .fd = -1, .takes_any = true };
	if (mapped->inode && !try_mappings(&search))
		try_paths(&search);
	return search.fd;
}
