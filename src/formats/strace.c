/*
 * The text of strace: a line per system call, behind it its stack (-k), and in front of it the
 * number of its thread (-f), its name (-Y), the time (-t, -r), the call's number (-n) and its
 * address (-i).
 *
 *     4711<prog> 12:00:01.250000 write(1, "x\n", 2) = 2 <0.000058>
 *      > /usr/lib/libc.so.6(__write+0x4f) [0xf838f]
 *      > /path/prog(main+0x2a) [0x12ea]
 *     4711 futex(0x7fbb40b5f990, FUTEX_WAIT_BITSET <unfinished ...>
 *     [pid  4712] clone3({flags=CLONE_VM|CLONE_THREAD, ...}, 88) = 4713
 *     4711 <... futex resumed>)              = 0 <0.073795>
 *     4711 exit_group(0)                     = ?
 *     4711 +++ exited with 0 +++
 *
 * A call counts when it has returned, as in strace's own summary (-c), so that exit_group does not.
 * Its path is the stack, and the call as a function of the kernel. A thread belongs to the process
 * that created it with CLONE_THREAD, which may be known only after the thread's first calls: hits
 * have the indexes of `threads` until the end, when the profile gets those that are traced.
 *
 * On standard error, strace prints numbers of threads only while it follows more than one. A line without a number is of the only
 * thread that lives. The number of the first thread is known once a line has it: it is none that strace attached to later.
 * A thread is traced if a line or a message has its number. Without -f, the new threads are not.
 *
 * A file that has only the summary has calls without paths and threads.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "formats/format.h"
#include "formats/import_tree.h"
#include "formats/input.h"
#include "formats/input_text.h"
#include "formats/strace_line.h"
#include "profile/module_name.h"

/* A thread of the log. Names are strings of the profile; 0 is none. */
struct thread {
	uint32_t tid;
	uint32_t leader;  /* index of a thread of the same process; the process's first thread has its own */
	uint32_t creator; /* index of the thread whose fork returned its number, or PROFILE_NONE */
	uint32_t name;
	uint32_t program;    /* of its last exec */
	uint32_t executing;  /* the program of the exec that is unfinished */
	bool creates_thread; /* a clone with CLONE_THREAD is unfinished */
	bool lives;
	bool is_traced;
};

/* Calls of one path. */
struct amounts {
	uint64_t calls, spent_ns;
	bool has_spent;
};

struct reader {
	struct import_tree tree;
	uint64_t line;
	struct thread *threads;
	size_t thread_count, thread_capacity;
	struct hash_map by_tid;
	struct hash_map attached;    /* numbers of threads that strace attached to behind the first call */
	uint32_t first_tid;          /* the thread that it attached to before, or 0 */
	uint32_t unnumbered;         /* index of the first thread while its number is not known, or PROFILE_NONE */
	bool has_ended;              /* a thread has */
	bool is_unfinished;          /* the last call of that thread */
	uint64_t living, living_sum; /* how many threads live, and the sum of their indexes */
	/* The call that has returned, until its stack has been read. */
	bool in_call;
	struct buffer name;
	struct amounts amounts;
	uint32_t *stack; /* locations, innermost first */
	size_t stack_count, stack_capacity;
	/* The present line. */
	uint32_t thread;           /* index in `threads`, or PROFILE_NONE */
	uint64_t time_ns;          /* in the profile; 0: lines have no times */
	uint64_t start_ns, now_ns; /* as printed, of the first line and of this one */
	bool has_time;
	bool has_calls;                /* a line had a call that returned */
	bool in_summary;               /* the table of -c or -C has begun */
	struct buffer carried;         /* the beginning of a line that messages interrupted */
	struct buffer carried_threads; /* uint32_t: the threads of these messages, which follow the line */
	uint64_t skipped;              /* lines that are not strace's, or cut */
	uint32_t calls, spent;         /* resources; PROFILE_NONE: not yet added */
};

/* --- threads --- */

/* Notes that a thread runs, or has ended. */
static void set_living(struct reader *reader, uint32_t index, bool lives)
{
	struct thread *thread = &reader->threads[index];
	if (thread->lives == lives)
		return;
	thread->lives = lives;
	reader->living = lives ? reader->living + 1 : reader->living - 1;
	reader->living_sum = lives ? reader->living_sum + index : reader->living_sum - index;
}

