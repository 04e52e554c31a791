/* Applies rules: at start, for the program, and for `cpprof control`. */
#include <cpprof/runtime.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>

#include "collect/agent/hooks/around.h"
#include "collect/agent/hooks/hooks.h"
#include "collect/agent/hooks/system.h"
#include "collect/agent/hooks/tally.h"
#include "collect/agent/probes/registry.h"

/* --- one rule --- */

/* Switches the probe points to which `rule` applies (NULL: all) as all rules together require. A rule also switches
 * throttled probe points on again. */
static struct probes_turned apply(const struct probes_rule *rule)
{
	struct probes_turned turned = { .known = probes_count() };
	for (uint32_t i = 0; i < turned.known; i++) {
		struct probes_entry *probe = probes_at(i);
		if (!probe->record || (rule && !probes_rule_matches(rule, probe->record)))
			continue;
		turned.matching++;
		bool wanted = probes_is_on(probe->record);
		if (wanted == !!(probe->record->flags & TALLY_PROBE_OFF))
			turned.changed += probes_switch(probe, wanted, 0);
	}
	return turned;
}

static const char *add(const struct probes_rule *rule)
{
	if (rule->kind == PROBES_THROTTLE && rule->number && !hooks_have_frames())
		return "nothing can be throttled where arcs or blocks are counted, or nothing is: no call is timed";
	if (!probes_rule_add(rule))
		return "there are too many rules; 'on *' or 'off *' forgets all others";
	if (rule->kind == PROBES_THROTTLE)
		probes_throttle(rule->number, rule->ns);
	return NULL;
}

static struct probes_turned follow(const struct probes_rule *rule)
{
	uint64_t signals;
	struct probes_turned turned = { 0 };
	probes_lock(&signals);
	const char *refusal = add(rule);
	if (refusal)
		turned.refusal = refusal;
	else
		turned = apply(rule);
	probes_unlock(&signals);
	return turned;
}

struct probes_turned probes_apply(const char *line, size_t bytes)
{
	struct probes_rule rule;
	struct probes_turned turned = { .refusal = probes_rule_read(&rule, line, bytes) };
	return turned.refusal || rule.kind == PROBES_NOTHING ? turned : follow(&rule);
}

/* --- the rules of a file --- */

enum { FILE_MOST = 1 << 20 };

/* Appends as much of a text as fits. */
static void append_finding(const char *text)
{
	char *finding = hooks.header->rules_finding;
	size_t used = strnlen(finding, sizeof(hooks.header->rules_finding) - 1);
	size_t bytes = strlen(text), room = sizeof(hooks.header->rules_finding) - 1 - used;
	memcpy(finding + used, text, bytes < room ? bytes : room);
}

static void append_number(uint64_t number)
{
	enum { DECIMAL = 10, DIGITS = 20 };
	char text[DIGITS + 1] = "";
	size_t at = DIGITS;
	do
		text[--at] = (char)('0' + number % DECIMAL);
	while (number /= DECIMAL);
	append_finding(text + at);
}

void probes_report_refusal(const char *path, uint64_t line, const char *what)
{
	if (hooks.header->rules_finding[0])
		return;
	append_finding(path);
	if (line) {
		append_finding(":");
		append_number(line);
	}
	append_finding(": ");
	append_finding(what);
}

static void read_lines(const char *path, const char *text, size_t bytes)
{
	uint64_t number = 0;
	for (const char *line = text, *end = text + bytes; line < end;) {
		const char *next = memchr(line, '\n', (size_t)(end - line));
		struct probes_rule rule;
		const char *refusal = probes_rule_read(&rule, line, (size_t)((next ? next : end) - line));
		number++;
		if (!refusal)
			refusal = add(&rule);
		if (refusal)
			probes_report_refusal(path, number, refusal);
		line = next ? next + 1 : end;
	}
}

/* Reads the file into *text. Returns the bytes read, or -errno. */
static long read_file(const char *path, char *text)
{
	long fd = machine_syscall(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0, 0, 0);
	long used = 0, got = 1;
	if (system_is_error(fd))
		return fd;
	while (got > 0 && used < FILE_MOST) {
		got = machine_syscall(SYS_read, fd, (long)(text + used), FILE_MOST - used, 0, 0, 0);
		used += got > 0 ? got : 0;
	}
	machine_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
	return got < 0 ? got : used;
}

void probes_rules_begin(void)
{
	const char *path = hooks_environment_value(TALLY_PROBES_VARIABLE);
	probes_throttle_begin();
	if (!path || !path[0])
		return;
	long mapped = machine_syscall(SYS_mmap, 0, FILE_MOST, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (system_is_error(mapped))
		return;
	long bytes = read_file(path, (char *)mapped);
	if (bytes < 0)
		probes_report_refusal(path, 0, bytes == -ENOENT ? "there is no such file" : "it cannot be read");
	else
		read_lines(path, (const char *)mapped, (size_t)bytes);
	machine_syscall(SYS_munmap, mapped, FILE_MOST, 0, 0, 0, 0);
	/* Another thread may already have reached a probe point. */
	apply(NULL);
}

/* --- the program's own rules --- */

/* The rules of the file come first. */
static void begin(void)
{
	int error = errno;
	hooks_begin();
	if (hooks.header)
		probes_begin();
	errno = error;
}

static int follow_own(const struct probes_rule *rule)
{
	begin();
	struct probes_turned turned = follow(rule);
	return turned.refusal ? -1 : (int)turned.matching;
}

int cpprof_probes_turn(const char *pattern, int on)
{
	struct probes_rule rule = { .kind = PROBES_TURN, .on = on != 0 };
	size_t bytes = pattern ? strnlen(pattern, sizeof(rule.pattern)) : 0;
	if (bytes == 0 || bytes == sizeof(rule.pattern))
		return -1;
	memcpy(rule.pattern, pattern, bytes + 1);
	return follow_own(&rule);
}

int cpprof_probes_level(int level)
{
	const struct probes_rule rule = { .kind = PROBES_LEVEL, .number = (uint64_t)level };
	return level < 0 || level > CPPROF_LEVEL_BLOCK ? -1 : follow_own(&rule);
}

int cpprof_probes_throttle(uint64_t calls, uint64_t ns)
{
	uint64_t signals;
	if ((calls == 0) != (ns == 0))
		return -1;
	begin();
	if (calls && !hooks_have_frames())
		return -1;
	probes_lock(&signals);
	probes_throttle(calls, ns);
	probes_unlock(&signals);
	return 0;
}

size_t cpprof_probes_list(void (*visit)(const struct cpprof_probe_state *state, void *context), void *context)
{
	uint32_t count = probes_count();
	for (uint32_t i = 0; visit && i < count; i++) {
		const struct tally_probe *record = probes_at(i)->record;
		if (!record)
			continue;
		uint32_t flags = record->flags;
		const struct cpprof_probe_state state = {
			.name = record->texts,
			.signature = record->texts + record->signature,
			.file = record->texts + record->file,
			.group = record->texts + record->group,
			.line = record->line,
			.kind = record->kind,
			.level = record->level,
			.is_on = !(flags & TALLY_PROBE_OFF),
			.is_throttled = !!(flags & TALLY_PROBE_THROTTLED),
		};
		visit(&state, context);
	}
	return count;
}
