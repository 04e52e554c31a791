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
 * (statistics.h), and is at least what sampling contributes. Each part has its degrees of freedom, which add up as B. L. Welch showed
 * (Biometrika 34 (1947), 28-35).
 *
 * Numbers of samples are not normal if they are few: their distribution is skewed, and Student's t finds a difference too often. An exact
 * test of the samples has to find it as well: the samples of B, among the samples of both sides, are binomial (J. Przyborowski and
 * H. Wilenski, Biometrika 31 (1940), 313-323). The samples are first divided by the design effect, which is the variance of the change
 * as a multiple of the variance that independent samples have (J. N. K. Rao and A. J. Scott, Biometrics 48 (1992), 577-585), so that this test,
 * too, includes what differs between recordings.
 */
#include "analyze/diff_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/statistics.h"
#include "base/time_unit.h"
#include "profile/findings.h"

static const double TAILS = 0.05; /* of an interval of 95 % */

/* An entry is not tested if its hits are too few to reach this p, on whichever side they are (R. E. Tarone, Biometrics 46 (1990),
 * 515-522). Otherwise thousands of such entries would hide the others. */
static const double P_TO_REACH = 0.001;
/* Scaled amounts that are equal may differ by this part. */
static const double ROUNDING = 1e-9;
/* With fewer expected samples of an entry on a side, each sample counts as an independent one, at most. */
static const double EXPECTED_FEW = 10;
/* With as many expected samples as this on both sides, divided by the design effect, the exact test agrees with the normal one: 4.5 standard
 * deviations from the mean, the probabilities differ by a factor of 1.6. */
static const double EXPECTED_MANY = 1000;

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
	double counting; /* the same, if the total were not known: of independent samples of the entry alone */
};

/* Returns a difference of equal numbers as 0: their mean is rounded. */
static double without_rounding(double difference, double mean)
{
	return fabs(difference) > ROUNDING * fabs(mean) ? difference : 0;
}

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

/* Returns whether the program alone decides on the amounts of a resource with this name, if they are no times: its requests, its calls, and
 * the amounts that it states depend on its input and not on the machine, so that they differ between recordings only if the programs do. Page
 * faults, waits and switches differ between equal runs: the kernel's places of code and stacks and the load of the machine decide on them too. */
static bool is_name_of_the_program(const char *name)
{
	static const char *const names[] = { "allocs", "alloc-bytes", "syscalls", "calls", "own" };
	size_t length = strcspn(name, ":"); /* "syscalls:read" */
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strlen(names[i]) == length && strncmp(name, names[i], length) == 0)
			return true;
	return false;
}

/* Exact amounts are of the program, unless they are times. */
static bool is_of_the_program(const struct view *view)
{
	const struct profile_resource *resource = view->resource;
	return time_unit_ns(profile_string(view->profile, resource->unit)) == 0 &&
	       (is_exact(view) || is_name_of_the_program(profile_string(view->profile, resource->name)));
}

/* Returns whether the recording was to have every event of the program. */
static bool wants_every_event(const struct view *view)
{
	const struct profile_resource *resource = view->resource;
	return resource->kind == RESOURCE_SAMPLED && resource->interval == 1 && is_of_the_program(view);
}

const struct profile_finding *diff_missing_part(const struct view *view)
{
	if (!wants_every_event(view) && !(is_exact(view) && is_of_the_program(view)))
		return NULL;
	static const enum finding_code codes[] = {
		FINDING_PART_OF_RUN,
		FINDING_PROCESSES_STILL_RUNNING,
		FINDING_COMMAND_KILLED,
		FINDING_PROCESSES_UNENDED,
		FINDING_PROCESSES_NOT_RECORDED,
		FINDING_THREADS_NOT_RECORDED,
		FINDING_THREADS_CUT_SHORT,
		FINDING_UNSAMPLED,
		FINDING_CALLS_UNCOUNTED,
		FINDING_TALLY_CUT,
	};
	const struct profile_finding *found = NULL;
	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes) && !found; i++)
		found = finding_find(view->profile, codes[i]);
	return found;
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

/* Returns whether a recording has every event of the program: it has the whole run, each event is a hit, and none is missing from the total
 * that was counted. */
static bool has_every_event(const struct view *view)
{
	return wants_every_event(view) && !diff_missing_part(view) && view->resource->lost == 0 &&
	       recorded_events(view) == view->resource->total;
}