/* Notes that a line or a message is of a thread. */
static void set_traced(struct reader *reader, uint32_t index)
{
	reader->threads[index].is_traced = true;
	set_living(reader, index, true);
}

static int64_t thread_of(struct reader *reader, uint32_t tid)
{
	bool is_new;
	int64_t index = HASH_MAP_ITEM(&reader->by_tid, tid, reader->threads, reader->thread_capacity,
				      reader->thread_count, &is_new);
	if (index < 0)
		return import_tree_fail(&reader->tree, (int)index);
	if (is_new)
		reader->threads[index] =
			(struct thread){ .tid = tid, .leader = (uint32_t)index, .creator = PROFILE_NONE };
	return index;
}

/* Returns the thread of a line that has no number: the only one that lives, the first one, or PROFILE_NONE. */
static int64_t thread_without_number(struct reader *reader)
{
	if (reader->living > 0 || reader->has_ended)
		return reader->living == 1 ? (int64_t)reader->living_sum : PROFILE_NONE;
	int64_t index = thread_of(reader, reader->first_tid);
	if (index >= 0)
		set_traced(reader, (uint32_t)index);
	if (index >= 0 && reader->first_tid == 0)
		reader->unnumbered = (uint32_t)index;
	return index;
}

/* Gives a number that no line had so far to the first thread, unless it is that of a thread which the first one is creating. */
static int take_number(struct reader *reader, uint32_t tid, bool is_resumed)
{
	bool is_known = reader->unnumbered == PROFILE_NONE || hash_map_get(&reader->by_tid, tid) != HASH_MAP_NONE ||
			hash_map_get(&reader->attached, tid) != HASH_MAP_NONE || (reader->is_unfinished && !is_resumed);
	if (is_known)
		return 0;
	reader->threads[reader->unnumbered].tid = tid;
	int code = hash_map_put(&reader->by_tid, tid, reader->unnumbered) < 0 ? ERROR_MEMORY : 0;
	reader->unnumbered = PROFILE_NONE;
	return code < 0 ? import_tree_fail(&reader->tree, code) : 0;
}

/* Returns the first thread of a thread's process, and shortens the way to it. */
static uint32_t leader_of(struct reader *reader, uint32_t thread)
{
	struct thread *threads = reader->threads;
	while (threads[thread].leader != thread) {
		threads[thread].leader = threads[threads[thread].leader].leader;
		thread = threads[thread].leader;
	}
	return thread;
}

/* Returns the string of the last component of the path that is the first argument, or 0. */
static int64_t program_of(const struct reader *reader, const struct strace_call *call)
{
	const char *start = call->arguments[0] == '"' ? call->arguments + 1 : NULL;
	const char *end = start ? strchr(start, '"') : NULL;
	if (!end)
		return 0;
	for (const char *at = start; at < end; at++)
		start = *at == '/' ? at + 1 : start;
	int64_t id = strings_add(&reader->tree.profile->strings, start, (size_t)(end - start));
	return id < 0 ? import_tree_fail(&reader->tree, (int)id) : id;
}

static int add_child(struct reader *reader, uint32_t creator, uint32_t tid)
{
	int64_t child = thread_of(reader, tid);
	if (child < 0)
		return (int)child;
	if (!reader->threads[child].is_traced && hash_map_get(&reader->attached, tid) != HASH_MAP_NONE)
		set_traced(reader, (uint32_t)child);
	uint32_t own = leader_of(reader, creator), other = leader_of(reader, (uint32_t)child);
	if (own == other)
		return 0;
	struct thread *row = &reader->threads[child];
	if (reader->threads[creator].creates_thread) {
		reader->threads[other].leader = own;
	} else if (row->creator == PROFILE_NONE) {
		row->creator = own;
		row->program = row->program ? row->program : reader->threads[own].program;
	}
	return 0;
}

