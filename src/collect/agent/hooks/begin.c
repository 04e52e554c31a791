/* The beginning of counting in a process: chooses the file and the measurement. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "collect/agent/core/defined.h"
#include "collect/agent/core/real.h"
#include "collect/agent/hooks/hooks.h"
#include "collect/agent/hooks/implementation.h"
#include "collect/agent/hooks/system.h"
#include "collect/agent/hooks/tally.h"

struct hooks hooks;

/* --- the file --- */

extern void *__libc_stack_end; /* the kernel stores here: argc, the argv words, NULL, the environment, NULL */

/* The program's functions in .preinit_array run before the C library sets `environ`. */
static char **environment(void)
{
	char **words = __libc_stack_end;
	return environ || !words ? environ : words + 1 + (uintptr_t)words[0] + 1;
}

const char *hooks_environment_value(const char *name)
{
	size_t bytes = strnlen(name, PATH_MAX);
	for (char **variable = environment(); variable && *variable; variable++)
		if (strncmp(*variable, name, bytes) == 0 && (*variable)[bytes] == '=')
			return *variable + bytes + 1;
	return NULL;
}

static const struct hook_measurement *const measurements[TALLY_MEASUREMENTS] = {
	[TALLY_OFF] = &hooks_off,      [TALLY_ARCS] = &hooks_arcs,
	[TALLY_PATHS] = &hooks_paths,  [TALLY_PATHS_TIMED] = &hooks_paths_timed,
	[TALLY_TRACE] = &hooks_trace,  [TALLY_BLOCKS] = &hooks_blocks,
	[TALLY_COUNTS] = &hooks_paths,
};

static const char *const measurement_names[TALLY_MEASUREMENTS] = TALLY_MEASUREMENT_NAMES;

static void add_text(struct iovec *parts, int *count, const char *text)
{
	parts[(*count)++] = (struct iovec){ .iov_base = (void *)text, .iov_len = strnlen(text, PATH_MAX) };
}

/* Prints to standard error, in one write: without a recorder, no other process would report the error. */
static void print_unknown(const char *asked)
{
	struct iovec parts[2 * TALLY_MEASUREMENTS + 3];
	int count = 0;
	add_text(parts, &count, "cpprof: " TALLY_MEASURE_VARIABLE "=");
	add_text(parts, &count, asked);
	add_text(parts, &count, " is an unknown measurement; using 'paths'. Measurements: ");
	for (int i = 0; i < TALLY_MEASUREMENTS; i++) {
		add_text(parts, &count, measurement_names[i]);
		add_text(parts, &count, i + 1 < TALLY_MEASUREMENTS ? ", " : "\n");
	}
	machine_syscall(SYS_writev, STDERR_FILENO, (long)parts, count, 0, 0, 0);
}

/* Returns the measurement that the environment variable names; `paths` if it is not set. An unknown name is
 * reported, and means `paths`. The path of the user's own library also means `paths`. */
static enum tally_measurement measurement_requested(void)
{
	const char *asked = hooks_environment_value(TALLY_MEASURE_VARIABLE);
	for (int i = 0; asked && i < TALLY_MEASUREMENTS; i++)
		if (strcmp(asked, measurement_names[i]) == 0)
			return (enum tally_measurement)i;
	if (asked && asked[0] && !implementation_is_named(asked))
		print_unknown(asked);
	return TALLY_PATHS;
}

/* The directory in which a program without a recorder writes its file: its working directory when it starts. */
static char folder[PATH_MAX];

static void store_folder(void)
{
	if (!folder[0] && machine_syscall(SYS_getcwd, (long)folder, sizeof(folder), 0, 0, 0, 0) <= 0)
		folder[0] = 0;
}

/* Prints to standard error, in one write: the program counts nothing, and no other process would report it. */
static void print_not_made(const char *name, int number)
{
	struct iovec parts[5];
	int count = 0;
	const char *why = strerrordesc_np(number);
	add_text(parts, &count, "cpprof: cannot create '");
	add_text(parts, &count, name);
	add_text(parts, &count, "': ");
	add_text(parts, &count, why ? why : "an unknown error");
	add_text(parts, &count, "; nothing is counted (" TALLY_OUTPUT_VARIABLE " can name another file)\n");
	machine_syscall(SYS_writev, STDERR_FILENO, (long)parts, count, 0, 0, 0);
}

