/*
 * docs/definitions.md, "Errors", has the formulas. In short:
 *
 * Amounts are compared: amount = total x fraction. The variance of an amount is the sum of two parts, one from the variance of the
 * fraction, one from the variance of the total.
 *
 * Single recordings show only what sampling contributes, the variance of the fraction. How much equal programs differ from run to run is
 * not known, so the user states it, or a default holds.
 *
 * Several recordings a side show both variances. The variance of the fraction is estimated with the help of all other entries
 * (statistics.h). Each part has its degrees of freedom, which add up as B. L. Welch showed (Biometrika 34 (1947), 28-35).
 */
#include "analyze/diff_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/statistics.h"

static const double TAILS = 0.05; /* of an interval of 95 % */

/* An entry is not tested if its hits are too few to reach this p, on whichever side they are (R. E. Tarone, Biometrics 46 (1990),
 * 515-522). Otherwise thousands of such entries would hide the others. */
static const double P_TO_REACH = 0.001;
/* Scaled amounts that are equal may differ by this part. */
static const double ROUNDING = 1e-9;
/* With fewer expected samples of an entry on a side, the exact test of its samples must find the difference as well. */
static const double EXPECTED_MIN = 10;

struct testing {
	struct diff_list *list;
	const uint64_t *hits;
	size_t runs;
	double freedom;      /* of variances between recordings; 0: one a side */
	double total_spread; /* variance of a recording's total as a fraction of its side's mean: measured, or stated */
	struct statistics_prior prior; /* of the variances of fractions */
	bool is_complete;              /* no recording is a sample: all of them are exact, or have every event */
	double per_sample; /* gticks of a sample, where a recording does not state them; 1 before the prior is fitted */
};

/* An entry's fractions. */
struct fractions {
	double spread;   /* variance of a recording's fraction, from the differences between recordings */
	double sampling; /* the same, as sampling alone causes it */
};

static enum diff_sides side_of(const struct diff_list *list, size_t run)
{
	return run < list->runs[DIFF_A] ? DIFF_A : DIFF_B;
}

static double amount(const struct view *view, uint64_t hits)
{
	return (double)hits * (double)view->resource->interval;
}

static double fraction(const struct view *view, uint64_t hits)
{
	return view->total ? (double)hits / (double)view->total : 0;
}

/* The gticks of an entry's hits that are compared. */
static double compared_amount(const struct diff_list *list, size_t run, uint64_t hits)
{
	const struct view *view = list->views[run];
	return list->scaled_to > 0 ? fraction(view, hits) * list->scaled_to : amount(view, hits);
}

static bool is_exact(const struct view *view)
{
	return view->resource->kind == RESOURCE_EXACT;
}

/* Returns whether the program alone decides on the amounts of a resource: its requests, its calls, and the amounts that it states depend
 * on its input and not on the machine, so that they differ between recordings only if the programs do. Page faults, waits and switches
 * differ between equal runs: the kernel's places of code and stacks and the load of the machine decide on them too. */
static bool is_of_the_program(const char *name)
{
	static const char *const names[] = { "allocs", "alloc-bytes", "syscalls", "calls", "own" };
	size_t length = strcspn(name, ":"); /* "syscalls:read" */
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strlen(names[i]) == length && strncmp(name, names[i], length) == 0)
			return true;
	return false;
}

/* Returns whether the recording was to have every event of the program. */
static bool wants_every_event(const struct view *view)
{
	const struct profile_resource *resource = view->resource;
	return resource->kind == RESOURCE_SAMPLED && resource->interval == 1 &&
	       is_of_the_program(profile_string(view->profile, resource->name));
}

static uint64_t recorded_events(const struct view *view)
{
	const struct profile *profile = view->profile;
	uint64_t hits = 0;
	for (size_t i = 0; i < profile->hit_count; i++)
		if (&profile->resources[profile->hits[i].resource] == view->resource)
			hits += profile->hits[i].count;
	return hits;
}

/* Returns whether a recording has every event of the program: each one is a hit, and none is missing from the total that was counted. */
static bool has_every_event(const struct view *view)
{
	return wants_every_event(view) && view->resource->lost == 0 && recorded_events(view) == view->resource->total;
}

uint64_t diff_lost_events(const struct view *view, uint64_t *all)
{
	if (!wants_every_event(view))
		return 0;
	uint64_t recorded = recorded_events(view), lost = view->resource->lost;
	*all = view->resource->total > recorded + lost ? view->resource->total : recorded + lost;
	return *all - recorded;
}