/* Follows the calls that make threads, processes and programs. */
static int follow(struct reader *reader, uint32_t index, const struct strace_call *call)
{
	struct thread *thread = &reader->threads[index];
	bool is_exec = strace_is_call(call, "execve");
	bool is_clone = strace_is_call(call, "clone") || strace_is_call(call, "clone3") ||
			strace_is_call(call, "fork") || strace_is_call(call, "vfork");
	if (is_exec && !call->is_resumed) {
		int64_t program = program_of(reader, call);
		if (program < 0)
			return (int)program;
		thread->executing = (uint32_t)program;
	}
	if (is_exec && call->value && call->value[0] == '0' && thread->executing)
		reader->threads[leader_of(reader, index)].program = thread->executing;
	if (is_clone && !call->is_resumed)
		thread->creates_thread = strstr(call->arguments, "CLONE_THREAD") != NULL;
	uint64_t tid;
	if (is_clone && call->value && input_text_number(call->value, UINT32_MAX, &tid) && tid > 0)
		return add_child(reader, index, (uint32_t)tid);
	return 0;
}

/* Returns whether the profile has the thread: it is traced, and the file has its number. */
static bool is_kept(const struct reader *reader, uint32_t index)
{
	return reader->threads[index].is_traced && index != reader->unnumbered;
}

/* Adds a thread. A process whose first thread has no number has that of the thread. */
static int64_t add_thread(struct reader *reader, uint32_t index)
{
	struct profile *profile = reader->tree.profile;
	uint32_t first = leader_of(reader, index);
	const struct thread *row = &reader->threads[index], *leader = &reader->threads[first];
	const char *process = profile_string(profile, leader->name ? leader->name : leader->program);
	const char *name = row->name ? profile_string(profile, row->name) : process;
	uint32_t pid = first == reader->unnumbered ? row->tid : leader->tid;
	int64_t id = import_tree_thread(&reader->tree, pid, row->tid, process, name);
	if (id >= 0 && leader->creator != PROFILE_NONE)
		profile->processes[profile->threads[id].process].parent_pid =
			reader->threads[leader_of(reader, leader->creator)].tid;
	return id;
}

/* Adds the threads in their order. Hits of a thread that is left out have none. */
static int add_threads(struct reader *reader)
{
	struct profile *profile = reader->tree.profile;
	uint32_t *ids = malloc((reader->thread_count + 1) * sizeof(*ids));
	int64_t id = ids ? 0 : import_tree_fail(&reader->tree, ERROR_MEMORY);
	for (uint32_t i = 0; i < reader->thread_count && id >= 0; i++) {
		id = is_kept(reader, i) ? add_thread(reader, i) : PROFILE_NONE;
		ids[i] = (uint32_t)id;
	}
	for (size_t i = 0; i < profile->hit_count && id >= 0; i++)
		if (profile->hits[i].thread != PROFILE_NONE)
			profile->hits[i].thread = ids[profile->hits[i].thread];
	free(ids);
	return id < 0 ? (int)id : 0;
}

/* --- paths and hits --- */

static int64_t location_of(struct reader *reader, const char *module_path, const char *name, size_t bytes)
{
	const struct import_frame frame = { .function = name,
					    .function_bytes = bytes,
					    .kind = input_text_kind(module_path) };
	int64_t module = import_tree_module(&reader->tree, module_path);
	return module < 0 ? module : import_tree_location(&reader->tree, (uint32_t)module, &frame, 1);
}

static int add_to_stack(struct reader *reader, const char *module_path, const char *name, size_t bytes)
{
	int64_t location = location_of(reader, module_path, name, bytes);
	if (location < 0)
		return (int)location;
	if (ARRAY_RESERVE(reader->stack, reader->stack_capacity, reader->stack_count + 1) < 0)
		return import_tree_fail(&reader->tree, ERROR_MEMORY);
	reader->stack[reader->stack_count++] = (uint32_t)location;
	return 0;
}

/* Reads " > /path/prog(main+0x2a) [0x12ea]" or " > /path/prog() [0x4d6f6]". Anything else is the
 * reason why strace's walk ended. */
