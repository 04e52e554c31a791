#include "frames/jail/naming.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frames/jail/inside.h"
#include "profile/findings.h"
#include "profile/module_name.h"

enum jail_cause { JAIL_LIMIT, JAIL_ENDED, JAIL_IMPOSSIBLE, JAIL_INTERRUPTED };

static const struct frames_cause causes[] = {
	[JAIL_LIMIT] = { .remedy = "--naming-time permits more" },
	[JAIL_ENDED] = { .remedy = "the file may be damaged; its functions stay addresses" },
	[JAIL_IMPOSSIBLE] = { .remedy = "its owner may name them: cpprof report" },
	[JAIL_INTERRUPTED] = { .is_interruption = true },
};

static int fail(struct frames_failure *failure, enum jail_cause cause)
{
	failure->cause = &causes[cause];
	return 0;
}

static enum jail_cause cause_of(const struct jail *jail, int status)
{
	if (status != ERROR_LIMIT)
		return JAIL_ENDED;
	return jail->is_interrupted ? JAIL_INTERRUPTED : JAIL_LIMIT;
}

/* The request: this, and the ids of the locations. */
struct head {
	const struct frames_provider *provider; /* the same address in both processes */
	uint32_t module;
	uint32_t count;
};

/* --- in the jail --- */

static void send_progress(void *context, size_t done, size_t total)
{
	(void)context;
	(void)total;
	inside_progress(done);
}

static int give_input(void *context, uint32_t module, struct error *error)
{
	(void)module;
	struct jail_input *input = ((struct naming_jail *)context)->inside_input;
	int fd = input->fd;
	input->fd = -1;
	return fd >= 0 ? fd : error_set(error, ERROR_NOT_FOUND, "the recorder sent no file");
}

/* The first time, the profile is still as it was when the child was made. */
static int begin(struct naming_jail *jail)
{
	struct frames_naming *naming = jail->naming;
	struct additions_before *before = &jail->before;
	if (before->copied)
		return 0;
	jail->inside = (struct frames_options){ .open_module = give_input,
						.progress = naming->options->progress ? send_progress : NULL,
						.context = jail,
						.times = naming->options->times,
						.time_count = naming->options->time_count };
	naming->options = &jail->inside;
	naming->progress.options = &jail->inside;
	before->copied_count = naming->profile->function_count;
	before->copied = calloc(before->copied_count + 1, sizeof(*before->copied));
	if (!before->copied)
		return ERROR_MEMORY;
	if (before->copied_count)
		memcpy(before->copied, naming->profile->functions, before->copied_count * sizeof(*before->copied));
	return 0;
}

/* Names one module, and answers with what that adds to the profile. */
static int run(void *context, struct jail_input *input, struct buffer *answer, struct error *error)
{
	struct naming_jail *jail = context;
	struct frames_naming *naming = jail->naming;
	struct profile *profile = naming->profile;
	struct head head = { 0 };
	const uint8_t *bytes = cursor_bytes(&input->request, sizeof(head));
	if (bytes)
		memcpy(&head, bytes, sizeof(head));
	bytes = cursor_bytes(&input->request, head.count * sizeof(uint32_t));
	uint32_t *locations = malloc((head.count + 1) * sizeof(*locations));
	if (!bytes || !locations || begin(jail) < 0) {
		free(locations);
		return error_set(error, ERROR_MEMORY, "out of memory");
	}
	memcpy(locations, bytes, head.count * sizeof(*locations));
	const struct additions_request request = {
		.provider = head.provider, .module = head.module, .locations = locations, .count = head.count
	};
	struct frames_failure failure = { 0 };
	jail->inside_input = input;
	jail->before.function_count = profile->function_count;
	jail->before.frame_count = profile->frame_count;
	jail->before.note_count = profile->note_count;
	naming->progress.done = 0;
	int status = head.provider->name_module(naming, head.module, locations, head.count, &failure);
	additions_write(answer, profile, &jail->before, &request, status, &failure);
	if (input->fd >= 0)
		close(input->fd);
	free(locations);
	return 0;
}

static const struct jail_task task = { .doing = "naming the addresses of", .run = run };

/* --- in the recorder --- */

static void show_progress(void *context, uint64_t done)
{
	struct naming_jail *jail = context;
	const struct frames_naming *naming = jail->naming;
	if (!naming->options->progress || done <= jail->shown || done > jail->count)
		return;
	jail->shown = (size_t)done;
	naming->options->progress(naming->options->context, naming->progress.done + jail->shown,
				  naming->progress.total);
}

static void show_download(void *context, uint64_t done, uint64_t total)
{
	struct naming_jail *jail = context;
	const struct frames_options *options = jail->naming->options;
	options->download(options->context, jail->path, done, total);
}

static int end_downloads(struct naming_jail *jail)
{
	struct profile *profile = jail->naming->profile;
	const struct frames_options *options = jail->naming->options;
	if (options->download)
		options->download(options->context, NULL, 0, 0);
	download_add_findings(&jail->download, profile);
	return profile->findings_error;
}

