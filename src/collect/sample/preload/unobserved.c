#include "collect/sample/preload/unobserved.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "collect/sample/state/proc.h"

/* --- the kernel's accounts --- */

static bool read_amounts(const char *path, struct channel_amounts *amounts)
{
	uint64_t read, written, read_calls, write_calls;
	FILE *file = fopen(path, "re"); /* NULL also if it is another user's, or the kernel keeps none */
	bool was_read = file && fscanf(file, "rchar: %" SCNu64 " wchar: %" SCNu64 " syscr: %" SCNu64 " syscw: %" SCNu64,
				       &read, &written, &read_calls, &write_calls) == 4;
	if (was_read)
		*amounts = (struct channel_amounts){ read, written, read_calls + write_calls };
	if (file)
		fclose(file);
	return was_read;
}

bool preload_state_read(struct preload_state *state, uint32_t pid)
{
	char all[64], main[64];
	snprintf(all, sizeof(all), "/proc/%" PRIu32 "/io", pid);
	snprintf(main, sizeof(main), "/proc/%" PRIu32 "/task/%" PRIu32 "/io", pid, pid);
	/* The children last, so that a child that is waited for meanwhile is not overlooked: there is no child without
	 * page faults. */
	return read_amounts(all, &state->all) && read_amounts(main, &state->main) &&
	       proc_stat_read(pid, PROC_STAT_CHILD_FAULTS, &state->child_faults);
}

void preload_account_begin(struct preload_account *account, uint32_t pid)
{
	struct preload_state before;
	*account = (struct preload_account){ 0 };
	account->is_kept = preload_state_read(&before, pid) && preload_state_read(&account->begin, pid);
	/* If the process waited for a child between the two readings, its child_faults now differ from
	 * these for all time, and it counts as a process with children. */
	account->begin.child_faults = before.child_faults;
}

void preload_account_begin_forked(struct preload_account *account)
{
	*account = (struct preload_account){ .is_kept = true };
}

/* --- comparing --- */

static struct channel_amounts since(const struct channel_amounts *now, const struct channel_amounts *then)
{
	return (struct channel_amounts){ now->read - then->read, now->written - then->written,
					 now->calls - then->calls };
}

static void compare(struct preload_account *account, const struct preload_state *state, const struct preload_seen *seen)
{
	const struct preload_state *begin = &account->begin;
	bool alone = state->child_faults == begin->child_faults;
	struct channel_amounts accounted = alone ? since(&state->all, &begin->all) : since(&state->main, &begin->main);
	/* An earlier account of all threads is better than a later one of the first thread that has fewer
	 * calls. */
	if (accounted.calls < account->accounted.calls)
		return;
	account->accounted = accounted;
	account->unobserved = preload_unobserved_of(&accounted, alone ? &seen->all.filed : &seen->main.filed);
}

void preload_account_update(struct preload_account *account, const struct preload_state *state,
			    const struct preload_seen *seen)
{
	if (account->has_looked)
		compare(account, &account->looked, seen);
	account->looked = *state;
	account->has_looked = true;
}

void preload_account_close(struct preload_account *account, const struct preload_state *state,
			   const struct preload_seen *seen)
{
	compare(account, state, seen);
	account->is_kept = false;
}

/* --- sums --- */

static void add_amounts(struct channel_amounts *sum, const struct channel_amounts *more)
{
	sum->read += more->read;
	sum->written += more->written;
	sum->calls += more->calls;
}

void preload_moved_add(struct channel_moved *sum, const struct channel_moved *more)
{
	add_amounts(&sum->filed, &more->filed);
	add_amounts(&sum->others, &more->others);
}

static uint64_t missing(uint64_t seen, uint64_t accounted)
{
	return accounted > seen ? accounted - seen : 0;
}

struct channel_amounts preload_unobserved_of(const struct channel_amounts *accounted,
					     const struct channel_amounts *seen)
{
	return (struct channel_amounts){ missing(seen->read, accounted->read),
					 missing(seen->written, accounted->written),
					 missing(seen->calls, accounted->calls) };
}

void preload_unobserved_add_seen(struct preload_unobserved *sum, const struct channel_moved *seen)
{
	add_amounts(&sum->seen, &seen->filed);
	add_amounts(&sum->seen, &seen->others);
}

/* Leaves out small amounts, so that those of many processes do not add up: a few lines of the program's
 * own, and the files that the C library reads when it begins. Names of locales and users, and of where to
 * find them, are 5 KB in a small environment. */
void preload_unobserved_add_account(struct preload_unobserved *sum, const struct preload_account *account)
{
	enum { LEAST_BYTES = 8192, LEAST_CALLS = 20 };
	const struct channel_amounts *unobserved = &account->unobserved;
	const struct channel_amounts worth = { unobserved->read >= LEAST_BYTES ? unobserved->read : 0,
					       unobserved->written >= LEAST_BYTES ? unobserved->written : 0,
					       unobserved->calls >= LEAST_CALLS ? unobserved->calls : 0 };
	add_amounts(&sum->unobserved, &worth);
}

/* --- the finding --- */

enum amount { READ = 1, WRITTEN = 2, CALLS = 4 };

/* Returns the amounts that a counter counts: enum amount, or-ed. */
static unsigned amounts_of(enum counter counter)
{
	switch (counter) {
	case COUNTER_READ:
	case COUNTER_READ_REQUESTED:
		return READ;
	case COUNTER_WRITTEN:
	case COUNTER_WRITE_REQUESTED:
		return WRITTEN;
	case COUNTER_TRANSFERRED:
	case COUNTER_TRANSFER_REQUESTED:
		return READ | WRITTEN;
	case COUNTER_IO_CALLS:
		return CALLS;
	default:
		return 0;
	}
}

static double sum_of(const struct channel_amounts *amounts, unsigned which)
{
	return (which & READ ? (double)amounts->read : 0) + (which & WRITTEN ? (double)amounts->written : 0) +
	       (which & CALLS ? (double)amounts->calls : 0);
}

bool preload_unobserved_concerns(enum counter counter)
{
	return amounts_of(counter) != 0;
}

double preload_unobserved_share(const struct preload_unobserved *unobserved, enum counter counter)
{
	static const double least_bytes = 8192, least_calls = 100, least_share = 0.05;
	const unsigned which = amounts_of(counter);
	double missing = sum_of(&unobserved->unobserved, which);
	if (missing < (which == CALLS ? least_calls : least_bytes))
		return 0;
	double share = missing / (missing + sum_of(&unobserved->seen, which));
	return share < least_share ? 0 : share;
}

bool preload_unobserved_text(const struct preload_unobserved *unobserved, enum counter counter, char *text,
			     size_t bytes)
{
	static const char *const names[] = { [READ] = "bytes read",
					     [WRITTEN] = "bytes written",
					     [READ | WRITTEN] = "bytes read and written",
					     [CALLS] = "calls that read and write" };
	const double percent = 100;
	double share = preload_unobserved_share(unobserved, counter);
	if (share > 0)
		snprintf(text, bytes, "%.0f %% of the %s", share * percent, names[amounts_of(counter)]);
	return share > 0;
}