static int read_stack_line(struct reader *reader, char *text)
{
	static const char behind_name[] = ") [0x";
	char address[INPUT_TEXT_ADDRESS_BYTES];
	char *open = strchr(text, '('), *close = NULL;
	while (open && open > text && open[-1] == ' ') /* "/path/prog (deleted)(main+0x2a)" */
		open = strchr(open + 1, '(');
	for (char *next = open ? strstr(open, behind_name) : NULL; next; next = strstr(next + 1, behind_name))
		close = next;
	if (!reader->in_call || !close)
		return 0;
	*open = 0;
	size_t bytes = input_text_without_offset(open + 1, (size_t)(close - open - 1));
	if (bytes > 0 && open[1] != '+')
		return add_to_stack(reader, text, open + 1, bytes);
	const char *digits = close + strlen(behind_name);
	bytes = input_text_address(address, text, digits, strspn(digits, "0123456789abcdef"));
	return add_to_stack(reader, text, address, bytes);
}

/* Adds calls of a name from the stack, and the time in them. */
static int add_calls(struct reader *reader, const char *name, size_t bytes, const struct amounts *amounts)
{
	int64_t location = location_of(reader, MODULE_NAME_KERNEL, name, bytes), node = location < 0 ? location : 0;
	for (size_t i = reader->stack_count; node >= 0 && i > 0; i--)
		node = profile_add_node(reader->tree.profile, (uint32_t)node, reader->stack[i - 1]);
	if (node >= 0)
		node = profile_add_node(reader->tree.profile, (uint32_t)node, (uint32_t)location);
	if (node < 0)
		return location < 0 ? (int)location : import_tree_fail(&reader->tree, (int)node);
	int code = import_tree_hit(&reader->tree, reader->time_ns, reader->thread, (uint32_t)node, reader->calls,
				   amounts->calls);
	if (code == 0 && amounts->has_spent && reader->spent == PROFILE_NONE)
		code = import_tree_counted(&reader->tree, "syscall-time", "ns", &reader->spent);
	if (code == 0 && amounts->has_spent)
		code = import_tree_hit(&reader->tree, reader->time_ns, reader->thread, (uint32_t)node, reader->spent,
				       amounts->spent_ns);
	return code;
}

/* --- lines --- */

/* The call's stack has ended. */
static int end_call(struct reader *reader)
{
	if (!reader->in_call)
		return 0;
	reader->in_call = false;
	return add_calls(reader, (const char *)reader->name.bytes, reader->name.size, &reader->amounts);
}

static int begin_call(struct reader *reader, const struct strace_call *call)
{
	reader->in_call = true;
	reader->stack_count = 0;
	reader->amounts = (struct amounts){ .calls = 1, .has_spent = call->has_spent, .spent_ns = call->spent_ns };
	buffer_clear(&reader->name);
	buffer_append(&reader->name, call->name, call->name_bytes);
	return buffer_error(&reader->name) < 0 ? import_tree_fail(&reader->tree, ERROR_MEMORY) : 0;
}

/* Advances the time to that of a line. Times of the day go on behind midnight. */
static void set_time(struct reader *reader, const struct strace_head *head)
{
	static const uint64_t day_ns = UINT64_C(24) * 60 * 60 * 1000000000;
	uint64_t now = head->time_ns;
	if (!head->has_time)
		return;
	if (head->is_relative)
		now += reader->now_ns;
	else if (head->is_of_day)
		now += reader->now_ns / day_ns * day_ns + (now + day_ns / 2 < reader->now_ns % day_ns ? day_ns : 0);
	now = now < PROFILE_HITS_MOST ? now : PROFILE_HITS_MOST;
	if (!reader->has_time)
		reader->start_ns = now;
	reader->has_time = true;
	reader->now_ns = now > reader->start_ns ? now : reader->start_ns;
	reader->time_ns = IMPORT_START_NS + reader->now_ns - reader->start_ns;
}

