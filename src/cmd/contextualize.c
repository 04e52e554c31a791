/* `cpprof contextualize`: call paths that deserve functions of their own, the patch that makes them, and its effect. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/message.h"
#include "cmd/optimize.h"
#include "cmd/profile_open.h"
#include "cmd/view_options.h"
#include "optimize/contextualize.h"
#include "render/candidates.h"

enum {
	OPTION_EDIT = OPTION_OWN,
	OPTION_VERIFY,
	OPTION_DATABASE,
	OPTION_SOURCE,
	OPTION_WITH,
	OPTION_OUTPUT,
	OPTION_RUN,
	OPTION_PATCH,
	OPTION_DIRECTORY,
	OPTION_COMPILER,
	OPTION_TURNS,
};

enum { LIMIT_STANDARD = 10, TURNS_STANDARD = 10 };
static const double threshold_standard = 0.01;

struct job {
	const struct invocation *invocation;
	const char *profile_path;
	char *path;       /* owned; NULL: not given */
	bool has_profile; /* the command line names one */
	double threshold;
	struct render_options render; /* of the list */
	struct sources sources;
	struct contextualize_result result;
	struct verification verification;
	char patch[PATH_MAX + 16]; /* that --verify writes */
	char *chosen;              /* owned: the path, as given or ranked first */
};

/* --- paths --- */

/* Contextualizes a path in the sources. */
static int edit(struct job *job, const char *path, struct error *error)
{
	const char *names[COPY_PATH_MAX];
	char *words = strdup(path);
	size_t count = words ? sources_split_path(words, names, COPY_PATH_MAX) : 0;
	int code =
		words ? contextualize(&job->sources.program, names, count, &job->result, error) : error_memory(error);
	free(words);
	return code;
}

/* Contextualizes a path, which a profile must have (NULL: none). The sources decide which functions its names mean in the profile; an error of
 * the profile precedes theirs. */
static int try(struct job *job, const struct profile *profile, const char *path, struct error *error)
{
	struct error reason = { 0 };
	struct recorded_path recorded = { 0 };
	int edited = edit(job, path, &reason), code = 0;
	if (profile && edited != ERROR_USAGE)
		code = recorded_path_init(&recorded, path, &job->sources.program, edited == 0 ? &job->result : NULL,
					  error);
	if (code == 0 && recorded.length > 0)
		code = recorded_check(profile, job->profile_path, path, &recorded, error);
	recorded_path_release(&recorded);
	return code < 0 || edited == 0 ? code : error_set(error, edited, "%s", reason.message);
}

/* Contextualizes the path of the command line, which the profile must have if one is named there. */
static int take_path(struct job *job, struct error *error)
{
	struct profile *profile = job->has_profile ? profile_open(job->invocation, job->profile_path) : NULL;
	if (job->has_profile && !profile)
		return ERROR_USAGE; /* its message is printed */
	job->chosen = strdup(job->path);
	int code = job->chosen ? try(job, profile, job->path, error) : error_memory(error);
	profile_free(profile);
	return code;
}

/* Takes the first of the ranked paths for which it is possible. */
static int choose(struct job *job, struct error *error)
{
	struct candidates candidates = { 0 };
	struct profile *profile = profile_open(job->invocation, job->profile_path);
	if (!profile)
		return ERROR_USAGE; /* its message is printed */
	int code = candidates_find(&candidates, profile, job->threshold, error);
	bool is_done = false;
	for (size_t i = 0; code == 0 && !is_done && i < candidates.list->count; i++) {
		struct error reason = { 0 };
		free(job->chosen);
		job->chosen = candidates_path(&candidates, i);
		if (!job->chosen)
			code = error_memory(error);
		else if (try(job, profile, job->chosen, &reason) == 0)
			is_done = true;
		else
			notice(job->invocation, "%s: %s", job->chosen, reason.message);
	}
	if (code == 0 && !is_done)
		code = error_set(error, ERROR_NOT_FOUND,
				 "no ranked call path can be contextualized (name another: 'main;f;g')");
	candidates_release(&candidates);
	profile_free(profile);
	return code;
}

