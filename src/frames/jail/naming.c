#include "frames/jail/naming.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frames/jail/inside.h"
#include "frames/naming_answer.h"
#include "profile/findings.h"
#include "profile/module_name.h"

enum jail_cause { JAIL_LIMIT, JAIL_ENDED, JAIL_IMPOSSIBLE, JAIL_INTERRUPTED, JAIL_REFUSED };

static const struct frames_cause causes[] = {
	[JAIL_LIMIT] = { .remedy = "--naming-time permits more" },
	[JAIL_ENDED] = { .remedy = "the file may be damaged; its functions stay addresses" },
	[JAIL_IMPOSSIBLE] = { .remedy = "its owner may name them: cpprof report" },
	[JAIL_INTERRUPTED] = { .is_interruption = true },
	[JAIL_REFUSED] = { .remedy = FILE_USERS_REMEDY },
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

/* A file that is given to the provider once. */
struct one_file {
	int fd;           /* or a negative error: it cannot be opened */
	struct error why; /* then the reason */
};

static int hand_out_file(void *context, uint32_t module, struct error *error)
{
	(void)module;
	struct one_file *file = context;
	int fd = file->fd;
	if (fd < 0 && error)
		*error = file->why;
	file->fd = file->why.code = ERROR_NOT_FOUND;
	return fd;
}

/* Makes the answer to a request, with this file alone. */
static int make_answer(struct frames_request request, struct one_file *file, struct buffer *answer)
{
	struct frames_options options = *request.options;
	options.open_module = hand_out_file;
	options.context = file;
	request.options = &options;
	return naming_answer_make(&request, answer);
}

/* --- in the jail --- */

/* The request: this, and the ids of the locations. */
struct head {
	const struct frames_provider *provider; /* the same address in both processes */
	uint32_t module;
	uint32_t count;
};

static void send_progress(void *context, size_t done, size_t total)
{
	(void)context;
	(void)total;
	inside_progress(done);
}

/* Names the locations of one module in the child's copy of the profile, which stays as it is. */
static int run(void *context, struct jail_input *input, struct buffer *answer, struct error *error)
{
	const struct naming *naming = context;
	const struct frames_options options = { .progress = naming->options->progress ? send_progress : NULL };
	struct one_file file = { .fd = input->fd };
	struct progress progress;
	struct head head = { 0 };
	const uint8_t *bytes = cursor_bytes(&input->request, sizeof(head));
	if (bytes)
		memcpy(&head, bytes, sizeof(head));
	bytes = cursor_bytes(&input->request, head.count * sizeof(uint32_t));
	uint32_t *locations = malloc((head.count + 1) * sizeof(*locations));
	int status = bytes && locations ? 0 : ERROR_MEMORY;
	if (file.fd < 0)
		file.fd = error_set(&file.why, ERROR_NOT_FOUND, "the recorder sent no file");
	progress_init(&progress, &options, head.count);
	if (status == 0) {
		memcpy(locations, bytes, head.count * sizeof(*locations));
		const struct frames_request request = { head.provider, naming->profile, naming->options, &progress,
							head.module,   locations,       head.count };
		status = make_answer(request, &file, answer);
	}
	if (file.fd >= 0)
		close(file.fd);
	free(locations);
	if (status < 0)
		error_set(error, status, "cannot name the addresses of '%s': %s", input->path, error_text(status));
	return status;
}

static const struct jail_task task = { .doing = "naming the addresses of", .run = run };

/* --- in the recorder --- */

static void show_progress(void *context, uint64_t done)
{
	struct naming *naming = context;
	if (!naming->options->progress || done <= naming->shown || done > naming->count)
		return;
	naming->shown = (size_t)done;
	naming->options->progress(naming->options->context, naming->progress.done + naming->shown,
				  naming->progress.total);
}

static void show_download(void *context, uint64_t done, uint64_t total)
{
	struct naming *naming = context;
	naming->options->download(naming->options->context, naming->path, done, total);
}

static int end_downloads(struct naming *naming)
{
	if (naming->options->download)
		naming->options->download(naming->options->context, NULL, 0, 0);
	download_add_findings(&naming->download, naming->profile);
	return naming->profile->findings_error;
}

int naming_init(struct naming *naming, struct profile *profile, const struct frames_options *options, size_t total)
{
	*naming = (struct naming){ .profile = profile, .options = options };
	progress_init(&naming->progress, options, total);
	jail_init(&naming->jail, &options->limits, naming);
	naming->jail.progress = show_progress;
	download_init(&naming->download);
	naming->download.progress = show_download;
	naming->download.context = naming;
	if (options->download)
		naming->jail.download = &naming->download;
	return functions_init(&naming->functions, profile);
}

void naming_release(struct naming *naming)
{
	jail_release(&naming->jail);
	file_users_release(&naming->files);
	functions_release(&naming->functions);
}

/* Returns whether a package of the files of split debug information is beside a file, or ERROR_MEMORY. */
static int has_package(struct naming *naming, const char *path)
{
	struct buffer package;
	buffer_init(&package);
	buffer_printf(&package, "%s.dwp", path);
	buffer_append_byte(&package, 0);
	int status = buffer_error(&package);
	int fd = status < 0 ? -1 : file_users_open(&naming->files, naming->profile, (const char *)package.bytes);
	if (fd >= 0)
		close(fd);
	buffer_release(&package);
	return status < 0 ? status : fd >= 0;
}

/* Adds a finding if a file of split debug information is missing. A package does not help: libdw 0.188 (Debian 12) reads none. */
static int add_split_finding(struct naming *naming, const char *path)
{
	const char *lacking = naming->jail.files.split_lacking;
	if (!lacking[0])
		return 0;
	int is_packed = has_package(naming, path);
	if (is_packed < 0)
		return is_packed;
	finding_add(naming->profile, FINDING_SPLIT_FILES_LACKING, 1,
		    "%s lacks files of its debug information, such as %s%s", path, lacking,
		    is_packed ? "; its .dwp file is not read" : "");
	return naming->profile->findings_error;
}

static int name_in_jail(struct naming *naming, const struct frames_request *request, int fd, const char *path,
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
	naming->shown = 0;
	naming->count = request->count;
	naming->path = path;
	naming->jail.files.split_lacking[0] = 0;
	int status = buffer_error(&bytes);
	if (status == 0)
		status = jail_run(&naming->jail, &wanted, &answer, &failure->detail);
	buffer_release(&bytes);
	if (status != ERROR_MEMORY && (end_downloads(naming) < 0 || add_split_finding(naming, path) < 0))
		status = ERROR_MEMORY;
	if (status < 0)
		return status == ERROR_MEMORY ? status : fail(failure, cause_of(&naming->jail, status));
	status = naming_answer_read(answer.next, cursor_left(&answer), request, &naming->functions, failure);
	if (status != ERROR_CORRUPT)
		return status;
	status = jail_fail(&naming->jail, &wanted, status, &failure->detail);
	return fail(failure, cause_of(&naming->jail, status));
}

/* --- in this process --- */

static int name_here(struct naming *naming, const struct frames_request *request, struct one_file *file,
		     struct frames_failure *failure)
{
	struct buffer answer;
	buffer_init(&answer);
	int status = make_answer(*request, file, &answer);
	if (status == 0)
		status = naming_answer_read(answer.bytes, answer.size, request, &naming->functions, failure);
	buffer_release(&answer);
	return status;
}

int naming_name_here(struct naming *naming, const struct frames_request *request)
{
	struct one_file none = { .fd = ERROR_NOT_FOUND };
	struct frames_failure failure = { 0 };
	return name_here(naming, request, &none, &failure);
}

/* --- a module --- */

/* Opens the file that the provider needs. Returns 0, also if there may be none, or why it cannot be opened. */
static int open_file(struct naming *naming, uint32_t module, struct one_file *file)
{
	const struct profile *profile = naming->profile;
	const struct frames_options *options = naming->options;
	const char *path = profile_string(profile, profile->modules[module].path);
	bool is_kernel = module_is_kernel_code(profile, module);
	bool is_needed = profile->modules[module].kind == MODULE_FILE || is_kernel;
	file->fd = ERROR_NOT_FOUND;
	if (!is_needed && profile->modules[module].kind != MODULE_ANON)
		return 0;
	if (options->open_module)
		file->fd = options->open_module(options->context, module, &file->why);
	else if (is_kernel) /* only the recorder's kernel has its names */
		file->fd = error_set(&file->why, ERROR_TRUNCATED,
				     "cannot name the kernel's functions: the recorder was stopped before it wrote "
				     "their names");
	else if (is_needed && (file->fd = file_users_open(&naming->files, profile, path)) < 0)
		file->fd = error_set_errno(&file->why, "cannot read '%s'", path);
	return is_needed && file->fd < 0 ? file->fd : 0;
}

static int name_with(struct naming *naming, const struct frames_request *request, struct one_file *file,
		     struct frames_failure *failure)
{
	const struct profile *profile = naming->profile;
	const char *path = profile_string(profile, profile->modules[request->module].path);
	if (jail_prepare(&naming->jail) == 0)
		return name_in_jail(naming, request, file->fd, path, failure);
	if (naming->jail.is_interrupted)
		return fail(failure, JAIL_INTERRUPTED);
	if (file->fd < 0 || jail_trusts(file->fd))
		return name_here(naming, request, file, failure);
	error_set(&failure->detail, ERROR_UNSUPPORTED,
		  "cannot name the addresses of '%s', another user's, in a process without privileges: %s", path,
		  naming->jail.obstacle);
	return fail(failure, JAIL_IMPOSSIBLE);
}

int naming_name(struct naming *naming, const struct frames_request *request, struct frames_failure *failure)
{
	struct one_file file = { 0 };
	if (naming->jail.is_interrupted)
		return fail(failure, JAIL_INTERRUPTED);
	int status = open_file(naming, request->module, &file);
	if (status == ERROR_PERMISSION && !naming->options->open_module) {
		failure->detail = file.why;
		return fail(failure, JAIL_REFUSED);
	}
	/* Without its file, the provider fails, with its reason. */
	status = status < 0 ? name_here(naming, request, &file, failure) : name_with(naming, request, &file, failure);
	if (file.fd >= 0)
		close(file.fd);
	return status;
}
