#include "collect/sample/file_destination.h"

#include <sys/stat.h>

#include "profile_file/writer.h"

static const uint64_t FLUSH_NS = 1000000000;

static int open_file(void *context, struct error *error)
{
	struct file_destination *file = context;
	file->writer = writer_open(file->path, error);
	return file->writer ? 0 : error->code;
}

static int publish_file(void *context, struct error *error)
{
	struct file_destination *file = context;
	return writer_publish(file->writer, error);
}

static int flush_file(void *context, struct profile *profile, const struct frames_options *names, struct error *error)
{
	struct file_destination *file = context;
	(void)names;
	return writer_flush(file->writer, profile, error);
}

static bool can_resume_file(void *context)
{
	struct file_destination *file = context;
	return writer_can_resume(file->writer);
}

static int finish_file(void *context, struct profile *profile, struct error *error)
{
	struct file_destination *file = context;
	return writer_finish(file->writer, profile, error);
}

static void close_file(void *context)
{
	struct file_destination *file = context;
	if (file->writer)
		file->bytes = writer_size(file->writer);
	writer_free(file->writer);
	file->writer = NULL;
}

struct destination file_destination(struct file_destination *file, const char *path)
{
	struct stat status;
	*file = (struct file_destination){ .path = path };
	return (struct destination){
		.context = file,
		.flush_ns = FLUSH_NS,
		.waits = stat(path, &status) == 0 && S_ISFIFO(status.st_mode),
		.open = open_file,
		.publish = publish_file,
		.flush = flush_file,
		.can_resume = can_resume_file,
		.finish = finish_file,
		.close = close_file,
	};
}