static int list(struct job *job)
{
	struct error error = { 0 };
	struct candidates candidates = { 0 };
	struct profile *profile = profile_open(job->invocation, job->profile_path);
	if (!profile)
		return EXIT_FAILED;
	int code = candidates_find(&candidates, profile, job->threshold, &error);
	if (code == 0)
		render_candidates(stdout, &job->render, candidates.view, candidates.list);
	candidates_release(&candidates);
	profile_free(profile);
	return code < 0 ? failure_of(job->invocation, &error) : EXIT_DONE;
}

/* --- the patch, and its effect --- */

static int verify(struct job *job, struct error *error)
{
	const char *directory = option_value(job->invocation, OPTION_DIRECTORY);
	const char *compiler = option_value(job->invocation, OPTION_COMPILER);
	const char *given = option_value(job->invocation, OPTION_PATCH);
	struct verification *verification = &job->verification;
	verification->path = job->chosen;
	verification->program = &job->sources.program;
	verification->workload = option_value(job->invocation, OPTION_RUN);
	if (given && access(given, R_OK) < 0)
		return error_set_errno(error, "cannot read the patch '%s'", given);
	int code = optimize_folder_make(&verification->folder, directory ? directory : "cpprof.contextualize", compiler,
					error);
	snprintf(job->patch, sizeof(job->patch), "%s/patch", verification->folder.path);
	verification->patch = given ? given : job->patch;
	if (code == 0 && !given)
		code = sources_write_patch(&job->result, job->chosen, job->patch, error);
	if (code == 0)
		code = verification_run(verification, &job->result, stdout, error);
	optimize_folder_release(&verification->folder);
	return code;
}

static int work(struct job *job)
{
	struct error error = { 0 };
	const struct invocation *invocation = job->invocation;
	int code = sources_read(&job->sources, option_value(invocation, OPTION_DATABASE), &error);
	if (code == 0)
		code = job->path ? take_path(job, &error) : choose(job, &error);
	if (code == 0 && option_given(invocation, OPTION_VERIFY))
		code = verify(job, &error);
	else if (code == 0)
		code = sources_write_patch(&job->result, job->chosen, option_value(invocation, OPTION_OUTPUT), &error);
	if (code < 0 && error.code == 0)
		return EXIT_FAILED;
	return code < 0 ? failure_of(invocation, &error) : EXIT_DONE;
}

/* Works in a child process, because libclang may crash on some input, or abort where memory ends. The child returns from here as this
 * process would. It receives SIGTERM if this process ends before it. */
static int work_in_child(struct job *job)
{
	int status = 0;
	pid_t child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		return work(job);
	}
	if (child < 0)
		return failure(job->invocation, "cannot start a process: %s", strerror(errno));
	while (waitpid(child, &status, 0) < 0) {
		if (errno != EINTR) {
			int reason = errno;
			kill(child, SIGTERM);
			return failure(job->invocation, "cannot wait for a process: %s", strerror(reason));
		}
	}
	if (WIFSIGNALED(status))
		return failure(job->invocation,
			       "cannot contextualize: signal %d ended the process that read the sources (libclang "
			       "crashed, or had no memory)",
			       WTERMSIG(status));
	return WEXITSTATUS(status);
}

/* --- the command line --- */

static bool has_empty_name(const char *path)
{
	return path[0] == ';' || strstr(path, ";;") || path[strlen(path) - 1] == ';';
}

/* The profile is an argument without a ';', or that is a file. */
static int take_arguments(struct job *job)
{
	const struct invocation *invocation = job->invocation;
	job->profile_path = PROFILE_FILE_DEFAULT;
	for (size_t i = 0; i < invocation->separated; i++) {
		const char *argument = invocation->arguments[i];
		bool is_profile = i == 0 && (!strchr(argument, ';') || access(argument, F_OK) == 0);
		if (is_profile) {
			job->profile_path = argument;
			job->has_profile = true;
		} else if (job->path) {
			return usage_error(invocation, "one argument too many: '%s'", argument);
		} else if (!strchr(argument, ';')) {
			return usage_error(invocation, "'%s' is not a call path ('main;f;g')", argument);
		} else {
			job->path = sources_trim_path(argument);
			if (!job->path)
				return failure(invocation, "out of memory");
		}
	}
	return job->path && has_empty_name(job->path)
		       ? usage_error(invocation, "a function of the call path has no name: '%s'", job->path)
		       : EXIT_DONE;
}