void naming_jail_init(struct naming_jail *jail, struct frames_naming *naming)
{
	*jail = (struct naming_jail){ .naming = naming };
	jail_init(&jail->jail, &naming->options->limits, jail);
	jail->jail.progress = show_progress;
	download_init(&jail->download);
	jail->download.progress = show_download;
	jail->download.context = jail;
	if (naming->options->download)
		jail->jail.download = &jail->download;
}

void naming_jail_release(struct naming_jail *jail)
{
	jail_release(&jail->jail);
	file_users_release(&jail->files);
}

static int name_in_jail(struct naming_jail *jail, const struct additions_request *request, int fd, const char *path,
			struct frames_failure *failure)
{
	const struct head head = { request->provider, request->module, (uint32_t)request->count };
	struct buffer bytes;
	struct cursor answer;
	buffer_init(&bytes);
	buffer_append(&bytes, &head, sizeof(head));
	buffer_append(&bytes, request->locations, request->count * sizeof(*request->locations));
	const struct jail_request wanted = {
		.task = &task, .fd = fd, .path = path, .bytes = bytes.bytes, .size = bytes.size
	};
	jail->shown = 0;
	jail->count = request->count;
	jail->path = path;
	int status = buffer_error(&bytes);
	if (status == 0)
		status = jail_run(&jail->jail, &wanted, &answer, &failure->detail);
	buffer_release(&bytes);
	if (status != ERROR_MEMORY && end_downloads(jail) < 0)
		status = ERROR_MEMORY;
	if (status < 0)
		return status == ERROR_MEMORY ? status : fail(failure, cause_of(&jail->jail, status));
	status = additions_read(answer.next, cursor_left(&answer), jail->naming->profile, jail->copied, request,
				failure);
	if (status < 0 && status != ERROR_LIMIT) {
		status = jail_fail(&jail->jail, &wanted, status, &failure->detail);
		return fail(failure, cause_of(&jail->jail, status));
	}
	if (status == 0 && !failure->cause)
		jail->naming->progress.done += request->count;
	return status;
}

/* --- without a jail --- */

struct one_file {
	int fd;           /* or a negative error: it cannot be opened */
	struct error why; /* then the reason */
};

static int give_file(void *context, uint32_t module, struct error *error)
{
	(void)module;
	struct one_file *file = context;
	int fd = file->fd;
	if (fd < 0 && error)
		*error = file->why;
	file->fd = file->why.code = ERROR_NOT_FOUND; /* it is given once */
	return fd;
}

/* Names a module in this process, from this file alone. */
static int name_here(struct naming_jail *jail, const struct additions_request *request, struct one_file *file,
		     struct frames_failure *failure)
{
	struct frames_naming *naming = jail->naming;
	const struct frames_options *options = naming->options;
	const struct frames_options here = {
		.open_module = give_file, .context = file, .times = options->times, .time_count = options->time_count
	};
	naming->options = &here;
	int status =
		request->provider->name_module(naming, request->module, request->locations, request->count, failure);
	naming->options = options;
	return status;
}

static void open_file(struct naming_jail *jail, uint32_t module, const char *path, struct one_file *file)
{
	const struct frames_options *options = jail->naming->options;
	if (options->open_module)
		file->fd = options->open_module(options->context, module, &file->why);
	else if ((file->fd = file_users_open(&jail->files, jail->naming->profile, path)) < 0)
		file->fd = error_set_errno(&file->why, "cannot read '%s'", path);
}

/* Makes a child if there is none. It copies the profile as it is now. */
static int prepare(struct naming_jail *jail)
{
	if (jail->jail.child == 0)
		jail->copied = jail->naming->profile->function_count;
	return jail_prepare(&jail->jail);
}

int naming_jail_name(struct naming_jail *jail, const struct frames_provider *provider, uint32_t module,
		     const uint32_t *locations, size_t count, struct frames_failure *failure)
{
	const struct profile *profile = jail->naming->profile;
	const struct additions_request request = {
		.provider = provider, .module = module, .locations = locations, .count = count
	};
	const char *path = profile_string(profile, profile->modules[module].path);
	bool needs_file = profile->modules[module].kind == MODULE_FILE || module_is_kernel_code(profile, module);
	struct one_file file = { .fd = -1 };
	if (jail->jail.is_interrupted)
		return fail(failure, JAIL_INTERRUPTED);
	if (needs_file)
		open_file(jail, module, path, &file);
	else if (profile->modules[module].kind == MODULE_ANON && jail->naming->options->open_module)
		file.fd = jail->naming->options->open_module(jail->naming->options->context, module, &file.why);
	int status;
	if (needs_file && file.fd < 0)
		status = name_here(jail, &request, &file, failure); /* fails, with the provider's reason */
	else if (prepare(jail) == 0)
		status = name_in_jail(jail, &request, file.fd, path, failure);
	else if (jail->jail.is_interrupted)
		status = fail(failure, JAIL_INTERRUPTED);
	else if (file.fd < 0 || jail_trusts(file.fd))
		status = name_here(jail, &request, &file, failure);
	else {
		error_set(&failure->detail, ERROR_UNSUPPORTED,
			  "cannot name the addresses of '%s', another user's, in a process without privileges: %s",
			  path, jail->jail.obstacle);
		status = fail(failure, JAIL_IMPOSSIBLE);
	}
	if (file.fd >= 0)
		close(file.fd);
	return status;
}