/* Sets the thread of a line. `call` is NULL in a remark. */
static int set_thread(struct reader *reader, const struct strace_head *head, const struct strace_call *call)
{
	reader->thread = PROFILE_NONE;
	int code = head->has_tid ? take_number(reader, head->tid, call && call->is_resumed) : 0;
	int64_t thread = code < 0              ? code
			 : head->has_tid       ? thread_of(reader, head->tid)
			 : call                ? thread_without_number(reader)
			 : reader->living == 1 ? (int64_t)reader->living_sum
					       : PROFILE_NONE;
	if (thread < 0)
		return (int)thread;
	reader->thread = (uint32_t)thread;
	if (head->has_tid)
		set_traced(reader, reader->thread);
	if (call && reader->thread == reader->unnumbered)
		reader->is_unfinished = !call->value;
	if (!head->has_tid)
		return 0;
	int64_t name = head->comm ? strings_add(&reader->tree.profile->strings, head->comm, head->comm_bytes) : 0;
	if (name < 0)
		return import_tree_fail(&reader->tree, (int)name);
	reader->threads[thread].name = name ? (uint32_t)name : reader->threads[thread].name;
	return 0;
}

/* Returns whether strace prints such a line about something else than a call: signals, ends of processes, messages. */
static bool is_remark(const char *text)
{
	static const char *const starts[] = { "+++ ", "--- ", "strace: ", "<unfinished ...>", "<detached ...>" };
	bool is = !*text;
	for (size_t i = 0; !is && i < sizeof(starts) / sizeof(starts[0]); i++)
		is = strace_begins(text, starts[i]);
	return is;
}

/* Follows the ends of threads. If a thread executes a program, it takes the number of its process's first thread. */
static void follow_end(struct reader *reader, const char *remark)
{
	static const char superseded[] = "+++ superseded by execve in pid ";
	uint64_t tid;
	uint32_t index = reader->thread;
	if (strace_begins(remark, superseded) && input_text_number(remark + strlen(superseded), UINT32_MAX, &tid))
		index = hash_map_get(&reader->by_tid, tid);
	else if (!strace_begins(remark, "+++ exited ") && !strace_begins(remark, "+++ killed "))
		return;
	reader->has_ended = true;
	if (index < reader->thread_count)
		set_living(reader, index, false);
}

static int read_text(struct reader *reader, const char *text)
{
	struct strace_call call;
	struct strace_head head = strace_read_head(text);
	bool is_call = strace_read_call(head.rest, &call);
	if (!is_call && !is_remark(head.rest)) {
		reader->skipped++;
		return 0;
	}
	set_time(reader, &head);
	int code = set_thread(reader, &head, is_call ? &call : NULL);
	if (code == 0 && is_call && reader->thread != PROFILE_NONE)
		code = follow(reader, reader->thread, &call);
	if (!is_call)
		follow_end(reader, head.rest);
	if (code == 0 && is_call && strace_has_returned(&call))
		code = begin_call(reader, &call);
	return code;
}

static const char ATTACHED[] = "strace: Process ";

/* Returns the message about a new process at the end of a line, or NULL. */
static const char *attached_message(const char *line)
{
	const char *message = NULL, *number = "";
	for (const char *at = line; (at = strstr(at, ATTACHED)); at = number) {
		message = at;
		number = at + strlen(ATTACHED);
	}
	const char *end = number + strspn(number, "0123456789");
	return end > number && strcmp(end, " attached") == 0 ? message : NULL;
}

/* Notes a thread to which strace has attached. */
static int attach(struct reader *reader, uint32_t tid)
{
	uint32_t index = hash_map_get(&reader->by_tid, tid);
	if (index != HASH_MAP_NONE && !reader->threads[index].is_traced)
		set_traced(reader, index);
	return hash_map_put(&reader->attached, tid, 0) < 0 ? import_tree_fail(&reader->tree, ERROR_MEMORY) : 0;
}

/* strace prints the message about a new process within a line that it has begun for another one, if both are printed to one place. Keeps the thread,
 * and what stands before the message; the line goes on behind the line feed, where another message may stand. */
static void carry(struct reader *reader, const char *line, const char *message, uint32_t tid)
{
	buffer_append(&reader->carried, line, (size_t)(message - line));
	buffer_append(&reader->carried_threads, &tid, sizeof(tid));
}

