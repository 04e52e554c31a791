#include "store/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/compare.h"
#include "base/cursor.h"
#include "base/memory_limit.h"
#include "base/memory_size.h"
#include "profile_file/reader.h"
#include "profile_file/writer.h"

/*
 * The file: a magic; the identity; the start (u64); then texts, each with its bytes before it
 * (LEB128): name, service, host; the number of labels, with key and value of each; with the second magic, the number of processes,
 * with the service of each; the rest is the profile's file.
 */
static const char MAGICS[][16] = { "cpprof spool 1\n", "cpprof spool 2\n" };
static const char ENDING[] = ".spool", BAD[] = ".bad", NEW[] = ".new-";

enum { MAGIC_BYTES = sizeof(MAGICS[0]) - 1, NAME_BYTES = 2 * STORE_IDENTITY_BYTES + sizeof(ENDING), OLD_S = 86400 };

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
	size_t process_count = recording->profile->process_count;
	buffer_append(file, MAGICS[recording->services != NULL], MAGIC_BYTES);
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
	if (recording->services)
		buffer_append_varint(file, process_count);
	for (size_t i = 0; recording->services && i < process_count; i++)
		put_text(file, recording->services[i]);
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

/* --- the limit --- */

static bool ends_with(const char *name, const char *ending)
{
	size_t bytes = strlen(name), ending_bytes = strlen(ending);
	return name[0] != '.' && bytes > ending_bytes && strcmp(name + bytes - ending_bytes, ending) == 0;
}

static bool is_entry(const char *name)
{
	return ends_with(name, ENDING);
}

static bool is_new(const char *name)
{
	return strncmp(name, NEW, sizeof(NEW) - 1) == 0;
}

