/*
 * Code that is loaded and unloaded, and exec.
 *
 * If dlopen must search for a file, it uses its caller's search path. So it must return to that caller and not to
 * us. The agent then checks the loaded objects when the program calls another of these functions: nearly always
 * dlsym, which usually comes next. A path without `$` needs no search, so the agent calls dlopen and checks
 * afterwards.
 */
#include "collect/agent/interpose/loading.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <spawn.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "collect/agent/core/channel.h"
#include "collect/agent/core/real.h"
#include "collect/agent/core/runtime.h"
#include "collect/agent/hooks/hooks.h"
#include "collect/agent/interpose/successor.h"
#include "collect/agent/signals/signals.h"
#include "processor/agent/machine.h"

/* --- loaded objects --- */

bool loading_is_due;
/* The number of objects that were loaded and unloaded so far, as of the last check. */
static uint64_t changes_seen;

static int count_changes(struct dl_phdr_info *info, size_t bytes, void *changes)
{
	(void)bytes;
	*(uint64_t *)changes = info->dlpi_adds + info->dlpi_subs;
	return 1;
}

void loading_check(void)
{
	uint64_t changes = 0;
	if (!runtime.channel)
		return;
	__atomic_store_n(&loading_is_due, false, __ATOMIC_RELAXED);
	dl_iterate_phdr(count_changes, &changes);
	if (__atomic_exchange_n(&changes_seen, changes, __ATOMIC_RELAXED) != changes)
		runtime_code_changed();
}

__attribute__((constructor)) static void count_loaded(void)
{
	dl_iterate_phdr(count_changes, &changes_seen);
}

/* --- loading --- */

static void *open_and_check(const char *file, int mode)
{
	void *handle = REAL(dlopen)(file, mode);
	loading_check();
	return handle;
}

/* Returns whether a resource is requested that the agent counts in interposed calls. */
static bool counts_calls(void)
{
	for (enum counter counter = COUNTER_NONE; counter < COUNTER_COUNT; counter++)
		if (runtime.requests_of[counter] && !counter_needs_ticks(counter) && counter != COUNTER_FP &&
		    counter != COUNTER_OWN)
			return true;
	return false;
}

/* The library's calls will not reach our definitions: it looks in itself and in its own
 * libraries first, or has a C library of its own. */
static void note_apart(bool is_apart)
{
	if (is_apart && runtime.process && counts_calls())
		__atomic_or_fetch(&runtime.process->findings, CHANNEL_FINDING_APART, __ATOMIC_RELAXED);
}

void *loading_by_dlopen(const char *file, int mode)
{
	note_apart(file && mode & RTLD_DEEPBIND && !(mode & RTLD_NOLOAD));
	if (file && strchr(file, '/') && !strchr(file, '$'))
		return (void *)open_and_check;
	__atomic_store_n(&loading_is_due, true, __ATOMIC_RELAXED);
	return (void *)REAL(dlopen);
}

void *loading_by_dlmopen(long space, const char *file, int mode)
{
	note_apart(file && (space != LM_ID_BASE || mode & RTLD_DEEPBIND) && !(mode & RTLD_NOLOAD));
	__atomic_store_n(&loading_is_due, true, __ATOMIC_RELAXED);
	return (void *)REAL(dlmopen);
}

void *loading_by_dlsym(void)
{
	if (__atomic_load_n(&loading_is_due, __ATOMIC_RELAXED))
		loading_check();
	return real_dlsym();
}

INTERPOSED int dlclose(void *handle)
{
	int result = REAL(dlclose)(handle);
	loading_check();
	return result;
}

/* --- exec --- */

/* Returns false in a child of vfork, which has our memory but is another process. */
static bool is_watched_process(void)
{
	return runtime.channel && !runtime_is_elsewhere();
}

/* Copies the beginning of a text, page by page, since it may not be readable. Returns the number of bytes copied, at
 * most CHANNEL_TEXT_BYTES. */
