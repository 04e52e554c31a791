#include "collect/live/namer.h"

/* At first, and after a time without searches, so much CPU time may be used at once. */
static const double CREDIT_MOST_NS = 500e6, CREDIT_FOR_ALL_NS = 250e6;
/* The share of one processor for searching names: 0.5 %, and up to 20 % more if all hits are
 * without a name. That much more lasts until it was EXTRA_MOST_NS: where new programs start all
 * the time, there are always hits without a name. A tenth of the hits gets nothing more, because
 * most of the screen has names then. */
static const double SHARE = 0.005, SHARE_FOR_UNKNOWN = 0.2, EXTRA_MOST_NS = 2e9, UNKNOWN_TOLERATED = 0.1;
/* A file with fewer of the hits is hardly seen on the screen. */
enum { SHARE_OF_HITS = 100 };

void naming_budget_init(struct naming_budget *budget)
{
	*budget = (struct naming_budget){ .credit_ns = CREDIT_MOST_NS, .extra_ns = EXTRA_MOST_NS };
}

void naming_budget_grant(struct naming_budget *budget, const struct name_cache_lack *lack, uint64_t now_ns)
{
	double passed_ns = budget->credited_ns ? (double)(now_ns - budget->credited_ns) : 0;
	double unknown = lack->all_hits ? (double)lack->hits / (double)lack->all_hits : 0;
	double above = unknown > UNKNOWN_TOLERATED ? (unknown - UNKNOWN_TOLERATED) / (1 - UNKNOWN_TOLERATED) : 0;
	double extra_ns = passed_ns * SHARE_FOR_UNKNOWN * above;
	if (extra_ns > budget->extra_ns)
		extra_ns = budget->extra_ns;
	budget->extra_ns -= extra_ns;
	budget->credit_ns += passed_ns * SHARE + extra_ns;
	if (budget->credit_ns > CREDIT_MOST_NS)
		budget->credit_ns = CREDIT_MOST_NS;
	budget->credited_ns = now_ns;
}

void naming_budget_use(struct naming_budget *budget, uint64_t cpu_ns)
{
	budget->credit_ns -= (double)cpu_ns;
}

bool naming_budget_permits(const struct naming_budget *budget, const struct name_cache_lack *lack, uint64_t *hits_min)
{
	*hits_min = budget->credit_ns >= CREDIT_FOR_ALL_NS ? 0 : (lack->all_hits + SHARE_OF_HITS - 1) / SHARE_OF_HITS;
	if (budget->credit_ns <= 0 || lack->locations == 0)
		return false;
	return *hits_min == 0 || lack->most_hits >= *hits_min;
}
