#include "cmd/progress.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/path.h"

enum { DOWNLOAD_BYTES = 100 };

/* Invariants: the SIGALRM handler is installed, and the timer runs, only from progress_begin to progress_end. The
 * handler calls only clock_gettime and write. */
static struct {
	const char *what;
	unsigned depth; /* pieces of work that have begun and not ended: the first one is shown */
	struct timespec start;
	volatile sig_atomic_t running;
	volatile sig_atomic_t shown;
	volatile sig_atomic_t percent; /* -1: unknown */
	/* A text in place of `what` and the percentage; the handler may print it while the other one is written. */
	char downloads[2][DOWNLOAD_BYTES];
	volatile sig_atomic_t download; /* the number of the text; -1: none */
	struct sigaction before;
} progress;

static size_t put_text(char *line, size_t at, size_t bytes, const char *text)
{
	while (*text && at < bytes) {
		unsigned char byte = (unsigned char)*text++;
		line[at++] = byte < 0x20 || byte == 0x7f ? '?' : (char)byte;
	}
	return at;
}

static size_t put_number(char *line, size_t at, size_t bytes, unsigned number)
{
	char digits[12];
	size_t count = 0;
	do {
		digits[count++] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	while (count && at < bytes)
		line[at++] = digits[--count];
	return at;
}

static void put_line(int signal_number)
{
	static const char to_the_end[] = "\x1b[K";
	(void)signal_number;
	int saved = errno;
	char line[170] = "\r";
	struct timespec now = progress.start;
	clock_gettime(CLOCK_MONOTONIC, &now);
	time_t seconds = now.tv_sec - progress.start.tv_sec - (now.tv_nsec < progress.start.tv_nsec);
	bool is_download = progress.download >= 0;
	size_t at = put_text(line, 1, 110, is_download ? progress.downloads[progress.download] : progress.what);
	at = put_text(line, at, sizeof(line), " ... ");
	if (progress.percent >= 0 && !is_download) {
		at = put_number(line, at, sizeof(line), (unsigned)progress.percent);
		at = put_text(line, at, sizeof(line), " %, ");
	}
	at = put_number(line, at, sizeof(line), (unsigned)seconds);
	at = put_text(line, at, sizeof(line), " s");
	for (const char *byte = to_the_end; *byte && at < sizeof(line); byte++)
		line[at++] = *byte; /* the line before may have been longer */
	if (write(STDERR_FILENO, line, at) > 0)
		progress.shown = 1;
	errno = saved;
}

void progress_begin(const char *what, long after_ms)
{
	if (progress.depth++ > 0 || !isatty(STDERR_FILENO))
		return;
	struct sigaction action = { .sa_handler = put_line, .sa_flags = SA_RESTART };
	struct itimerval ticks = { .it_interval.tv_sec = 1,
				   .it_value = { .tv_sec = after_ms / 1000, .tv_usec = after_ms % 1000 * 1000 } };
	progress.what = what;
	progress.shown = 0;
	progress.percent = -1;
	progress.download = -1;
	if (sigaction(SIGALRM, &action, &progress.before) < 0)
		return;
	clock_gettime(CLOCK_MONOTONIC, &progress.start);
	progress.running = 1;
	setitimer(ITIMER_REAL, &ticks, NULL);
}

void progress_set(size_t done, size_t total)
{
	if (total && progress.depth <= 1)
		progress.percent = (sig_atomic_t)((double)done / (double)total * 100);
}

void progress_download(void *context, const char *path, uint64_t done, uint64_t total)
{
	enum { MB = 1000000 };
	(void)context;
	if (!path) {
		progress.download = -1;
		return;
	}
	sig_atomic_t next = progress.download == 0;
	char *text = progress.downloads[next];
	int bytes = snprintf(text, DOWNLOAD_BYTES, "downloading the debug symbols of %.48s", path_basename(path));
	if (total > 0)
		snprintf(text + bytes, DOWNLOAD_BYTES - (size_t)bytes, " (%.1f of %.1f MB)", (double)done / MB,
			 (double)total / MB);
	else if (done > 0)
		snprintf(text + bytes, DOWNLOAD_BYTES - (size_t)bytes, " (%.1f MB)", (double)done / MB);
	progress.download = next;
}

void progress_end(void)
{
	static const char wipe[] = "\r\x1b[K";
	struct itimerval none = { 0 };
	progress.depth -= progress.depth > 0;
	if (progress.depth > 0 || !progress.running)
		return;
	setitimer(ITIMER_REAL, &none, NULL);
	sigaction(SIGALRM, &progress.before, NULL);
	progress.running = 0;
	if (progress.shown)
		fwrite(wipe, 1, sizeof(wipe) - 1, stderr);
}

static bool line_shown;

/* A job in the background does not write over what the user types. */
static bool is_in_foreground(void)
{
	pid_t group = tcgetpgrp(STDERR_FILENO);
	return isatty(STDERR_FILENO) && (group < 0 || group == getpgrp());
}

void progress_line(const char *text)
{
	struct winsize size;
	int columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1 : INT_MAX;
	if (!is_in_foreground())
		return;
	fprintf(stderr, "\r%.*s\x1b[K", columns, text);
	fflush(stderr);
	line_shown = true;
}

void progress_line_end(void)
{
	if (line_shown)
		fputs("\r\x1b[K", stderr);
	line_shown = false;
}