/* --- totals --- */

static void sum_totals(struct testing *testing)
{
	struct diff_list *list = testing->list;
	double squares = 0;
	testing->is_complete = list->has_samples = true;
	for (size_t run = 0; run < testing->runs; run++) {
		const struct view *view = list->views[run];
		list->totals[side_of(list, run)] += amount(view, view->total);
		testing->is_complete = testing->is_complete && (is_exact(view) || has_every_event(view));
		list->has_samples = list->has_samples && view->resource->kind != RESOURCE_SUMS;
	}
	list->is_exact = testing->is_complete;
	for (int side = DIFF_A; side <= DIFF_B; side++)
		list->totals[side] /= (double)list->runs[side];
	for (size_t run = 0; run < testing->runs; run++) {
		double mean = list->totals[side_of(list, run)];
		double ratio = mean > 0 ? amount(list->views[run], list->views[run]->total) / mean : 1;
		squares += (ratio - 1) * (ratio - 1);
	}
	if (testing->freedom > 0 || list->is_exact || !list->has_samples || list->scaled_to > 0)
		list->spread = NAN;
	testing->total_spread = testing->freedom > 0  ? squares / testing->freedom
				: isnan(list->spread) ? 0
						      : list->spread * list->spread;
}

static void set_total_error(const struct testing *testing)
{
	struct diff_list *list = testing->list;
	bool is_known = testing->freedom > 0 || !isnan(list->spread);
	double ratio = list->totals[DIFF_A] > 0 ? list->totals[DIFF_B] / list->totals[DIFF_A] : NAN;
	double error = sqrt(testing->total_spread * (1 / (double)list->runs[DIFF_A] + 1 / (double)list->runs[DIFF_B]));
	double freedom = testing->freedom > 0 ? testing->freedom : INFINITY;
	list->total_error = is_known ? ratio * error * statistics_student_quantile(TAILS, freedom) : NAN;
}

double diff_total_change(const struct diff_list *list)
{
	return list->totals[DIFF_A] > 0 ? list->totals[DIFF_B] / list->totals[DIFF_A] - 1 : NAN;
}

/* --- entries --- */

static const uint64_t *hits_of(const struct testing *testing, const struct diff_entry *entry)
{
	return testing->hits + (size_t)entry->path.node * testing->runs;
}

static void sum_entry(const struct testing *testing, struct diff_entry *entry)
{
	const struct diff_list *list = testing->list;
	const uint64_t *hits = hits_of(testing, entry);
	for (size_t run = 0; run < testing->runs; run++) {
		enum diff_sides side = side_of(list, run);
		entry->hits[side] += hits[run];
		entry->fraction[side] += fraction(list->views[run], hits[run]);
		entry->gticks[side] += compared_amount(list, run, hits[run]);
	}
	for (int side = DIFF_A; side <= DIFF_B; side++) {
		entry->fraction[side] /= (double)list->runs[side];
		entry->gticks[side] /= (double)list->runs[side];
	}
	entry->error = NAN;
	entry->p = NAN;
}

/* The samples that an entry has, and those that a side takes of each gtick that is compared: one of each interval, unless hits are
 * unequal. Equal amounts have samples in proportion to these rates. */
struct samples {
	double own[DIFF_SIDES], rate[DIFF_SIDES];
};

/* Returns the number of samples of a recording. Each gtick of an exact recording counts as one. */
static double independent_of(const struct testing *testing, const struct view *view)
{
	if (is_exact(view))
		return (double)view->total;
	return testing->list->has_samples ? view->independent : amount(view, view->total) / testing->per_sample;
}

static double rate_of(const struct testing *testing, const struct view *view)
{
	const struct diff_list *list = testing->list;
	double total = list->scaled_to > 0 ? list->scaled_to : amount(view, view->total);
	return view->total > 0 ? independent_of(testing, view) / total : 1 / (double)view->resource->interval;
}

static struct samples samples_of(const struct testing *testing, const struct diff_entry *entry)
{
	const struct diff_list *list = testing->list;
	const uint64_t *hits = hits_of(testing, entry);
	struct samples samples = { 0 };
	for (size_t run = 0; run < testing->runs; run++) {
		const struct view *view = list->views[run];
		samples.own[side_of(list, run)] += fraction(view, hits[run]) * independent_of(testing, view);
		samples.rate[side_of(list, run)] += rate_of(testing, view);
	}
	return samples;
}

