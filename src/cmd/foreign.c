#include "cmd/foreign.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/memory_limit.h"
#include "base/path.h"
#include "base/quote.h"
#include "cmd/formats.h"
#include "cmd/progress.h"
#include "collect/count/tally.h"
#include "formats/import_stream.h"
#include "formats/input.h"
#include "frames/frames.h"
#include "profile_file/reader.h"
#include "store/store.h"

static bool is_standard(const char *path)
{
	return strcmp(path, "-") == 0;
}

static const char *shown_name(const struct foreign_request *request)
{
	return is_standard(request->path) ? "standard input" : request->path;
}

/* Sets the error "cannot import 'NAME': REASON", or with `opens` "cannot open ...". */
static int refuse(const struct foreign_request *request, struct error *error, const char *reason)
{
	const char *name = shown_name(request), *mark = quote_mark(name);
	return error_set(error, ERROR_FORMAT, "cannot %s %s%s%s: %s", request->opens ? "open" : "import", mark, name,
			 mark, reason);
}

/* --- the kind of an input --- */

bool foreign_is(const char *path)
{
	unsigned char start[READER_MARK_BYTES];
	struct stat status;
	bool standard = is_standard(path);
	if ((standard ? fstat(STDIN_FILENO, &status) : stat(path, &status)) < 0 || S_ISDIR(status.st_mode))
		return false;
	if (!S_ISREG(status.st_mode) || (standard && lseek(STDIN_FILENO, 0, SEEK_CUR) != 0))
		return true;
	int fd = standard ? STDIN_FILENO : path_open_regular(path);
	ssize_t bytes = fd < 0 ? -1 : pread(fd, start, sizeof(start), 0);
	if (fd >= 0 && !standard)
		close(fd);
	return bytes > 0 && !reader_begins_profile(start, (size_t)bytes);
}

/* Returns whether the input has no bytes, or only blanks. */
static bool is_empty(const struct import_stream *stream)
{
	size_t at = 0;
	while (at < stream->start_bytes && stream->start[at] && strchr(" \t\r\n", stream->start[at]))
		at++;
	return at == stream->start_bytes && at < sizeof(stream->start);
}

static int refuse_unknown(const struct foreign_request *request, const struct import_stream *stream,
			  struct error *error)
{
	static const char elf[] = "\177ELF";
	char names[256], reason[384];
	bool is_program = stream->start_bytes >= sizeof(elf) - 1 && memcmp(stream->start, elf, sizeof(elf) - 1) == 0;
	if (request->opens && is_program)
		return refuse(request, error, "it is a program (cpprof record runs and records it)");
	if (request->opens && store_is_file(stream->start, stream->start_bytes))
		return refuse(request, error, "it is a store (--store FILE reads it)");
	snprintf(reason, sizeof(reason), "%sits format is unknown (known formats: %s)",
		 request->opens ? "it is not a cpprof profile, and " : "",
		 formats_list(DIRECTION_IMPORT, names, sizeof(names)));
	return refuse(request, error, reason);
}

/* Returns the requested format, or else the format of the input; or NULL, and then sets the error. */
static const struct format *format_of(const struct foreign_request *request, const struct import_stream *stream,
				      struct error *error)
{
	const struct format *format = request->format;
	if (!format)
		format = format_recognise(stream->start, stream->start_bytes);
	if (!format)
		refuse_unknown(request, stream, error);
	return format;
}

int foreign_check_image(const struct foreign_request *request, const struct format *format, struct error *error)
{
	bool needs_image = format->needs & FORMAT_NEEDS_IMAGE;
	if (needs_image && !request->image && request->opens) {
		char reason[384];
		snprintf(reason, sizeof(reason), "%s needs the program that ran (cpprof import --image ./a.out %s)",
			 format->title, request->path);
		return refuse(request, error, reason);
	}
	if (needs_image && !request->image)
		return error_set(error, ERROR_USAGE, "--format %s needs the program that ran (--image ./a.out)",
				 format->name);
	if (!needs_image && request->image)
		return error_set(error, ERROR_USAGE, "--image cannot be combined with --format %s (leave out --image)",
				 format->name);
	return 0;
}

/* --- reading --- */

/* Reads a profile of cpprof that is compressed, or comes through a pipe. */
static struct profile *read_own(const struct foreign_request *request, const struct import_stream *stream,
				struct error *error)
{
	struct buffer bytes;
	int code = input_bytes_read(&bytes, stream->in, shown_name(request), error);
	struct profile *profile =
		code < 0 ? NULL
			 : reader_load_bytes(bytes.bytes, bytes.size, shown_name(request), memory_limit(), error);
	buffer_release(&bytes);
	return profile;
}

static struct profile *refuse_own(const struct foreign_request *request, struct error *error)
{
	char reason[384];
	snprintf(reason, sizeof(reason), "it is a cpprof profile already (cpprof report %s)", request->path);
	refuse(request, error, reason);
	return NULL;
}

static struct profile *refuse_tally(const struct foreign_request *request, struct error *error)
{
	refuse(request, error, "a tally of cpprof is read only from a file that is not compressed");
	return NULL;
}