/* Appends the name to the folder, unless it is absolute. Returns false if there is no room. */
static bool make_path(char path[PATH_MAX], const char *name)
{
	size_t folder_bytes = name[0] == '/' ? 0 : strnlen(folder, sizeof(folder)), bytes = strnlen(name, PATH_MAX);
	if (folder_bytes + 1 + bytes >= PATH_MAX)
		return false;
	memcpy(path, folder, folder_bytes);
	if (name[0] != '/')
		path[folder_bytes++] = '/';
	memcpy(path + folder_bytes, name, bytes + 1);
	return true;
}

static struct tally_header *make_file(void)
{
	static char path[PATH_MAX];
	const char *name = hooks_environment_value(TALLY_OUTPUT_VARIABLE);
	enum tally_measurement measurement = measurement_requested();
	if (measurement == TALLY_OFF)
		return NULL;
	int number = ENAMETOOLONG;
	store_folder();
	name = name && name[0] ? name : "cpprof.data";
	struct tally_header *header = make_path(path, name) ? tally_make(path, measurement, &number) : NULL;
	if (!header && number)
		print_not_made(name, number);
	return header;
}

#ifdef CPPROF_PRELOADED
static const bool runs_alone = false;
#else
static const bool runs_alone = true;
#endif

static struct tally_header *find_file(bool may_make)
{
	const char *recorded = hooks_environment_value(TALLY_VARIABLE);
	if (recorded)
		return tally_open(recorded);
	if (!may_make || !runs_alone || hooks_environment_value(CHANNEL_VARIABLE) || getauxval(AT_SECURE))
		return NULL;
	return make_file();
}

/* --- the process begins --- */

enum { NOT_BEGUN, BEGINNING, BEGUN };
static uint32_t begun;
static uint32_t beginner; /* the thread id */

/* Whether the program has hooks of -pg, and no start code that calls __monstartup (it was linked without -pg), but
 * calls monstartup itself: with the C library such a program counts from then on. */
static bool will_start_itself(void)
{
	return defined_program_uses("monstartup") && !defined_program_uses("__monstartup") &&
	       (defined_program_uses("mcount") || defined_program_uses("__fentry__"));
}

static void start(struct tally_header *header)
{
	hooks.header = header;
	hooks.process_number = __atomic_fetch_add(&header->processes, 1, __ATOMIC_RELAXED);
	hooks.process = tally_process_new(NULL);
	hooks.measurement = measurements[header->measurement];
	hooks.awaits_start = will_start_itself();
	hooks.on = !header->starts_paused && !hooks.awaits_start;
	if (!hooks.process)
		hooks.header = NULL;
}

static void begin(bool may_make)
{
	uint64_t old;
	uint32_t expected = NOT_BEGUN, here = system_tid();
	system_block_signals(&old);
	if (__atomic_compare_exchange_n(&begun, &expected, BEGINNING, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
		__atomic_store_n(&beginner, here, __ATOMIC_RELAXED);
		struct tally_header *header = find_file(may_make);
		if (header)
			start(header);
		__atomic_store_n(&begun, header || may_make ? BEGUN : NOT_BEGUN, __ATOMIC_RELEASE);
	}
	while (__atomic_load_n(&begun, __ATOMIC_ACQUIRE) == BEGINNING &&
	       __atomic_load_n(&beginner, __ATOMIC_RELAXED) != here)
		machine_syscall(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
	system_restore_signals(&old);
}

bool hooks_have_begun(void)
{
	return __atomic_load_n(&begun, __ATOMIC_ACQUIRE) == BEGUN;
}

void hooks_begin(void)
{
	/* Before there is an environment, the file and the measurement cannot be chosen: a later call begins. */
	if (__atomic_load_n(&begun, __ATOMIC_ACQUIRE) != BEGUN && environment())
		begin(true);
}

void hooks_begin_recorded(void)
{
	if (runs_alone)
		store_folder();
	hooks_will_end();
	if (__atomic_load_n(&begun, __ATOMIC_ACQUIRE) == NOT_BEGUN && environment())
		begin(false);
	tally_modules_changed();
}