/* Reads a message, which begins within the line or with it. */
static int read_attached(struct reader *reader, const char *line, const char *message)
{
	uint64_t tid;
	if (!input_text_number(message + strlen(ATTACHED), UINT32_MAX, &tid)) {
		reader->skipped++;
		return 0;
	}
	if (message != line || reader->carried.size > 0)
		carry(reader, line, message, (uint32_t)tid);
	else if (reader->thread_count == 0 && reader->first_tid == 0)
		reader->first_tid = (uint32_t)tid;
	else
		return attach(reader, (uint32_t)tid);
	return 0;
}

static int read_joined(struct reader *reader, const char *line, size_t length)
{
	buffer_append(&reader->carried, line, length);
	buffer_append_byte(&reader->carried, 0);
	int code = buffer_error(&reader->carried) < 0 ? import_tree_fail(&reader->tree, ERROR_MEMORY)
						      : read_text(reader, (const char *)reader->carried.bytes);
	if (code == 0 && buffer_error(&reader->carried_threads) < 0)
		code = import_tree_fail(&reader->tree, ERROR_MEMORY);
	for (size_t at = 0; at < reader->carried_threads.size && code == 0; at += sizeof(uint32_t)) {
		uint32_t tid;
		memcpy(&tid, reader->carried_threads.bytes + at, sizeof(tid));
		code = attach(reader, tid);
	}
	buffer_clear(&reader->carried);
	buffer_clear(&reader->carried_threads);
	return code;
}

/* --- the summary --- */

/* Splits a line at blanks. Returns the number of words, at most `most`, with the rest in the last one. */
static size_t split(char *line, char **words, size_t most)
{
	size_t count = 0;
	for (char *at = line + strspn(line, " \t"); *at && count < most; at += strspn(at, " \t")) {
		words[count++] = at;
		at += strcspn(at, " \t");
		if (*at)
			*at++ = 0;
	}
	return count;
}

static int refuse_summary(const struct reader *reader)
{
	return error_set(reader->tree.error, ERROR_FORMAT,
			 "%s:%" PRIu64
			 ": expected the columns of 'strace -c': %% time, seconds, usecs/call, calls, errors, "
			 "syscall",
			 reader->tree.name, reader->line);
}

static int begin_summary(struct reader *reader, char *line)
{
	enum { COLUMNS = 7 };
	static const char *const columns[COLUMNS] = {
		"%", "time", "seconds", "usecs/call", "calls", "errors", "syscall"
	};
	char *words[COLUMNS + 1];
	size_t count = split(line, words, COLUMNS + 1);
	reader->in_summary = true;
	reader->thread = PROFILE_NONE;
	bool is_known = count == COLUMNS;
	for (size_t i = 0; is_known && i < COLUMNS; i++)
		is_known = strcmp(words[i], columns[i]) == 0;
	return is_known || reader->has_calls ? 0 : refuse_summary(reader);
}

/* Reads " 31.37    0.004834        4834         1           futex", with or without errors behind the calls. A summary behind the calls
 * themselves (-C) is left out. */
static int read_summary(struct reader *reader, char *line)
{
	enum { SPENT = 1, CALLS = 3, WITHOUT_ERRORS = 5, WORDS };
	struct amounts amounts = { .has_spent = true };
	char *words[WORDS + 1];
	size_t count = reader->has_calls || strace_begins(line, "---") ? 0 : split(line, words, WORDS + 1);
	if (count == 0)
		return 0;
	const char *name = words[count - 1];
	if (strcmp(name, "total") == 0)
		return 0;
	const char *end =
		count < WITHOUT_ERRORS || count > WORDS ? NULL : input_text_seconds(words[SPENT], &amounts.spent_ns);
	end = end && !*end ? input_text_number(words[CALLS], PROFILE_HITS_MOST, &amounts.calls) : NULL;
	if (!end || *end)
		return refuse_summary(reader);
	return add_calls(reader, name, strlen(name), &amounts);
}