/* Returns whether another recording of the same program would have the same amounts. */
static bool is_repeatable(const struct view *view)
{
	return has_every_event(view) || (is_exact(view) && is_of_the_program(view) && !diff_missing_part(view));
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
	testing->is_complete = list->has_samples = list->is_repeatable = true;
	for (size_t run = 0; run < testing->runs; run++) {
		const struct view *view = list->views[run];
		list->totals[side_of(list, run)] += amount(view, view->total);
		testing->is_complete = testing->is_complete && (is_exact(view) || has_every_event(view));
		list->has_samples = list->has_samples && view->resource->kind != RESOURCE_SUMS;
		list->is_repeatable = list->is_repeatable && is_repeatable(view);
	}
	list->is_exact = testing->is_complete;
	for (int side = DIFF_A; side <= DIFF_B; side++)
		list->totals[side] /= (double)list->runs[side];
	for (size_t run = 0; run < testing->runs; run++) {
		double mean = list->totals[side_of(list, run)];
		double ratio = mean > 0 ? amount(list->views[run], list->views[run]->total) / mean : 1;
		double off = without_rounding(ratio - 1, 1);
		squares += off * off;
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

/* Returns the total of a side's recordings, as it is compared. */
static double compared_total(const struct diff_list *list, enum diff_sides side)
{
	return list->scaled_to > 0 ? list->scaled_to : list->totals[side];
}

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

/* The samples that an entry has, those of all entries, and those that a side takes of each gtick that is compared: one of each interval,
 * unless hits are unequal. Equal amounts have samples in proportion to these rates. */
struct samples {
	double own[DIFF_SIDES], all[DIFF_SIDES], rate[DIFF_SIDES];
	bool is_rest; /* `own` is what the entry does not have */
};

static double both(const double sides[DIFF_SIDES])
{
	return sides[DIFF_A] + sides[DIFF_B];
}

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

/* Where shares are compared, the entry's share changes by as much as the share of the rest: the rarer one of both is counted. */
static struct samples samples_of(const struct testing *testing, const struct diff_entry *entry)
{
	const struct diff_list *list = testing->list;
	const uint64_t *hits = hits_of(testing, entry);
	struct samples samples = { 0 };
	for (size_t run = 0; run < testing->runs; run++) {
		const struct view *view = list->views[run];
		double independent = independent_of(testing, view);
		samples.own[side_of(list, run)] += fraction(view, hits[run]) * independent;
		samples.all[side_of(list, run)] += independent;
		samples.rate[side_of(list, run)] += rate_of(testing, view);
	}
	samples.is_rest = list->scaled_to > 0 && both(samples.own) > both(samples.all) / 2;
	for (int side = DIFF_A; side <= DIFF_B && samples.is_rest; side++)
		samples.own[side] = samples.all[side] - samples.own[side];
	return samples;
}

/* Returns the part of an entry's samples that is expected on a side if its amounts are equal. */
static double expected_part(const struct samples *samples, enum diff_sides side)
{
	return samples->rate[side] / both(samples->rate);
}

static double smaller_part(const struct samples *samples)
{
	return fmin(expected_part(samples, DIFF_A), expected_part(samples, DIFF_B));
}

static bool has_enough_hits(const struct testing *testing, const struct samples *samples)
{
	double least = smaller_part(samples);
	return testing->list->is_exact || (least > 0 && pow(least, both(samples->own)) <= P_TO_REACH);
}

/* Returns what sampling contributes to the variance of the change, from the samples of each side alone. */
static double sampling_variance(const struct testing *testing, const struct diff_entry *entry,
				const struct samples *samples)
{
	double variance = 0;
	for (int side = DIFF_A; side <= DIFF_B && !testing->is_complete; side++) {
		double total = compared_total(testing->list, side), part = entry->fraction[side];
		if (samples->all[side] > 0)
			variance += total * total * part * (1 - part) / samples->all[side];
	}
	return variance;
}

/* Returns the probability of so unequal numbers of samples between equal programs. `design`: their design effect, for which sampling
 * without the samples of other entries sets a limit. */
static double exact_tails(const struct samples *samples, double design)
{
	double own = both(samples->own), least = smaller_part(samples);
	double limit = own * least < EXPECTED_FEW ? 1 : 1 - own / both(samples->all);
	design = fmax(design, limit);
	if (!(own * least < EXPECTED_MANY * design))
		return 0;
	return statistics_binomial_tails(samples->own[DIFF_B] / design, own / design, expected_part(samples, DIFF_B));
}

static void test_single(const struct testing *testing, struct diff_entry *entry)
{
	if (testing->list->is_exact || !testing->list->has_samples)
		return;
	struct samples samples = samples_of(testing, entry);
	double change = entry->gticks[DIFF_B] - entry->gticks[DIFF_A];
	double variance = sampling_variance(testing, entry, &samples);
	for (int side = DIFF_A; side <= DIFF_B; side++)
		variance += testing->total_spread * entry->gticks[side] * entry->gticks[side];
	double deviation = sqrt(variance);
	entry->error = deviation * statistics_student_quantile(TAILS, INFINITY);
	entry->z = deviation > 0 ? change / deviation : 0;
	if (!has_enough_hits(testing, &samples))
		return;
	entry->p = deviation > 0 ? statistics_normal_tails(entry->z) : change == 0;
	if (both(samples.own) * smaller_part(&samples) < EXPECTED_FEW)
		entry->p = fmax(entry->p, exact_tails(&samples, 1));
}

static struct fractions fractions_of(const struct testing *testing, const struct diff_entry *entry, bool is_rest)
{
	const struct diff_list *list = testing->list;
	const uint64_t *hits = hits_of(testing, entry);
	struct fractions of = { 0 };
	for (size_t run = 0; run < testing->runs; run++) {
		double mean = entry->fraction[side_of(list, run)];
		double off = without_rounding(fraction(list->views[run], hits[run]) - mean, mean);
		double samples = testing->is_complete ? 0 : independent_of(testing, list->views[run]);
		of.spread += off * off / testing->freedom;
		if (samples > 0) {
			of.sampling += mean * (1 - mean) / samples / (double)testing->runs;
			of.counting += (is_rest ? 1 - mean : mean) / samples / (double)testing->runs;
		}
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
		struct samples samples = samples_of(testing, &list->entries[i]);
		struct fractions of = fractions_of(testing, &list->entries[i], samples.is_rest);
		if (has_enough_hits(testing, &samples) && of.sampling > 0)
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

static struct variance fraction_variance(const struct testing *testing, const struct fractions *of)
{
	const struct statistics_prior *prior = &testing->prior;
	double expected = prior->ratio * of->sampling;
	if (of->sampling <= 0)
		return (struct variance){ of->spread, testing->freedom };
	if (isinf(prior->freedom))
		return (struct variance){ expected, INFINITY };
	double freedom = prior->freedom + testing->freedom;
	double value = (prior->freedom * expected + testing->freedom * of->spread) / freedom;
	return (struct variance){ fmax(value, of->sampling), freedom };
}

/* Returns the variance of the change of an entry that each recording has with all its samples or without any, so that neither their fractions
 * nor their totals show a variance: as many samples as an entry has vary by their square root. */
static double variance_of_counts(const struct diff_entry *entry, const struct samples *samples)
{
	double variance = 0;
	for (int side = DIFF_A; side <= DIFF_B; side++)
		if (samples->all[side] > 0)
			variance += entry->gticks[side] * entry->gticks[side] / samples->all[side];
	return variance;
}

static void test_several(const struct testing *testing, struct diff_entry *entry)
{
	const struct diff_list *list = testing->list;
	struct samples samples = samples_of(testing, entry);
	struct fractions of = fractions_of(testing, entry, samples.is_rest);
	struct variance by_fraction = fraction_variance(testing, &of);
	double amounts = 0, totals = 0; /* the sums of squares that multiply the two variances */
	for (int side = DIFF_A; side <= DIFF_B; side++) {
		double count = (double)list->runs[side], total = compared_total(list, side);
		totals += total * total / count;
		amounts += entry->gticks[side] * entry->gticks[side] / count;
	}
	double a = by_fraction.value * totals, b = list->scaled_to > 0 ? 0 : testing->total_spread * amounts;
	double variance = a + b,
	       freedom = variance * variance / (a * a / by_fraction.freedom + b * b / testing->freedom);
	double change = without_rounding(entry->gticks[DIFF_B] - entry->gticks[DIFF_A], entry->gticks[DIFF_A]);
	double design = variance / (of.counting * totals);
	if (!(variance > 0)) {
		variance = list->is_exact || change == 0 ? 0 : variance_of_counts(entry, &samples);
		freedom = testing->freedom;
		design = 1;
	}
	double least = sampling_variance(testing, entry, &samples);
	entry->error = sqrt(fmax(variance, least)) * statistics_student_quantile(TAILS, freedom);
	entry->z = variance > 0 ? change / sqrt(variance) : 0;
	if (!has_enough_hits(testing, &samples))
		return;
	entry->p = variance > 0 ? statistics_student_tails(entry->z, freedom) : change == 0;
	if (!list->is_exact)
		entry->p = fmax(entry->p, exact_tails(&samples, design));
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