static int check(const struct job *job)
{
	const struct invocation *invocation = job->invocation;
	bool edits = option_given(invocation, OPTION_EDIT), verifies = option_given(invocation, OPTION_VERIFY);
	size_t behind = invocation->argument_count - invocation->separated;
	static const int of_verify[] = { OPTION_RUN, OPTION_PATCH, OPTION_DIRECTORY, OPTION_COMPILER, OPTION_TURNS };
	if (edits && verifies)
		return usage_error(invocation, "--edit cannot be combined with --verify");
	if (!edits && !verifies && (job->path || behind > 0))
		return usage_error(invocation, "missing --edit or --verify: only these have a call path");
	for (size_t i = 0; i < sizeof(of_verify) / sizeof(of_verify[0]) && !verifies; i++)
		if (option_given(invocation, of_verify[i]))
			return usage_error(invocation, "--run, --patch, --directory, --compiler and --turns need "
						       "--verify (add --verify)");
	if ((edits || verifies) && option_given(invocation, OPTION_FORMAT))
		return usage_error(invocation, "--format is for the list of paths (leave out --%s)",
				   edits ? "edit" : "verify");
	if (option_given(invocation, OPTION_OUTPUT) && !edits)
		return usage_error(invocation, "--output needs --edit (add --edit)");
	static const struct {
		int option;
		const char *name;
	} of_sources[] = { { OPTION_WITH, "with" }, { OPTION_SOURCE, "source" }, { OPTION_DATABASE, "database" } };
	for (size_t i = 0; i < sizeof(of_sources) / sizeof(of_sources[0]); i++)
		if (option_given(invocation, of_sources[i].option) && !edits && !verifies)
			return usage_error(invocation, "--%s needs --edit or --verify (add --edit)",
					   of_sources[i].name);
	if (verifies && behind == 0)
		return usage_error(invocation, "missing the build command (--verify --run './program' -- make)");
	if (verifies && !option_value(invocation, OPTION_RUN))
		return usage_error(invocation, "missing the workload (--run './program input')");
	return EXIT_DONE;
}

static int take_numbers(struct job *job)
{
	const struct invocation *invocation = job->invocation;
	const char *turns = option_value(invocation, OPTION_TURNS);
	struct view_request request;
	struct error error = { 0 };
	job->threshold = threshold_standard;
	job->verification.turns = TURNS_STANDARD;
	if (turns && !optimize_read_turns(turns, &job->verification.turns))
		return usage_error(invocation, OPTIMIZE_TURNS_ERROR, turns);
	if (view_request_init(&request, invocation, NULL, &error) < 0)
		return failure_of(invocation, &error);
	if (option_given(invocation, OPTION_THRESHOLD))
		job->threshold = request.render.threshold;
	job->render = request.render;
	if (!option_given(invocation, OPTION_LIMIT))
		job->render.limit = LIMIT_STANDARD;
	view_request_release(&request);
	return EXIT_DONE;
}

static int take_sources(struct job *job)
{
	const struct invocation *invocation = job->invocation;
	struct sources *sources = &job->sources;
	sources->supplied = option_value(invocation, OPTION_WITH);
	sources->paths = calloc(invocation->use_count + 1, sizeof(*sources->paths));
	if (!sources->paths)
		return failure(invocation, "out of memory");
	for (size_t i = 0; i < invocation->use_count; i++)
		if (invocation->uses[i].option->id == OPTION_SOURCE)
			sources->paths[sources->path_count++] = invocation->uses[i].value;
	job->verification.command = invocation->arguments + invocation->separated;
	if (!option_given(invocation, OPTION_VERIFY)) {
		sources->flags = invocation->arguments + invocation->separated;
		sources->flag_count = invocation->argument_count - invocation->separated;
	}
	return EXIT_DONE;
}

