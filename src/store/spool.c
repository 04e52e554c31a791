#include "store/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cursor.h"
#include "base/memory_limit.h"
#include "profile_file/reader.h"
#include "profile_file/writer.h"

/*
 * The file: MAGIC; the identity; the start (u64); then texts, each with its bytes before it
 * (LEB128): name, service, host; the number of labels, with key and value of each; the rest is the
 * profile's file.
 */
static const char MAGIC[] = "cpprof spool 1\n";
static const char ENDING[] = ".spool", NEW[] = ".new-";

enum { NAME_BYTES = 2 * STORE_IDENTITY_BYTES + sizeof(ENDING), LABELS_MOST = 1024, OLD_S = 86400 };

/* --- writing --- */

static void put_text(struct buffer *file, const char *text)
{
	size_t bytes = strlen(text);
	buffer_append_varint(file, bytes);
	buffer_append(file, text, bytes);
}

static int make_file(struct buffer *file, const struct store_recording *recording, struct error *error)
{
	uint64_t start = (uint64_t)recording->start_unix_ns;
	buffer_append(file, MAGIC, sizeof(MAGIC) - 1);
	buffer_append(file, recording->identity, sizeof(recording->identity));
	buffer_append(file, &start, sizeof(start));
	put_text(file, recording->name);
	put_text(file, recording->service);
	put_text(file, recording->host);
	buffer_append_varint(file, recording->labels.count);
	for (size_t i = 0; i < recording->labels.count; i++) {
		put_text(file, recording->labels.items[i].key);
		put_text(file, recording->labels.items[i].value);
	}
	struct buffer profile;
	buffer_init(&profile);
	struct writer *writer = writer_to_memory(&profile, error);
	int status = writer ? writer_finish(writer, recording->profile, error) : error->code;
	writer_free(writer);
	buffer_append(file, profile.bytes, profile.size);
	if (status == 0 && (buffer_error(&profile) < 0 || buffer_error(file) < 0))
		status = error_memory(error);
	buffer_release(&profile);
	return status;
}

static bool write_all(int fd, const struct buffer *file)
{
	for (size_t done = 0; done < file->size;) {
		ssize_t wrote = write(fd, file->bytes + done, file->size - done);
		if (wrote < 0 && errno != EINTR)
			return false;
		done += wrote > 0 ? (size_t)wrote : 0;
	}
	return fsync(fd) == 0;
}

