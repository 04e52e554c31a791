/* Profiles that follow each other: the newest takes the place of the shown profile, and the user's choices are carried over. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/copy.h"
#include "profile/quality.h"
#include "ui/browse/browse.h"
#include "ui/browse/browser.h"

/* --- the selection in the newer profile --- */

/* Returns the process in the newer profile. One that has no samples there is added, so that it stays chosen. */
static int64_t carry_process(struct profile *to, const struct profile *from, uint32_t process)
{
	const struct profile_process row = from->processes[process];
	for (size_t i = 0; i < to->process_count; i++)
		if (to->processes[i].pid == row.pid && to->processes[i].start_ns == row.start_ns)
			return (int64_t)i;
	return profile_copy_process(to, from, row);
}

static int64_t carry_thread(struct profile *to, const struct profile *from, uint32_t thread)
{
	struct profile_thread row = from->threads[thread];
	int64_t process = carry_process(to, from, row.process);
	for (size_t i = 0; process >= 0 && i < to->thread_count; i++)
		if (to->threads[i].tid == row.tid && to->threads[i].process == process)
			return (int64_t)i;
	row.process = (uint32_t)process;
	return process < 0 ? process : profile_copy_thread(to, from, row);
}

/* Carries the chosen processes over. Returns the array of the newer profile, or NULL: all are chosen, or memory ran out, and
 * *status is set. */
static bool *carry_processes(struct profile *to, const struct profile *from, const bool *chosen, int *status)
{
	*status = 0;
	for (uint32_t i = 0; chosen && i < from->process_count && *status == 0; i++) {
		int64_t carried = chosen[i] ? carry_process(to, from, i) : 0;
		*status = carried < 0 ? (int)carried : 0;
	}
	bool *carried = chosen && *status == 0 ? calloc(to->process_count + 1, sizeof(*carried)) : NULL;
	if (chosen && !carried)
		*status = ERROR_MEMORY;
	for (uint32_t i = 0; carried && i < from->process_count; i++)
		if (chosen[i])
			carried[carry_process(to, from, i)] = true; /* it is there now */
	return carried;
}

static int carry_selection(struct browser *browser, struct profile *to)
{
	const struct profile *from = browser->profiles[0];
	struct view_options *selection = &browser->settings[0].view;
	int status = 0;
	int64_t thread = selection->thread;
	if (thread != VIEW_ANY)
		thread = carry_thread(to, from, selection->thread);
	/* Nothing is added to the tables behind this. */
	bool *processes = thread < 0 ? NULL : carry_processes(to, from, selection->processes, &status);
	if (thread < 0 || status < 0)
		return thread < 0 ? (int)thread : status;
	selection->thread = (uint32_t)thread;
	free(browser->settings[0].processes);
	selection->processes = browser->settings[0].processes = processes;
	return 0;
}

/* --- the newest profile --- */

/* Shows a profile in the place of the present one, which is released. Takes `newer` in any case. */
static int replace(struct browser *browser, struct profile *newer, struct error *error)
{
	struct profile *older = browser->fed;
	const uint64_t since_ns = older->end_ns;
	struct view_cache views = browser->views[0];
	int status = carry_selection(browser, newer);
	if (status < 0) {
		profile_free(newer);
		return error_set(error, status, "out of memory");
	}
	browser->profiles[0] = browser->fed = newer;
	browser->views[0] = (struct view_cache){ 0 };
	transforms_forget(browser->settings[0].view.transforms);
	browser->since_ns = since_ns;
	status = browser_follow(browser, error);
	if (status < 0) /* the screen shows the older profile, which ends here */
		browser_release_screens(browser);
	view_cache_release(&views);
	profile_free(older);
	return status;
}

int live_refresh(struct browser *browser, struct error *error)
{
	const struct browse_feed *feed = browser->feed;
	char warning[BROWSER_MESSAGE];
	struct profile *newer = feed->take(feed->context);
	browser->has_ended = feed->state(feed->context, warning, sizeof(warning));
	if (warning[0])
		browser_set_message(browser, "%s", warning);
	return newer ? replace(browser, newer, error) : 0;
}

static bool is_cpu_time(const struct profile *profile, uint32_t resource)
{
	static const char *const names[] = { "cpu", "user", "sys" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(profile_string(profile, profile->resources[resource].name), names[i]) == 0)
			return true;
	return false;
}

double live_recent(const struct browser *browser, const struct view_options *selection, struct view_options *recent)
{
	static const double percent = 100;
	const struct profile *profile = browser->profiles[0];
	if (!browser->feed || !is_cpu_time(profile, selection->resource))
		return 0;
	uint64_t from_ns = browser->since_ns > profile->start_ns ? browser->since_ns - profile->start_ns : 0;
	uint64_t covered_ns = profile->end_ns - profile->start_ns;
	*recent = *selection;
	recent->from_ns = selection->from_ns > from_ns ? selection->from_ns : from_ns;
	uint64_t to_ns = selection->to_ns > 0 && selection->to_ns < covered_ns ? selection->to_ns : covered_ns;
	if (recent->from_ns >= to_ns)
		return 0;
	return percent * (double)profile->resources[selection->resource].interval / (double)(to_ns - recent->from_ns);
}

void live_status(const struct browser *browser, char *status, size_t bytes)
{
	const struct profile *profile = browser->profiles[0];
	const struct quality quality = quality_of(profile);
	const double ns_per_s = 1e9;
	double covered = (double)(profile->end_ns - profile->start_ns) / ns_per_s;
	size_t used = strlen(status);
	/* The window is shorter at first, and if it would have too many hits. */
	bool is_full = covered > browser->feed->window_s * 0.95;
	used += (size_t)snprintf(status + used, bytes - used, is_full ? ", last %.3g s" : ", last %.1f s",
				 is_full ? browser->feed->window_s : covered);
	if (used < bytes && profile->lost > 0)
		used += (size_t)snprintf(status + used, bytes - used, "  %llu lost", (unsigned long long)profile->lost);
	if (used < bytes && quality.broken > 0)
		used += (size_t)snprintf(status + used, bytes - used, "  %.1f %% broken",
					 quality_shares_of(&quality).broken);
	if (used < bytes && (browser->is_frozen || browser->has_ended))
		snprintf(status + used, bytes - used, "  %s", browser->is_frozen ? "FROZEN" : "ENDED");
}
