/* Reads a request, and switches or lists probe points: see serve.h for the protocol. */
#include "collect/agent/control/thread.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "collect/agent/core/runtime.h"
#include "collect/agent/hooks/system.h"
#include "collect/agent/probes/registry.h"

enum { REQUEST_MAX = 1024, TURN_S = 1, SECONDS_MAX = 4 };

struct answer {
	long fd;
	uint64_t end_ns; /* clients that are not done by then are disconnected */
	size_t used;
	bool is_over; /* the client has gone */
	char bytes[4096];
};

static bool has_time(const struct answer *answer)
{
	return runtime_now_ns(CLOCK_MONOTONIC) < answer->end_ns;
}

/* --- the answer --- */

static void send_all(struct answer *answer)
{
	size_t sent = 0;
	while (sent < answer->used && !answer->is_over) {
		long result = machine_syscall(SYS_sendto, answer->fd, (long)(answer->bytes + sent),
					      (long)(answer->used - sent), MSG_NOSIGNAL, 0, 0);
		answer->is_over = result <= 0 || !has_time(answer);
		sent += result > 0 ? (size_t)result : 0;
	}
	answer->used = 0;
}

static void put_byte(struct answer *answer, char byte)
{
	if (answer->used == sizeof(answer->bytes))
		send_all(answer);
	answer->bytes[answer->used++] = byte;
}

static void put_word(struct answer *answer, const char *word)
{
	while (*word)
		put_byte(answer, *word++);
}

static void put_text(struct answer *answer, const char *text)
{
	enum { FIRST_PRINTABLE = 0x20, DELETE = 0x7f };
	for (; *text && !answer->is_over; text++)
		put_byte(answer, (unsigned char)*text < FIRST_PRINTABLE || *text == DELETE ? '?' : *text);
}

static void put_number(struct answer *answer, uint64_t number)
{
	enum { DECIMAL = 10, DIGITS = 20 };
	char digits[DIGITS + 1] = "";
	size_t at = DIGITS;
	do
		digits[--at] = (char)('0' + number % DECIMAL);
	while (number /= DECIMAL);
	put_word(answer, digits + at);
}

/* --- requests --- */

static const char *state_of(const struct tally_probe *record)
{
	uint32_t flags = __atomic_load_n(&record->flags, __ATOMIC_RELAXED);
	if (flags & TALLY_PROBE_THROTTLED)
		return "throttled";
	return flags & TALLY_PROBE_OFF ? "off" : "on";
}

static void put_probe(struct answer *answer, const struct tally_probe *record)
{
	const char *const texts[] = { record->texts, record->texts + record->signature, record->texts + record->file };
	put_word(answer, state_of(record));
	put_byte(answer, '\t');
	put_number(answer, record->kind);
	put_byte(answer, '\t');
	put_number(answer, record->level);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		put_byte(answer, '\t');
		put_text(answer, texts[i]);
	}
	put_byte(answer, '\t');
	put_number(answer, record->line);
	put_byte(answer, '\t');
	put_text(answer, record->texts + record->group);
	put_byte(answer, '\n');
}

/* Returns whether a probe point matches any of the patterns, each behind a tab,
 * or there are no patterns. */
static bool is_listed(const struct tally_probe *record, const char *patterns, size_t bytes)
{
	bool matches = bytes == 0;
	for (size_t at = 1; at <= bytes && !matches; at++) {
		const char *end = memchr(patterns + at, '\t', bytes - at);
		size_t length = end ? (size_t)(end - patterns) - at : bytes - at;
		char pattern[PROBES_PATTERN_MAX];
		if (length < sizeof(pattern)) {
			memcpy(pattern, patterns + at, length);
			pattern[length] = 0;
			matches = probes_pattern_matches(pattern, record);
		}
		at += length;
	}
	return matches;
}

static void list(struct answer *answer, const char *patterns, size_t bytes)
{
	uint32_t count = probes_count();
	put_word(answer, "ok ");
	put_number(answer, count);
	put_byte(answer, '\n');
	for (uint32_t i = 0; i < count && !answer->is_over; i++)
		if (probes_at(i)->record && is_listed(probes_at(i)->record, patterns, bytes))
			put_probe(answer, probes_at(i)->record);
}

static void apply_line(struct answer *answer, const char *line, size_t bytes)
{
	struct probes_turned turned = probes_apply(line, bytes);
	put_word(answer, turned.refusal ? "error " : "ok ");
	if (turned.refusal) {
		put_word(answer, turned.refusal);
	} else {
		put_number(answer, turned.known);
		put_byte(answer, ' ');
		put_number(answer, turned.matching);
		put_byte(answer, ' ');
		put_number(answer, turned.changed);
	}
	put_byte(answer, '\n');
}

/* Reads a line, without its end. Returns its length, or -1 if none came. */
static long read_request(const struct answer *answer, char request[REQUEST_MAX])
{
	long used = 0;
	while (used < REQUEST_MAX && has_time(answer)) {
		long got =
			machine_syscall(SYS_recvfrom, answer->fd, (long)(request + used), REQUEST_MAX - used, 0, 0, 0);
		const char *end = got > 0 ? memchr(request + used, '\n', (size_t)got) : NULL;
		if (got <= 0)
			return -1;
		if (end)
			return end - request;
		used += got;
	}
	return -1;
}

void control_answer(long fd)
{
	static const char list_word[] = "list";
	static const uint64_t ns_per_s = 1000000000;
	const struct timeval turn = { .tv_sec = TURN_S };
	char request[REQUEST_MAX];
	struct answer answer = { .fd = fd, .end_ns = runtime_now_ns(CLOCK_MONOTONIC) + SECONDS_MAX * ns_per_s };
	machine_syscall(SYS_setsockopt, fd, SOL_SOCKET, SO_RCVTIMEO, (long)&turn, sizeof(turn), 0);
	machine_syscall(SYS_setsockopt, fd, SOL_SOCKET, SO_SNDTIMEO, (long)&turn, sizeof(turn), 0);
	long bytes = read_request(&answer, request);
	if (bytes < 0)
		return;
	const long word = sizeof(list_word) - 1;
	if (bytes >= word && memcmp(request, list_word, (size_t)word) == 0 && (bytes == word || request[word] == '\t'))
		list(&answer, request + word, (size_t)(bytes - word));
	else if (bytes == 0)
		put_word(&answer, "error empty request\n");
	else
		apply_line(&answer, request, (size_t)bytes);
	send_all(&answer);
}