static size_t copy_text(char copy[CHANNEL_TEXT_BYTES], const char *text)
{
	enum { PAGE = 4096 };
	size_t done = 0;
	while (text && done < CHANNEL_TEXT_BYTES) {
		uint64_t at = (uint64_t)(uintptr_t)text + done;
		size_t left = CHANNEL_TEXT_BYTES - done, in_page = PAGE - at % PAGE;
		size_t bytes = left < in_page ? left : in_page;
		if (!runtime_copy(copy + done, bytes, at))
			break;
		size_t used = strnlen(copy + done, bytes);
		done += used;
		if (used < bytes)
			break;
	}
	return done;
}

static bool begins_with(const char *text, size_t bytes, const char *beginning)
{
	size_t wanted = strlen(beginning);
	return bytes >= wanted && memcmp(text, beginning, wanted) == 0;
}

/* Updates `lacks` (enum channel_exec) by an entry of the environment. Returns the new value. */
static uint32_t lacks_no_more(const char *entry, size_t bytes, uint32_t lacks)
{
	static const char library[] = "LD_PRELOAD=", channel[] = CHANNEL_VARIABLE "=", ours[] = "libcpprof-preload.so";
	if (begins_with(entry, bytes, library)) {
		/* An entry longer than the copy counts as one that has it. */
		if (bytes == CHANNEL_TEXT_BYTES || memmem(entry, bytes, ours, strlen(ours)))
			lacks &= ~(uint32_t)CHANNEL_EXEC_NO_LIBRARY;
	} else if (begins_with(entry, bytes, channel)) {
		size_t name = strlen(channel), path = strlen(channel_path());
		bool is_ours = bytes - name == path && memcmp(entry + name, channel_path(), path) == 0;
		lacks &= ~(uint32_t)CHANNEL_EXEC_NO_CHANNEL;
		lacks |= is_ours ? 0 : CHANNEL_EXEC_OTHER_CHANNEL;
	}
	return lacks;
}

/* Returns what an environment lacks (enum channel_exec). Its memory may not be readable. */
static uint32_t find_lacks(char copy[CHANNEL_TEXT_BYTES], char *const environment[])
{
	enum { MOST = 4096 };
	uint32_t lacks = CHANNEL_EXEC_NO_LIBRARY | CHANNEL_EXEC_NO_CHANNEL;
	for (size_t i = 0; environment && i < MOST; i++) {
		const char *entry = NULL;
		if (!runtime_copy(&entry, sizeof(entry), (uint64_t)(uintptr_t)&environment[i]) || !entry)
			break;
		lacks = lacks_no_more(copy, copy_text(copy, entry), lacks);
	}
	return lacks;
}

static void announce_exec(const char *path, char *const environment[], bool is_filtered)
{
	char copy[CHANNEL_TEXT_BYTES];
	int error = errno;
	struct runtime_thread *thread = is_watched_process() ? runtime_enter() : NULL;
	if (thread && path) {
		uint32_t lacks = find_lacks(copy, environment) | (is_filtered ? CHANNEL_EXEC_FILTERED : 0);
		size_t bytes = copy_text(copy, path);
		runtime_write_event(thread, CHANNEL_EXECS, lacks, 0, copy, bytes);
	}
	if (thread)
		runtime_leave(thread);
	if (is_filtered)
		hooks_sandboxed();
	hooks_finish();
	if (is_watched_process())
		__atomic_add_fetch(&runtime.process->execs, 1, __ATOMIC_SEQ_CST);
	errno = error;
}

static void exec_failed(void)
{
	int error = errno;
	hooks_clear_end();
	if (is_watched_process())
		__atomic_sub_fetch(&runtime.process->execs, 1, __ATOMIC_SEQ_CST);
	errno = error;
}