/* Returns the part of an entry's samples that is expected on a side if its amounts are equal. */
static double expected_part(const struct samples *samples, enum diff_sides side)
{
	return samples->rate[side] / (samples->rate[DIFF_A] + samples->rate[DIFF_B]);
}

static double smaller_part(const struct samples *samples)
{
	return fmin(expected_part(samples, DIFF_A), expected_part(samples, DIFF_B));
}

static bool has_enough_hits(const struct testing *testing, const struct diff_entry *entry)
{
	if (testing->list->is_exact)
		return true;
	struct samples samples = samples_of(testing, entry);
	double least = smaller_part(&samples);
	return least > 0 && pow(least, samples.own[DIFF_A] + samples.own[DIFF_B]) <= P_TO_REACH;
}

/* Returns the variance of the change between single recordings. */
static double single_variance(const struct testing *testing, const struct diff_entry *entry)
{
	const struct diff_list *list = testing->list;
	double variance = 0;
	for (int side = DIFF_A; side <= DIFF_B; side++) {
		double total = list->scaled_to > 0 ? list->scaled_to : list->totals[side];
		double samples = list->views[side]->independent, part = entry->fraction[side];
		double of_fraction = samples > 0 ? part * (1 - part) / samples : 0;
		variance +=
			total * total * of_fraction + testing->total_spread * entry->gticks[side] * entry->gticks[side];
	}
	return variance;
}

static void test_single(const struct testing *testing, struct diff_entry *entry)
{
	if (testing->list->is_exact || !testing->list->has_samples)
		return;
	double change = entry->gticks[DIFF_B] - entry->gticks[DIFF_A];
	double deviation = sqrt(single_variance(testing, entry));
	entry->error = deviation * statistics_student_quantile(TAILS, INFINITY);
	entry->z = deviation > 0 ? change / deviation : 0;
	if (!has_enough_hits(testing, entry))
		return;
	struct samples samples = samples_of(testing, entry);
	double own = samples.own[DIFF_A] + samples.own[DIFF_B];
	entry->p = deviation > 0 ? statistics_normal_tails(entry->z) : change == 0;
	if (own * smaller_part(&samples) < EXPECTED_MIN)
		entry->p = fmax(entry->p,
				statistics_binomial_tails(samples.own[DIFF_B], own, expected_part(&samples, DIFF_B)));
}

static struct fractions fractions_of(const struct testing *testing, const struct diff_entry *entry)
{
	const struct diff_list *list = testing->list;
	const uint64_t *hits = hits_of(testing, entry);
	struct fractions of = { 0 };
	for (size_t run = 0; run < testing->runs; run++) {
		double mean = entry->fraction[side_of(list, run)];
		double off = fraction(list->views[run], hits[run]) - mean;
		double samples = testing->is_complete ? 0 : independent_of(testing, list->views[run]);
		of.spread += off * off / testing->freedom;
		of.sampling += samples > 0 ? mean * (1 - mean) / samples / (double)testing->runs : 0;
	}
	return of;
}

/* Fits the prior to the entries that have enough hits. Sampling alone makes the ratios scatter around 1 or less; around the gticks of a
 * sample if each gtick counts as one because the number of samples is not known. */
static int fit_prior(struct testing *testing)
{
	const struct diff_list *list = testing->list;
	double *ratios = malloc((list->count + 1) * sizeof(*ratios));
	size_t count = 0;
	if (!ratios)
		return ERROR_MEMORY;
	for (size_t i = 0; i < list->count; i++) {
		struct fractions of = fractions_of(testing, &list->entries[i]);
		if (has_enough_hits(testing, &list->entries[i]) && of.sampling > 0)
			ratios[count++] = of.spread / of.sampling;
	}
	testing->prior = statistics_fit(ratios, count, testing->freedom);
	testing->prior.ratio = fmax(testing->prior.ratio, 1);
	if (!list->has_samples) {
		testing->per_sample = testing->prior.ratio;
		testing->prior.ratio = 1;
	}
	free(ratios);
	return 0;
}

/* A variance and its degrees of freedom. */
struct variance {
	double value, freedom;
};

