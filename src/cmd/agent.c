#include "cmd/agent.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/plural.h"
#include "cmd/message.h"
#include "cmd/subject.h"
#include "collect/sample/clock.h"
#include "collect/sample/target_signals.h"

static const uint64_t NS_PER_S = 1000000000, NS_PER_MS = 1000000;

struct agent {
	const struct invocation *invocation;
	struct agent_settings settings;
	struct agent_metrics metrics;
	struct agent_figures figures;
	struct agent_slices slices;
	int signal_fd, lock_fd;
	sigset_t old_signals;
};

/* --- signals --- */

/* Reads the file of --config again, and begins the next slice. The old settings stay if it has an error. */
static void reload(struct agent *agent)
{
	struct agent_settings settings;
	int status = agent_settings_read(&settings, agent->invocation, agent_check);
	const struct agent_settings *old = &agent->settings;
	bool is_moved =
		status == EXIT_DONE && (strcmp(settings.spool, old->spool) != 0 || !settings.metrics != !old->metrics ||
					(settings.metrics && strcmp(settings.metrics, old->metrics) != 0));
	if (is_moved)
		status = failure(agent->invocation, "cannot change --spool or --metrics while it runs (restart it)");
	if (status != EXIT_DONE) {
		agent_settings_release(&settings);
		warning(agent->invocation, "the old settings stay in use");
		return;
	}
	struct agent_settings *used = &agent->settings;
	agent_settings_release(used);
	*used = settings;
	agent->figures.reloads++;
	agent->figures.spool = used->spool;
	agent->metrics.path = used->metrics;
	agent->figures.requested_hertz = agent->figures.hertz = used->hertz;
	agent->slices.weight = 1;
	agent->slices.is_due = true;
	agent_slices_retry_kept(&agent->slices);
	notice(agent->invocation, "reloaded");
}

static void handle_signals(struct agent *agent)
{
	struct signalfd_siginfo signal;
	while (target_signals_next(agent->signal_fd, &signal)) {
		if (signal.ssi_signo != SIGHUP)
			agent_slices_stop(&agent->slices);
		else if (!agent->slices.stops)
			reload(agent);
	}
}

/* --- all --- */

static void wait_for_work(const struct agent *agent)
{
	struct pollfd descriptors[2 + AGENT_CLIENTS_MOST + SLICES_MOST + 1];
	uint64_t now = clock_now_ns(CLOCK_MONOTONIC), due = agent_slices_due(&agent->slices, now);
	uint64_t most = agent->metrics.client_count > 0 ? NS_PER_S : 60 * NS_PER_S;
	uint64_t left = due > now ? due - now : 0;
	size_t count = 1;
	descriptors[0] = (struct pollfd){ .fd = agent->signal_fd, .events = POLLIN };
	count += agent_metrics_descriptors(&agent->metrics, descriptors + count);
	count += agent_slices_descriptors(&agent->slices, descriptors + count);
	left = left < most ? left : most;
	poll(descriptors, count, (int)((left + NS_PER_MS - 1) / NS_PER_MS));
}

static int supervise(struct agent *agent)
{
	const struct agent_figures *figures = &agent->figures;
	agent_slices_init(&agent->slices);
	while (!agent_slices_are_done(&agent->slices)) {
		wait_for_work(agent);
		handle_signals(agent);
		agent_slices_step(&agent->slices, clock_now_ns(CLOCK_MONOTONIC));
		agent_metrics_answer(&agent->metrics, figures);
	}
	if (agent->slices.refused)
		return agent->slices.refused;
	notice(agent->invocation, "stopped: %" PRIu64 " slice%s, %" PRIu64 " sample%s, %" PRIu64 " lost",
	       figures->slices, plural_ending("slice", (double)figures->slices), figures->samples,
	       plural_ending("sample", (double)figures->samples), figures->lost);
	return EXIT_DONE;
}

static int run_with_settings(struct agent *agent)
{
	struct error error = { 0 };
	const struct agent_settings *settings = &agent->settings;
	sigset_t blocked;
	agent->figures = (struct agent_figures){ .hertz = settings->hertz,
						 .requested_hertz = settings->hertz,
						 .spool = settings->spool };
	agent->slices = (struct agent_slices){ .invocation = agent->invocation,
					       .settings = settings,
					       .signals = &agent->old_signals,
					       .metrics = &agent->metrics,
					       .figures = &agent->figures };
	int status = agent_spool_open(settings->spool, agent->invocation, &agent->lock_fd, &error);
	if (status == 0)
		status = agent_metrics_open(&agent->metrics, settings->metrics, &error);
	if (status == 0)
		status = target_signals_take(&agent->signal_fd, &blocked, &error);
	status = status < 0 ? failure_of(agent->invocation, &error) : supervise(agent);
	agent_slices_release(&agent->slices);
	agent_metrics_close(&agent->metrics);
	return status;
}

static int run(struct invocation *invocation)
{
	struct agent agent = { .invocation = invocation, .metrics.fd = -1, .signal_fd = -1, .lock_fd = -1 };
	/* A reload that comes before the signals are read, as while the lock is waited for, is done then. */
	sigset_t reloads;
	sigemptyset(&reloads);
	sigaddset(&reloads, SIGHUP);
	sigprocmask(SIG_BLOCK, &reloads, &agent.old_signals);
	int status = agent_settings_read(&agent.settings, invocation, agent_check);
	if (status == EXIT_DONE)
		status = run_with_settings(&agent);
	agent_settings_release(&agent.settings);
	if (agent.signal_fd >= 0)
		close(agent.signal_fd);
	if (agent.lock_fd >= 0)
		close(agent.lock_fd);
	return status;
}

static const char *const usage[] = {
	"[--store URL] [--spool FOLDER] [-r RES[/INTERVAL]]... [-F HZ] [--every TIME] [OPTION]...",
	NULL,
};

static const struct command_example examples[] = {
	{ "cpprof agent --store http://db:8123/cpprof", "record this machine all the time, at a low rate" },
	{ "cpprof agent --store /var/lib/cpprof/cpprof.db --every 10m -r cpu -r blocked/100ms",
	  "into a local file, with the waiting time too" },
	{ "cpprof agent --config /etc/cpprof/agent.conf --metrics /run/cpprof/metrics",
	  "with options from a file, and figures for Prometheus" },
	{ 0 },
};

const struct command command_agent = {
	.name = "agent",
	.task = TASK_RECORD,
	.summary = "record the whole machine all the time, at a low rate, into a store",
	.usage = usage,
	.options = agent_options,
	.examples = examples,
	.words = subject_option_words,
	.exit_status = "0 after SIGTERM or ^C, which end the slice, name it and put it into the store or the spool. If "
		       "recording "
		       "cannot begin: that of record, 2 for a usage error, 1 for any other reason.",
	.argument_max = 0,
	.run = run,
};
