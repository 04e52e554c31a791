/* The figures as Prometheus text (exposition format 0.0.4), in an answer of HTTP on a local socket: `curl --unix-socket` reads it, and
 * `socat TCP-LISTEN:PORT,fork UNIX-CONNECT:PATH` lets Prometheus read it. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "cmd/agent.h"
#include "collect/sample/clock.h"
#include "collect/sample/state/proc.h"

static const uint64_t NS_PER_S = 1000000000, CLIENT_NS = 5000000000, TEXT_NS = 500000000;

/* --- the text --- */

struct waiting {
	uint64_t spooled, spooled_bytes, slices, kept;
};

static bool ends_with(const char *name, const char *ending)
{
	size_t length = strlen(name), bytes = strlen(ending);
	return length > bytes && strcmp(name + length - bytes, ending) == 0;
}

static void count_file(void *context, int folder, const char *name)
{
	struct waiting *waiting = context;
	struct stat status;
	if (name[0] == '.' || fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	waiting->slices += ends_with(name, SLICE_SUFFIX);
	waiting->kept += ends_with(name, SLICE_KEPT);
	if (ends_with(name, ".spool")) {
		waiting->spooled++;
		waiting->spooled_bytes += (uint64_t)status.st_size;
	}
}

static double seconds_of(const struct rusage *usage)
{
	const double us_per_s = 1e6;
	return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
	       (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / us_per_s;
}

/* The largest memory, in rusage, is that of the process before it executed cpprof, too. */
static uint64_t resident_bytes(void)
{
	uint64_t pages;
	return proc_stat_read((uint32_t)getpid(), PROC_STAT_RESIDENT, &pages) ? pages * (uint64_t)sysconf(_SC_PAGESIZE)
									      : 0;
}

static void append_metric(struct buffer *text, const char *name, const char *help, double value)
{
	bool is_counter = ends_with(name, "_total");
	buffer_printf(text, "# HELP cpprof_agent_%s %s\n# TYPE cpprof_agent_%s %s\ncpprof_agent_%s %.15g\n", name, help,
		      name, is_counter ? "counter" : "gauge", name, value);
}

static void append_failures(struct buffer *text, const struct agent_figures *figures)
{
	static const char *const kinds[AGENT_FAILURES] = { "record", "store" };
	buffer_append_string(text, "# HELP cpprof_agent_failures_total Commands that failed, by kind\n"
				   "# TYPE cpprof_agent_failures_total counter\n");
	for (size_t i = 0; i < AGENT_FAILURES; i++)
		buffer_printf(text, "cpprof_agent_failures_total{kind=\"%s\"} %" PRIu64 "\n", kinds[i],
			      figures->failures[i]);
}

static void append_metrics(struct buffer *text, const struct agent_figures *figures)
{
	const double kb = 1024, ns = (double)NS_PER_S;
	struct rusage self = { 0 }, children = { 0 };
	getrusage(RUSAGE_SELF, &self);
	getrusage(RUSAGE_CHILDREN, &children);
	struct waiting waiting = { 0 };
	agent_spool_visit(figures->spool, count_file, &waiting);
	const struct {
		const char *name, *help;
		double value;
	} rows[] = {
		{ "slices_total", "Slices that were recorded completely", (double)figures->slices },
		{ "samples_total", "Samples in these slices", (double)figures->samples },
		{ "lost_samples_total", "Samples that these slices have lost", (double)figures->lost },
		{ "recorded_seconds_total", "Time that these slices cover", (double)figures->recorded_ns / ns },
		{ "gap_seconds_total", "Time between slices in which nothing was recorded",
		  (double)figures->gap_ns / ns },
		{ "overlap_seconds_total", "Time that two slices cover", (double)figures->overlap_ns / ns },
		{ "stored_slices_total", "Slices that the store has taken, without those that were spooled before",
		  (double)figures->stored },
		{ "stored_bytes_total", "Bytes of these slices", (double)figures->stored_bytes },
		{ "dropped_slices_total", "Slices that were removed before the store or the spool had taken them",
		  (double)figures->dropped },
		{ "waiting_slices", "Files of slices that are recorded or wait for the store", (double)waiting.slices },
		{ "kept_slices", "Files of slices that the store has refused", (double)waiting.kept },
		{ "spooled_recordings", "Recordings that wait in the spool", (double)waiting.spooled },
		{ "spooled_bytes", "Bytes of these recordings", (double)waiting.spooled_bytes },
		{ "rate_hertz", "Samples per second of time resources without an interval", figures->hertz },
		{ "requested_rate_hertz", "The same as it was requested", figures->requested_hertz },
		{ "rate_changes_total", "Changes of the rate because of the limits", (double)figures->rate_changes },
		{ "early_ends_total", "Slices that ended early because of the memory of the recorder",
		  (double)figures->early_ends },
		{ "reloads_total", "Reloads, by SIGHUP", (double)figures->reloads },
		{ "cpu_seconds_total", "CPU time of the agent and of its processes that have ended",
		  seconds_of(&self) + seconds_of(&children) },
		{ "memory_bytes", "Resident memory of the agent itself", (double)resident_bytes() },
		{ "child_memory_bytes", "Largest resident memory of any of its processes that have ended",
		  (double)children.ru_maxrss * kb },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		append_metric(text, rows[i].name, rows[i].help, rows[i].value);
	append_failures(text, figures);
}

/* --- the socket --- */

/* Returns whether a socket is there that no program listens at. */
static bool is_left_over(const struct sockaddr_un *address)
{
	struct stat status;
	if (lstat(address->sun_path, &status) < 0 || !S_ISSOCK(status.st_mode))
		return false;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool is_left =
		fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 && errno == ECONNREFUSED;
	if (fd >= 0)
		close(fd);
	return is_left;
}

int agent_metrics_open(struct agent_metrics *metrics, const char *path, struct error *error)
{
	/* The figures are no secret, and their reader need not be root: rw-rw-rw-. */
	const mode_t mask = 0111;
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	*metrics = (struct agent_metrics){ .fd = -1 };
	if (!path)
		return 0;
	if (strlen(path) >= sizeof(address.sun_path))
		return error_set(error, ERROR_USAGE, "cannot listen at '%s': the path is too long (at most %zu bytes)",
				 path, sizeof(address.sun_path) - 1);
	memcpy(address.sun_path, path, strlen(path) + 1);
	if (is_left_over(&address))
		unlink(path);
	metrics->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* A chmod after bind would follow a link that has taken the socket's place. */
	mode_t old_mask = umask(mask);
	int bound = metrics->fd < 0 ? -1 : bind(metrics->fd, (const struct sockaddr *)&address, sizeof(address));
	umask(old_mask);
	if (bound < 0)
		return error_set_errno(error, "cannot listen at '%s'", path);
	metrics->path = path;
	if (listen(metrics->fd, AGENT_CLIENTS_MOST) < 0)
		return error_set_errno(error, "cannot listen at '%s'", path);
	return 0;
}

void agent_metrics_leave(const struct agent_metrics *metrics)
{
	if (metrics->fd >= 0)
		close(metrics->fd);
	for (size_t i = 0; i < metrics->client_count; i++)
		close(metrics->clients[i].fd);
}

void agent_metrics_close(struct agent_metrics *metrics)
{
	agent_metrics_leave(metrics);
	if (metrics->path)
		unlink(metrics->path);
	buffer_release(&metrics->text);
	*metrics = (struct agent_metrics){ .fd = -1 };
}

size_t agent_metrics_descriptors(const struct agent_metrics *metrics, struct pollfd *descriptors)
{
	size_t count = 0;
	if (metrics->fd >= 0)
		descriptors[count++] = (struct pollfd){ .fd = metrics->fd, .events = POLLIN };
	for (size_t i = 0; i < metrics->client_count; i++)
		descriptors[count++] = (struct pollfd){ .fd = metrics->clients[i].fd, .events = POLLIN };
	return count;
}

enum asked { ASKED_PART, ASKED_ALL, ASKED_BADLY };

/* Reads the next part of a request, up to PART bytes, so that a client that always sends delays nothing. The request is complete at an empty
 * line, or at its end. Closing a socket before that would discard the answer. */
static enum asked read_request(struct agent_client *client)
{
	enum { PART = 2048, MOST = 8192 };
	char bytes[PART];
	ssize_t got = recv(client->fd, bytes, sizeof(bytes), 0);
	if (got < 0)
		return errno == EAGAIN || errno == EINTR ? ASKED_PART : ASKED_BADLY;
	for (ssize_t i = 0; i < got; i++) {
		memmove(client->last, client->last + 1, sizeof(client->last) - 1);
		client->last[sizeof(client->last) - 1] = bytes[i];
		if (memcmp(client->last + 2, "\n\n", 2) == 0 || memcmp(client->last, "\r\n\r\n", 4) == 0)
			return ASKED_ALL;
	}
	client->bytes += (size_t)got;
	return got == 0 ? ASKED_ALL : client->bytes >= MOST ? ASKED_BADLY : ASKED_PART;
}

/* Makes the answer, unless the last one is new enough: many requests cost little. */
static void make_text(struct agent_metrics *metrics, const struct agent_figures *figures, uint64_t now_ns)
{
	struct buffer body;
	if (metrics->text.size > 0 && now_ns - metrics->text_ns < TEXT_NS)
		return;
	buffer_init(&body);
	append_metrics(&body, figures);
	buffer_clear(&metrics->text);
	buffer_printf(&metrics->text,
		      "HTTP/1.0 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: %zu\r\n\r\n",
		      body.size);
	buffer_append(&metrics->text, body.bytes, body.size);
	if (buffer_error(&body) < 0 || buffer_error(&metrics->text) < 0)
		buffer_clear(&metrics->text);
	metrics->text_ns = now_ns;
	buffer_release(&body);
}

/* The answer fits into the socket, so that sending never waits. */
static void answer(struct agent_metrics *metrics, const struct agent_client *client,
		   const struct agent_figures *figures, uint64_t now_ns)
{
	make_text(metrics, figures, now_ns);
	if (metrics->text.size > 0)
		(void)!send(client->fd, metrics->text.bytes, metrics->text.size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Takes clients that wait to be accepted. More than fit take the place of the oldest. */
static void take_clients(struct agent_metrics *metrics, uint64_t now_ns)
{
	int fd;
	for (size_t i = 0; i < AGENT_CLIENTS_MOST && metrics->fd >= 0 &&
			   (fd = accept4(metrics->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0;
	     i++) {
		if (metrics->client_count == AGENT_CLIENTS_MOST) {
			close(metrics->clients[0].fd);
			memmove(metrics->clients, metrics->clients + 1,
				--metrics->client_count * sizeof(*metrics->clients));
		}
		metrics->clients[metrics->client_count++] =
			(struct agent_client){ .fd = fd, .end_ns = now_ns + CLIENT_NS };
	}
}

void agent_metrics_answer(struct agent_metrics *metrics, const struct agent_figures *figures)
{
	size_t left = 0;
	uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);
	take_clients(metrics, now_ns);
	for (size_t i = 0; i < metrics->client_count; i++) {
		struct agent_client *client = &metrics->clients[i];
		enum asked asked = read_request(client);
		if (asked == ASKED_ALL)
			answer(metrics, client, figures, now_ns);
		if (asked != ASKED_PART || now_ns >= client->end_ns)
			close(client->fd);
		else
			metrics->clients[left++] = *client;
	}
	metrics->client_count = left;
}