static struct variance fraction_variance(const struct testing *testing, const struct diff_entry *entry)
{
	struct fractions of = fractions_of(testing, entry);
	const struct statistics_prior *prior = &testing->prior;
	double expected = prior->ratio * of.sampling;
	if (of.sampling <= 0)
		return (struct variance){ of.spread, testing->freedom };
	if (isinf(prior->freedom))
		return (struct variance){ expected, INFINITY };
	double freedom = prior->freedom + testing->freedom;
	return (struct variance){ (prior->freedom * expected + testing->freedom * of.spread) / freedom, freedom };
}

static void test_several(const struct testing *testing, struct diff_entry *entry)
{
	const struct diff_list *list = testing->list;
	struct variance by_fraction = fraction_variance(testing, entry);
	double amounts = 0, totals = 0; /* the sums of squares that multiply the two variances */
	for (int side = DIFF_A; side <= DIFF_B; side++) {
		double count = (double)list->runs[side];
		double total = list->scaled_to > 0 ? list->scaled_to : list->totals[side];
		totals += total * total / count;
		amounts += entry->gticks[side] * entry->gticks[side] / count;
	}
	double a = by_fraction.value * totals, b = list->scaled_to > 0 ? 0 : testing->total_spread * amounts;
	double change = entry->gticks[DIFF_B] - entry->gticks[DIFF_A];
	double error = sqrt(a + b);
	if (!(error > 0)) {
		entry->error = 0;
		entry->p = fabs(change) > ROUNDING * entry->gticks[DIFF_A] ? 0 : 1;
		return;
	}
	double freedom = (a + b) * (a + b) / (a * a / by_fraction.freedom + b * b / testing->freedom);
	entry->z = change / error;
	entry->error = error * statistics_student_quantile(TAILS, freedom);
	if (has_enough_hits(testing, entry))
		entry->p = statistics_student_tails(entry->z, freedom);
}

int diff_test(struct diff_list *list, const uint64_t *hits)
{
	struct testing testing = {
		.list = list, .hits = hits, .runs = list->runs[DIFF_A] + list->runs[DIFF_B], .per_sample = 1
	};
	testing.freedom = (double)testing.runs - DIFF_SIDES;
	sum_totals(&testing);
	set_total_error(&testing);
	for (size_t i = 0; i < list->count; i++)
		sum_entry(&testing, &list->entries[i]);
	int result = testing.freedom > 0 ? fit_prior(&testing) : 0;
	for (size_t i = 0; i < list->count && result == 0; i++) {
		if (testing.freedom > 0)
			test_several(&testing, &list->entries[i]);
		else
			test_single(&testing, &list->entries[i]);
	}
	return result;
}

/* --- marks --- */

int diff_mark(struct diff_list *const *lists, size_t count, double chance)
{
	size_t all = 0, tested = 0;
	for (size_t i = 0; i < count; i++)
		all += lists[i]->count;
	double *p = malloc((all + 1) * sizeof(*p));
	if (!p)
		return ERROR_MEMORY;
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < lists[i]->count; k++)
			if (!isnan(lists[i]->entries[k].p))
				p[tested++] = lists[i]->entries[k].p;
	double limit = statistics_false_discovery_limit(p, tested, chance);
	free(p);
	for (size_t i = 0; i < count; i++) {
		lists[i]->chance = chance;
		for (size_t k = 0; k < lists[i]->count; k++) {
			struct diff_entry *entry = &lists[i]->entries[k];
			bool differs = lists[i]->is_exact && entry->gticks[DIFF_A] != entry->gticks[DIFF_B];
			entry->significant = isnan(entry->p) ? differs : entry->p <= limit;
		}
	}
	return 0;
}

size_t diff_gate(struct diff_list *list, double limit, double threshold)
{
	size_t count = 0;
	for (size_t i = 0; i < list->count; i++) {
		struct diff_entry *entry = &list->entries[i];
		bool is_shown = fmax(entry->fraction[DIFF_A], entry->fraction[DIFF_B]) >= threshold;
		entry->exceeds =
			is_shown && entry->significant && entry->gticks[DIFF_B] > entry->gticks[DIFF_A] * (1 + limit);
		count += entry->exceeds;
	}
	return count;
}

void diff_keep_exceeding(struct diff_list *list)
{
	size_t kept = 0;
	for (size_t i = 0; i < list->count; i++)
		if (list->entries[i].exceeds)
			list->entries[kept++] = list->entries[i];
	list->count = kept;
}