/* Names the addresses, and makes the profile what reading its file would make of it. */
static int complete(const struct foreign_request *request, struct profile *profile, struct error *error)
{
	const char *name = shown_name(request), *mark = quote_mark(name);
	char quoted[300];
	int code = 0;
	if (!profile->symbolized)
		code = frames_name_profile(profile, &(struct frames_options){ .download = progress_download }, error);
	snprintf(quoted, sizeof(quoted), "%s%s%s", mark, name, mark);
	return code == 0 && request->opens ? reader_complete(profile, quoted, memory_limit(), error) : code;
}

/* Sets the error of compressed data that are damaged or end too early. */
static void refuse_packed(const struct foreign_request *request, const struct import_stream *stream,
			  const struct format *format, struct error *error)
{
	const char *name = shown_name(request), *mark = quote_mark(name);
	error_set(error, ERROR_CORRUPT, "cannot read %s%s%s%s%s: its %s data %s byte %" PRIu64, mark, name, mark,
		  format ? " as " : "", format ? format->name : "", stream->packing->name,
		  stream->code == ENODATA ? "end too early, at" : "are damaged, at or before", stream->used);
}

/* Reads the rest of a compressed file whose content an importer refused: damage of the data may be the cause, and is found at their end, where their
 * sum is. A file that unpacks to more than DAMAGE_BYTES is not read to its end, nor is a pipe, which may have none. */
static void find_damage(struct import_stream *stream, int code)
{
	enum { DAMAGE_BYTES = 64 << 20 };
	char bytes[4096];
	struct stat status;
	bool is_of_content = code == ERROR_FORMAT || code == ERROR_CORRUPT || code == ERROR_TRUNCATED;
	if (!stream->packing || !is_of_content || fstat(fileno(stream->file), &status) < 0 || !S_ISREG(status.st_mode))
		return;
	for (size_t all = 0, got = 1; all < DAMAGE_BYTES && got > 0 && stream->code == 0; all += got)
		got = fread(bytes, 1, sizeof(bytes), stream->in);
}

/* A file without data is probably not in the format, or was cut. */
static int check_data(const struct foreign_request *request, const struct format *format, const struct profile *profile,
		      struct error *error)
{
	char reason[192];
	if (profile->hit_count > 0)
		return 0;
	snprintf(reason, sizeof(reason), "it has no samples or counts in the format %s (%s)", format->name,
		 format->title);
	return refuse(request, error, reason);
}

/* Imports the input. A failure of the stream is the reason of the importer's. */
static struct profile *read_foreign(const struct foreign_request *request, struct import_stream *stream,
				    struct error *error)
{
	const char *name = shown_name(request), *mark = quote_mark(name);
	const struct format *format = stream->code ? NULL : format_of(request, stream, error);
	if (format && foreign_check_image(request, format, error) < 0)
		return NULL;
	struct profile *profile = format ? format->import(stream->in, name, request->image, error) : NULL;
	if (format && !profile)
		find_damage(stream, error->code);
	if (!profile && (stream->code == EBADMSG || stream->code == ENODATA)) {
		refuse_packed(request, stream, format, error);
	} else if (!profile && stream->code) {
		errno = stream->code;
		error_set_errno(error, "cannot read %s%s%s", mark, name, mark);
	}
	if (profile && (check_data(request, format, profile, error) < 0 || complete(request, profile, error) < 0)) {
		profile_free(profile);
		return NULL;
	}
	return profile;
}

static struct profile *read_stream(const struct foreign_request *request, struct import_stream *stream,
				   struct error *error)
{
	bool is_own =
		stream->start_bytes >= READER_MARK_BYTES && reader_begins_profile(stream->start, stream->start_bytes);
	bool is_tally = tally_is(stream->start, stream->start_bytes);
	if (request->opens && is_own)
		return read_own(request, stream, error);
	if (is_own || is_tally)
		return request->opens ? refuse_tally(request, error) : refuse_own(request, error);
	if (is_empty(stream) && stream->code == 0) {
		refuse(request, error, "it is empty");
		return NULL;
	}
	return read_foreign(request, stream, error);
}

static struct profile *read_file(const struct foreign_request *request, FILE *file, struct error *error)
{
	struct import_stream *stream = malloc(sizeof(*stream));
	struct profile *profile = NULL;
	if (!stream || import_stream_open(stream, file) < 0) {
		error_set(error, ERROR_MEMORY, "cannot read '%s': out of memory", shown_name(request));
	} else {
		profile = read_stream(request, stream, error);
		import_stream_close(stream);
	}
	free(stream);
	return profile;
}

static FILE *open_file(const char *path, struct error *error)
{
	int fd = path_open_input(path, error);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	if (fd >= 0 && !file) {
		error_set_errno(error, "cannot read '%s'", path);
		close(fd);
	}
	return file;
}

struct profile *foreign_read(const struct foreign_request *request, struct error *error)
{
	char what[96];
	FILE *in = is_standard(request->path) ? stdin : open_file(request->path, error);
	if (!in)
		return NULL;
	snprintf(what, sizeof(what), "reading %s", shown_name(request));
	progress_begin(what, PROGRESS_AFTER_MS);
	struct profile *profile = read_file(request, in, error);
	progress_end();
	if (in != stdin)
		fclose(in);
	return profile;
}