static int read_line(void *context, char *line, size_t length)
{
	struct reader *reader = context;
	if (line[length - 1] != '\n') { /* strace or its output was cut here */
		reader->skipped++;
		return 0;
	}
	length = input_text_end(line, length);
	if (strace_begins(line, " > "))
		return read_stack_line(reader, line + strlen(" > "));
	reader->has_calls |= reader->in_call;
	int code = end_call(reader);
	if (code < 0)
		return code;
	if (memchr(line, 0, length)) {
		reader->skipped++;
		return 0;
	}
	if (strace_begins(line, "% time "))
		return begin_summary(reader, line);
	if (reader->in_summary)
		return read_summary(reader, line);
	const char *message = attached_message(line);
	if (message)
		return read_attached(reader, line, message);
	return reader->carried.size > 0 ? read_joined(reader, line, length) : read_text(reader, line);
}

/* --- the file --- */

/* States the lines that were left out. */
static int add_note(struct reader *reader)
{
	char note[96];
	if (reader->skipped == 0)
		return 0;
	snprintf(note, sizeof(note), "%" PRIu64 " line%s of the file %s not strace's and %s left out", reader->skipped,
		 reader->skipped == 1 ? "" : "s", reader->skipped == 1 ? "is" : "are",
		 reader->skipped == 1 ? "was" : "were");
	int64_t text = profile_add_string(reader->tree.profile, note);
	if (text < 0)
		return import_tree_fail(&reader->tree, (int)text);
	reader->tree.profile->resources[reader->calls].note = (uint32_t)text;
	return 0;
}

static int finish(struct reader *reader)
{
	struct profile *profile = reader->tree.profile;
	int code = end_call(reader);
	reader->skipped += reader->carried.size > 0; /* the rest of the line is missing */
	if (code == 0)
		code = add_threads(reader);
	if (code == 0)
		code = add_note(reader);
	if (reader->has_time) {
		profile->start_ns = IMPORT_START_NS;
		profile->end_ns = reader->time_ns;
		profile->start_unix_ns = reader->start_ns > STRACE_RELATIVE_MOST_NS ? (int64_t)reader->start_ns : 0;
	}
	return code;
}

static struct profile *strace_import(FILE *in, const char *name, const char *image, struct error *error)
{
	(void)image; /* names need no image */
	struct reader reader = { .thread = PROFILE_NONE, .unnumbered = PROFILE_NONE, .spent = PROFILE_NONE };
	buffer_init(&reader.name);
	buffer_init(&reader.carried);
	buffer_init(&reader.carried_threads);
	hash_map_init(&reader.by_tid);
	hash_map_init(&reader.attached);
	int code = import_tree_open(&reader.tree, name, error);
	if (code == 0)
		code = import_tree_counted(&reader.tree, "syscalls", "call", &reader.calls);
	if (code == 0)
		code = input_lines_read(in, name, &reader.line, read_line, &reader, error);
	if (code == 0)
		code = finish(&reader);
	free(reader.threads);
	free(reader.stack);
	hash_map_release(&reader.by_tid);
	hash_map_release(&reader.attached);
	buffer_release(&reader.name);
	buffer_release(&reader.carried);
	buffer_release(&reader.carried_threads);
	return import_tree_close(&reader.tree, code);
}

/* The first line that is not a message is a call, or the head of the summary. The line may be longer than the bytes. */
static bool strace_recognise(const unsigned char *start, size_t bytes)
{
	enum { LINE_BYTES = 4096 };
	char line[LINE_BYTES + 1];
	struct strace_call call;
	for (size_t at = 0, length; at < bytes; at += length + 1) {
		const unsigned char *end = memchr(start + at, '\n', bytes - at);
		length = end ? (size_t)(end - start) - at : bytes - at;
		if (length > LINE_BYTES || memchr(start + at, 0, length))
			return false;
		memcpy(line, start + at, length);
		line[length] = 0;
		if (length == 0 || strace_begins(line, "strace: "))
			continue;
		struct strace_head head = strace_read_head(line);
		return strace_begins(line, "% time ") || strace_read_call(head.rest, &call) ||
		       (!end && strace_begins(head.rest, "execve(\""));
	}
	return false;
}

const struct format format_strace = {
	.name = "strace",
	.title = "strace's text",
	.ending = "txt",
	.summary =
		"what strace prints: system calls, with -T their time, with -k their call paths; or its summary (-c)",
	.has_several = true,
	.recognise = strace_recognise,
	.import = strace_import,
};