static int run(struct invocation *invocation)
{
	struct job job = { .invocation = invocation };
	bool is_list = !option_given(invocation, OPTION_EDIT) && !option_given(invocation, OPTION_VERIFY);
	int status = take_arguments(&job);
	if (status == EXIT_DONE)
		status = check(&job);
	if (status == EXIT_DONE)
		status = take_numbers(&job);
	if (status == EXIT_DONE)
		status = take_sources(&job);
	if (status == EXIT_DONE)
		status = is_list ? list(&job) : work_in_child(&job);
	sources_release(&job.sources);
	free(job.sources.paths);
	free(job.path);
	free(job.chosen);
	return status;
}

static const char *const usage[] = {
	"[OPTION]... [FILE]", "--edit [OPTION]... [FILE] ['FN;FN;FN'] [-- [COMPILER] FLAG...]",
	"--verify --run WORKLOAD [OPTION]... [FILE] ['FN;FN;FN'] -- BUILD-COMMAND [ARGUMENT]...", NULL
};

static const struct command_option options[] = {
	{ OPTION_EDIT, 0, "edit", NULL,
	  "Write a patch that copies the functions of the call path, or of the best one in the profile", NULL },
	{ OPTION_VERIFY, 0, "verify", NULL,
	  "Build copies of the working folder with and without the patch, and compare the predicted time with the "
	  "measured one",
	  NULL },
	{ OPTION_DATABASE, 'p', "database", "PATH",
	  "Read all sources of compile_commands.json, or of the folder with it", NULL },
	{ OPTION_SOURCE, 's', "source", "FILE", "Read this source; may be given several times", NULL },
	{ OPTION_WITH, 0, "with", "FILE",
	  "Copy the library function of the path, such as qsort, from its definition in FILE", NULL },
	{ OPTION_OUTPUT, 'o', "output", "FILE", "Write the patch of --edit to FILE", "standard output" },
	{ OPTION_RUN, 0, "run", "WORKLOAD", "The shell command to measure, run in the folder of the build", NULL },
	{ OPTION_PATCH, 0, "patch", "FILE", "Use this patch, one of --edit in which you have changed the copies",
	  NULL },
	{ OPTION_DIRECTORY, 'd', "directory", "DIR", "Build in the new folder DIR", "cpprof.contextualize" },
	{ OPTION_COMPILER, 0, "compiler", "NAME",
	  "Build with gcc or clang in place of the compilers that the build command names; a version may follow: "
	  "clang-19",
	  NULL },
	{ OPTION_TURNS, 0, "turns", "N", "Run each build N times", "10" },
	{ OPTION_THRESHOLD, 't', "threshold", "F", "Leave out paths with a smaller usage fraction (0.01 or 1%)",
	  "0.01" },
	{ OPTION_LIMIT, 'n', "limit", "N", "Show at most N paths; 0: all", "10" },
	ROW_FORMAT,
	ROW_MEMORY,
	{ 0 },
};

static const struct command_example examples[] = {
	{ "cpprof contextualize", "rank the call paths of cpprof.data" },
	{ "cpprof contextualize --format json -n 0", "all of them, for other programs" },
	{ "cpprof contextualize --edit -p build 'main;uniquify_db;qsort' >qsort.patch", "copies for this path" },
	{ "cpprof contextualize --edit -s program.c --with qsort.c 'main;f;qsort'",
	  "a copy of your own qsort in place of the C library's" },
	{ "cpprof contextualize --verify --run './program' -s program.c 'main;f;g' -- make", "measure their effect" },
	{ 0 },
};

const struct command command_contextualize = {
	.name = "contextualize",
	.task = TASK_BUILD,
	.summary = "give a call path its own copies of functions, in the sources",
	.usage = usage,
	.options = options,
	.examples = examples,
	.words = view_option_words,
	.argument_max = SIZE_MAX,
	.run = run,
};