/* Removes a file that a killed program has left: its name begins with ".new-PID-". */
static void remove_left_over(int folder, const char *name)
{
	struct stat status;
	pid_t writer = is_new(name) ? (pid_t)strtol(name + sizeof(NEW) - 1, NULL, 10) : 0;
	if (!is_new(name) || fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	bool is_dead = writer > 0 && kill(writer, 0) < 0 && errno == ESRCH;
	if (is_dead || status.st_mtime < time(NULL) - OLD_S)
		unlinkat(folder, name, 0);
}

struct room {
	uint64_t bytes, fixed;     /* of all files of the spool, and of those that cannot be removed */
	char oldest[NAME_MAX + 1]; /* "": no file can be removed */
	struct timespec time;      /* of the oldest one */
};

static bool is_older(const char *name, const struct stat *status, const struct room *room)
{
	int order = COMPARE(status->st_mtim.tv_sec, room->time.tv_sec)
			    ?: COMPARE(status->st_mtim.tv_nsec, room->time.tv_nsec);
	return !room->oldest[0] || order < 0 || (order == 0 && strcmp(name, room->oldest) < 0);
}

static void measure(DIR *stream, struct room *room)
{
	*room = (struct room){ 0 };
	rewinddir(stream);
	for (struct dirent *at = readdir(stream); at; at = readdir(stream)) {
		struct stat status;
		bool is_fixed = is_new(at->d_name);
		if ((!is_fixed && !is_entry(at->d_name) && !ends_with(at->d_name, BAD)) ||
		    fstatat(dirfd(stream), at->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0 || S_ISDIR(status.st_mode))
			continue;
		room->bytes += (uint64_t)status.st_size;
		room->fixed += is_fixed ? (uint64_t)status.st_size : 0;
		if (!is_fixed && is_older(at->d_name, &status, room)) {
			snprintf(room->oldest, sizeof(room->oldest), "%s", at->d_name);
			room->time = status.st_mtim;
		}
	}
}

/* Removes the oldest recordings until so many bytes more keep the limit. */
static int make_room(DIR *stream, const char *folder, uint64_t bytes, struct spool_limit *limit, struct error *error)
{
	char text[MEMORY_SIZE_TEXT_BYTES];
	struct room room;
	if (limit->bytes == 0)
		return 0;
	/* Another program must not fill the room meanwhile; to close the folder unlocks it. */
	if (flock(dirfd(stream), LOCK_EX) < 0)
		return error_set_errno(error, "cannot lock folder '%s'", folder);
	for (struct dirent *at = readdir(stream); at; at = readdir(stream))
		remove_left_over(dirfd(stream), at->d_name);
	measure(stream, &room);
	bool fits = bytes <= limit->bytes && room.fixed <= limit->bytes - bytes;
	for (; fits && room.bytes > limit->bytes - bytes; measure(stream, &room)) {
		fits = room.oldest[0] != '\0';
		if (!fits)
			break;
		if (unlinkat(dirfd(stream), room.oldest, 0) == 0)
			limit->dropped += is_entry(room.oldest);
		else if (errno != ENOENT) /* sent meanwhile */
			return error_set_errno(error, "cannot remove '%s' from '%s'", room.oldest, folder);
	}
	return fits ? 0
		    : error_set(error, ERROR_LIMIT,
				"cannot keep a recording of %s in '%s': there is no room (--spool-limit)",
				memory_size_text(bytes, text), folder);
}

/* --- a recording --- */

static void write_file_name(char name[NAME_BYTES], const struct store_recording *recording)
{
	for (size_t i = 0; i < sizeof(recording->identity); i++)
		snprintf(name + 2 * i, NAME_BYTES - 2 * i, "%02x", recording->identity[i]);
	snprintf(name + 2 * sizeof(recording->identity), sizeof(ENDING), "%s", ENDING);
}

int spool_put(const char *folder, const struct store_recording *recording, struct spool_limit *limit,
	      struct error *error)
{
	char name[NAME_BYTES];
	struct buffer file;
	int fits = store_check(recording, error);
	if (fits < 0)
		return fits;
	write_file_name(name, recording);
	if (mkdir(folder, 0700) < 0 && errno != EEXIST)
		return error_set_errno(error, "cannot make folder '%s'", folder);
	DIR *stream = opendir(folder);
	if (!stream)
		return error_set_errno(error, "cannot open folder '%s'", folder);
	buffer_init(&file);
	int status = make_file(&file, recording, error);
	if (status == 0)
		status = make_room(stream, folder, file.size, limit, error);
	if (status == 0 && publish(dirfd(stream), &file, name) < 0)
		status = error_set_errno(error, "cannot keep '%s' in '%s'", recording->name, folder);
	buffer_release(&file);
	closedir(stream);
	return status;
}

/* --- reading --- */

struct entry {
	struct buffer file;
	struct store_recording recording;
	struct buffer texts; /* each with its NUL */
	struct store_label *labels;
	const char **services;
	struct profile *profile;
};

static void release_entry(struct entry *entry)
{
	buffer_release(&entry->file);
	buffer_release(&entry->texts);
	free(entry->labels);
	free((void *)entry->services);
	profile_free(entry->profile);
}

/* Appends the next texts to entry->texts. */
static void take_texts(struct cursor *cursor, struct entry *entry, uint64_t count)
{
	for (uint64_t i = 0; i < count && !cursor->failed; i++) {
		size_t bytes = cursor_varint(cursor);
		const uint8_t *text = cursor_bytes(cursor, bytes);
		if (text && bytes > 0 && memchr(text, 0, bytes))
			cursor->failed = true;
		if (text)
			buffer_append(&entry->texts, text, bytes);
		buffer_append_byte(&entry->texts, 0);
	}
}

/* Appends a number of texts, and the texts, each in `pieces`. Returns the number. */
static uint64_t take_list(struct cursor *cursor, struct entry *entry, unsigned pieces)
{
	uint64_t count = cursor_varint(cursor);
	if (count > cursor_left(cursor))
		cursor->failed = true;
	take_texts(cursor, entry, cursor->failed ? 0 : count * pieces);
	return count;
}

static const char *next_text(const char **at)
{
	const char *text = *at;
	*at += strlen(text) + 1;
	return text;
}

/* Sets the texts of the recording, in the order in which they were appended. */
static int place_texts(struct entry *entry, uint64_t label_count, uint64_t service_count)
{
	struct store_recording *recording = &entry->recording;
	const char *at = (const char *)entry->texts.bytes;
	entry->labels = calloc(label_count + 1, sizeof(*entry->labels));
	entry->services = calloc(service_count + 1, sizeof(*entry->services));
	if (!entry->labels || !entry->services || buffer_error(&entry->texts) < 0)
		return ERROR_MEMORY;
	recording->name = next_text(&at);
	recording->service = next_text(&at);
	recording->host = next_text(&at);
	for (size_t i = 0; i < label_count; i++) {
		const char *key = next_text(&at);
		entry->labels[i] = (struct store_label){ key, next_text(&at) };
	}
	for (size_t i = 0; i < service_count; i++)
		entry->services[i] = next_text(&at);
	recording->labels = (struct store_labels){ .items = entry->labels, .count = label_count };
	return 0;
}

/* Reads everything before the profile. Sets *service_count if its processes have services. Returns 0 or a negative error. */
static int read_header(struct cursor *cursor, struct entry *entry, uint64_t *service_count)
{
	struct store_recording *recording = &entry->recording;
	const uint8_t *magic = cursor_bytes(cursor, MAGIC_BYTES);
	const uint8_t *identity = cursor_bytes(cursor, sizeof(recording->identity));
	bool has_services = magic && memcmp(magic, MAGICS[1], MAGIC_BYTES) == 0;
	if (!identity || (!has_services && memcmp(magic, MAGICS[0], MAGIC_BYTES) != 0))
		return ERROR_CORRUPT;
	memcpy(recording->identity, identity, sizeof(recording->identity));
	recording->start_unix_ns = (int64_t)cursor_u64(cursor);
	take_texts(cursor, entry, 3);
	uint64_t label_count = take_list(cursor, entry, 2);
	*service_count = has_services ? take_list(cursor, entry, 1) : 0;
	if (cursor->failed || label_count > STORE_LABELS_MOST)
		return ERROR_CORRUPT;
	int status = place_texts(entry, label_count, *service_count);
	recording->services = has_services ? entry->services : NULL;
	return status;
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

static int refuse_entry(const char *name, int status, struct error *error)
{
	return error_set(error, status, "cannot read '%s': %s", name,
			 status == ERROR_CORRUPT ? "it is no recording of a spool" : error_text(status));
}

static int read_entry(int folder, const char *name, struct entry *entry, struct error *error)
{
	uint64_t service_count;
	if (read_file(folder, name, &entry->file) < 0)
		return error_set_errno(error, "cannot read '%s'", name);
	struct cursor cursor = cursor_over(entry->file.bytes, entry->file.size);
	int status = read_header(&cursor, entry, &service_count);
	if (status < 0)
		return refuse_entry(name, status, error);
	entry->profile = reader_load_bytes(cursor.next, cursor_left(&cursor), name, memory_limit(), error);
	entry->recording.profile = entry->profile;
	if (!entry->profile)
		return error->code;
	bool has_all = !entry->recording.services || service_count == entry->profile->process_count;
	return has_all ? 0 : refuse_entry(name, ERROR_CORRUPT, error);
}

/* --- sending --- */

/* Gives a file that no store can take another ending. */
static bool set_aside(int folder, const char *name)
{
	char other[NAME_MAX + 1];
	int length = (int)(strlen(name) - strlen(ENDING));
	snprintf(other, sizeof(other), "%.*s%s", length, name, BAD);
	return renameat(folder, name, folder, other) == 0;
}

static int send_entry(int folder, const char *name, struct store *store, struct spool_counts *counts,
		      struct error *error)
{
	struct entry entry = { 0 };
	buffer_init(&entry.file);
	buffer_init(&entry.texts);
	int status = read_entry(folder, name, &entry, error);
	bool is_bad =
		status == ERROR_CORRUPT || status == ERROR_FORMAT || status == ERROR_TRUNCATED || status == ERROR_LIMIT;
	if (status == 0) {
		status = store_add(store, &entry.recording, error);
		/* Other errors are those of the store. */
		is_bad = status == ERROR_LIMIT;
	} else if (status == ERROR_NOT_FOUND) {
		status = 0;
	}
	/* Another program may have sent and removed it. */
	if (status >= 0 && unlinkat(folder, name, 0) < 0 && errno != ENOENT)
		status = error_set_errno(error, "cannot remove '%s'", name);
	if (status > 0)
		counts->sent++;
	else if (is_bad)
		counts->refused += set_aside(folder, name);
	release_entry(&entry);
	return status < 0 ? status : 0;
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
		remove_left_over(dirfd(stream), at->d_name);
		int status = is_entry(at->d_name) ? send_entry(dirfd(stream), at->d_name, store, counts, &own) : 0;
		bool is_reported = first < 0 && status != ERROR_UNREACHABLE;
		if (status < 0 && !is_reported)
			first = error_set(error, status, "%s", own.message);
	}
	closedir(stream);
	return first;
}