/* Writes a file that appears under its name with its whole content, on the disk. */
static int publish(int folder, const struct buffer *file, const char *name)
{
	char temporary[64];
	snprintf(temporary, sizeof(temporary), "%s%d-%s", NEW, (int)getpid(), name);
	int fd = openat(folder, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -1;
	bool is_done = write_all(fd, file);
	int number = errno;
	close(fd);
	if (is_done && renameat(folder, temporary, folder, name) == 0 && fsync(folder) == 0)
		return 0;
	number = is_done ? errno : number;
	unlinkat(folder, temporary, 0);
	errno = number;
	return -1;
}

int spool_put(const char *folder, const struct store_recording *recording, struct error *error)
{
	char name[NAME_BYTES];
	struct buffer file;
	for (size_t i = 0; i < sizeof(recording->identity); i++)
		snprintf(name + 2 * i, sizeof(name) - 2 * i, "%02x", recording->identity[i]);
	snprintf(name + 2 * sizeof(recording->identity), sizeof(ENDING), "%s", ENDING);
	if (mkdir(folder, 0700) < 0 && errno != EEXIST)
		return error_set_errno(error, "cannot make folder '%s'", folder);
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return error_set_errno(error, "cannot open folder '%s'", folder);
	buffer_init(&file);
	int status = make_file(&file, recording, error);
	if (status == 0 && publish(fd, &file, name) < 0)
		status = error_set_errno(error, "cannot keep '%s' in '%s'", recording->name, folder);
	buffer_release(&file);
	close(fd);
	return status;
}

/* --- reading --- */

struct entry {
	struct buffer file;
	struct store_recording recording;
	struct buffer texts; /* each with its NUL */
	struct store_label *labels;
	struct profile *profile;
};

static void release_entry(struct entry *entry)
{
	buffer_release(&entry->file);
	buffer_release(&entry->texts);
	free(entry->labels);
	profile_free(entry->profile);
}

/* Appends the next text to entry->texts. Returns its offset there. */
static size_t take_text(struct cursor *cursor, struct entry *entry)
{
	size_t offset = entry->texts.size, bytes = cursor_varint(cursor);
	const uint8_t *text = cursor_bytes(cursor, bytes);
	if (text && bytes > 0 && memchr(text, 0, bytes))
		cursor->failed = true;
	if (text)
		buffer_append(&entry->texts, text, bytes);
	buffer_append_byte(&entry->texts, 0);
	return offset;
}

/* Reads everything before the profile. Returns 0 or a negative error. */
static int read_header(struct cursor *cursor, struct entry *entry)
{
	struct store_recording *recording = &entry->recording;
	const uint8_t *magic = cursor_bytes(cursor, sizeof(MAGIC) - 1);
	const uint8_t *identity = cursor_bytes(cursor, sizeof(recording->identity));
	if (!magic || memcmp(magic, MAGIC, sizeof(MAGIC) - 1) != 0 || !identity)
		return ERROR_CORRUPT;
	memcpy(recording->identity, identity, sizeof(recording->identity));
	recording->start_unix_ns = (int64_t)cursor_u64(cursor);
	size_t name = take_text(cursor, entry), service = take_text(cursor, entry), host = take_text(cursor, entry);
	uint64_t count = cursor_varint(cursor);
	if (cursor->failed || count > LABELS_MOST)
		return ERROR_CORRUPT;
	size_t *offsets = calloc(2 * count + 1, sizeof(*offsets));
	entry->labels = calloc(count + 1, sizeof(*entry->labels));
	int status = offsets && entry->labels ? 0 : ERROR_MEMORY;
	for (size_t i = 0; i < 2 * count && status == 0; i++)
		offsets[i] = take_text(cursor, entry);
	if (status == 0)
		status = cursor->failed ? ERROR_CORRUPT : buffer_error(&entry->texts);
	const char *texts = (const char *)entry->texts.bytes;
	for (size_t i = 0; i < count && status == 0; i++)
		entry->labels[i] = (struct store_label){ texts + offsets[2 * i], texts + offsets[2 * i + 1] };
	free(offsets);
	if (status < 0)
		return status;
	recording->name = texts + name;
	recording->service = texts + service;
	recording->host = texts + host;
	recording->labels = (struct store_labels){ .items = entry->labels, .count = count };
	return 0;
}

static int read_file(int folder, const char *name, struct buffer *file)
{
	enum { PIECE = 65536 };
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t got = fd < 0 ? -1 : 1;
	while (got > 0) {
		uint8_t *room = buffer_extend(file, PIECE);
		got = room ? read(fd, room, PIECE) : -1;
		if (room)
			file->size -= (size_t)(PIECE - (got > 0 ? got : 0));
	}
	int number = errno;
	if (fd >= 0)
		close(fd);
	errno = buffer_error(file) < 0 ? ENOMEM : number;
	return got < 0 ? -1 : 0;
}

static int read_entry(int folder, const char *name, struct entry *entry, struct error *error)
{
	if (read_file(folder, name, &entry->file) < 0)
		return error_set_errno(error, "cannot read '%s'", name);
	struct cursor cursor = cursor_over(entry->file.bytes, entry->file.size);
	int status = read_header(&cursor, entry);
	if (status < 0)
		return error_set(error, status, "cannot read '%s': %s", name,
				 status == ERROR_CORRUPT ? "it is no recording of a spool (remove it)"
							 : error_text(status));
	entry->profile = reader_load_bytes(cursor.next, cursor_left(&cursor), name, memory_limit(), error);
	entry->recording.profile = entry->profile;
	return entry->profile ? 0 : error->code;
}

/* --- sending --- */

static int send_entry(int folder, const char *name, struct store *store, struct spool_counts *counts,
		      struct error *error)
{
	struct entry entry = { 0 };
	buffer_init(&entry.file);
	buffer_init(&entry.texts);
	int status = read_entry(folder, name, &entry, error);
	if (status == 0)
		status = store_add(store, &entry.recording, error);
	/* Another program may have sent and removed it. */
	if (status >= 0 && unlinkat(folder, name, 0) < 0 && errno != ENOENT)
		status = error_set_errno(error, "cannot remove '%s'", name);
	if (status > 0)
		counts->sent++;
	else if (status < 0)
		counts->failed++;
	release_entry(&entry);
	return status < 0 ? status : 0;
}

static bool is_entry(const char *name)
{
	size_t bytes = strlen(name), ending = sizeof(ENDING) - 1;
	return name[0] != '.' && bytes > ending && strcmp(name + bytes - ending, ENDING) == 0;
}

/* Removes files that a killed program has left. */
static void remove_old(int folder, const char *name)
{
	struct stat status;
	if (strncmp(name, NEW, sizeof(NEW) - 1) == 0 && fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	    status.st_mtime < time(NULL) - OLD_S)
		unlinkat(folder, name, 0);
}

bool spool_has(const char *folder)
{
	DIR *stream = opendir(folder);
	bool has = false;
	for (struct dirent *at = stream ? readdir(stream) : NULL; at && !has; at = readdir(stream))
		has = is_entry(at->d_name);
	if (stream)
		closedir(stream);
	return has;
}

int spool_send(const char *folder, struct store *store, struct spool_counts *counts, struct error *error)
{
	*counts = (struct spool_counts){ 0 };
	DIR *stream = opendir(folder);
	int first = 0;
	if (!stream)
		return errno == ENOENT ? 0 : error_set_errno(error, "cannot open folder '%s'", folder);
	for (struct dirent *at = readdir(stream); at && first != ERROR_UNREACHABLE; at = readdir(stream)) {
		struct error own = { 0 };
		remove_old(dirfd(stream), at->d_name);
		int status = is_entry(at->d_name) ? send_entry(dirfd(stream), at->d_name, store, counts, &own) : 0;
		bool is_reported = first < 0 && status != ERROR_UNREACHABLE;
		if (status < 0 && !is_reported)
			first = error_set(error, status, "%s", own.message);
	}
	closedir(stream);
	return first;
}