/* Begins an exec, and passes on an environment without our libraries where they would end the program. */
#define BEGIN_EXEC(path, environment)                                                     \
	size_t room = successor_room(environment);                                        \
	if (room)                                                                         \
		environment = successor_environment(environment, __builtin_alloca(room)); \
	announce_exec(path, environment, successor_dies(machine_filters));                \
	signals_before_exec()

/* Ends an exec, which has failed: it has returned. */
static int end_exec(int result)
{
	int error = errno;
	signals_after_exec();
	errno = error;
	exec_failed();
	return result;
}

static int own_execve(const char *path, char *const arguments[], char *const environment[])
{
	BEGIN_EXEC(path, environment);
	return end_exec(REAL(execve)(path, arguments, environment));
}

static int own_execvpe(const char *file, char *const arguments[], char *const environment[])
{
	BEGIN_EXEC(file, environment);
	return end_exec(REAL(execvpe)(file, arguments, environment));
}

INTERPOSED int execve(const char *path, char *const arguments[], char *const environment[])
{
	return own_execve(path, arguments, environment);
}

INTERPOSED int execvpe(const char *file, char *const arguments[], char *const environment[])
{
	return own_execvpe(file, arguments, environment);
}

INTERPOSED int execv(const char *path, char *const arguments[])
{
	return own_execve(path, arguments, environ);
}

INTERPOSED int execvp(const char *file, char *const arguments[])
{
	return own_execvpe(file, arguments, environ);
}

INTERPOSED int execveat(int folder, const char *path, char *const arguments[], char *const environment[], int flags)
{
	BEGIN_EXEC(path, environment);
	return end_exec(REAL(execveat)(folder, path, arguments, environment, flags));
}

INTERPOSED int fexecve(int fd, char *const arguments[], char *const environment[])
{
	BEGIN_EXEC("", environment);
	return end_exec(REAL(fexecve)(fd, arguments, environment));
}

/* --- programs in a new process --- */

/* The child executes the program in the C library. */
#define SPAWNING(name)                                                                                               \
	INTERPOSED int name(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,                 \
			    const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[]) \
	{                                                                                                            \
		size_t room = successor_room(environment);                                                           \
		if (room)                                                                                            \
			environment = successor_environment(environment, __builtin_alloca(room));                    \
		return REAL(name)(pid, path, actions, attributes, arguments, environment);                           \
	}

SPAWNING(posix_spawn)
SPAWNING(posix_spawnp)

/* --- exec with a list of arguments --- */

static size_t count_of(const char *first, va_list *more)
{
	size_t count = 0;
	va_list all;
	va_copy(all, *more);
	for (const char *argument = first; argument; argument = va_arg(all, const char *))
		count++;
	va_end(all);
	return count;
}

static void fill(char **arguments, size_t count, const char *first, va_list *more)
{
	for (size_t i = 0; i < count; i++)
		arguments[i] = i == 0 ? (char *)first : va_arg(*more, char *);
	arguments[count] = count > 0 ? va_arg(*more, char *) : NULL;
}

/* The first argument, the others and NULL; execle has an environment behind them. The headers state that `first` is
 * not NULL, but programs may pass NULL: the asm statement keeps the compiler from removing that case. */
#define IN_A_ROW(name, ends, call)                                                 \
	INTERPOSED int name(const char *path, const char *first, ...)              \
	{                                                                          \
		va_list more;                                                      \
		__asm__("" : "+r"(first));                                         \
		va_start(more, first);                                             \
		size_t count = count_of(first, &more);                             \
		char **arguments = __builtin_alloca((count + 1) * sizeof(char *)); \
		fill(arguments, count, first, &more);                              \
		ends;                                                              \
		va_end(more);                                                      \
		return call;                                                       \
	}

IN_A_ROW(execl, , own_execve(path, arguments, environ))
IN_A_ROW(execlp, , own_execvpe(path, arguments, environ))
IN_A_ROW(execle, char *const *environment = va_arg(more, char *const *), own_execve(path, arguments, environment))
