/*
 * Simulates the windows of services over weeks, and counts what `cpprof regress` reports of them: the choice of the windows, the comparison
 * and its marks are the command's own functions, on profiles that are made here instead of read from a store.
 *
 *   regress WEEKS CHECKED SERVICES HOSTS SAMPLES NOISE DAY CHANGE
 *
 * prints as JSON in how many of WEEKS weeks a change of one service is found, and the false alarms a week of all services in CHECKED of them.
 *
 *   SERVICES how many equal services the store has
 *   HOSTS    of a service
 *   SAMPLES  of a host in an hour, on average
 *   NOISE    standard deviation by which the true share of a path differs from hour to hour, in the whole fleet, in percent
 *   DAY      by so much shares rise and fall over the day, in percent: each path at an hour of its own
 *   CHANGE   of the path `planted`, which has 1 % of the time, in the last hour of a week, in percent
 *
 * A week is found if its last hour, compared with the 7 days before, has the planted path among what is reported. False alarms are hours of a
 * week without a change, each compared once with the 7 days before it, for which anything is reported. Each host adds noise of its own to its shares:
 * 10 %.
 */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/settings.h"
#include "made.h"
#include "profile/profile.h"
#include "reports/diff.h"
#include "reports/regress.h"

enum { PARTS = 20, LEAVES = 200, HOUR_S = 3600, WEEK_HOURS = 168, HOURS_MOST = 2 * WEEK_HOURS };

static const double HOST_NOISE = 0.10, PLANTED_SHARE = 0.01;

struct model {
	double shares[LEAVES]; /* leaf 0 is the planted one */
	double phases[LEAVES];
	double hosts, samples, noise, day;
	size_t services;
};

/* --- the service --- */

static void make_model(struct model *model)
{
	double sum = 0;
	for (int i = 1; i < LEAVES; i++)
		sum += model->shares[i] = 1.0 / (i + 3);
	for (int i = 0; i < LEAVES; i++) {
		model->shares[i] = i == 0 ? PLANTED_SHARE : model->shares[i] / sum * (1 - PLANTED_SHARE);
		model->phases[i] = 2 * M_PI * made_uniform();
	}
}

/* Returns the sum of all recordings of the service in an hour. `change`: factor of the planted path. */
static struct profile *make_window(const struct model *model, int hour, double change)
{
	double weights[LEAVES], sum = 0;
	double noise = sqrt(model->noise * model->noise + HOST_NOISE * HOST_NOISE / model->hosts);
	for (int i = 0; i < LEAVES; i++) {
		double day = 1 + model->day * sin(2 * M_PI * hour / 24 + model->phases[i]);
		weights[i] = model->shares[i] * day * exp(noise * made_normal()) * (i == 0 ? change : 1);
		sum += weights[i];
	}
	struct profile *profile = made_profile("service");
	uint32_t top = made_node(profile, PROFILE_ROOT, "main"), part = top;
	for (int i = 0; i < LEAVES; i++) {
		char name[24];
		snprintf(name, sizeof(name), "part_%d", i * PARTS / LEAVES);
		if (i % (LEAVES / PARTS) == 0)
			part = made_node(profile, top, name);
		snprintf(name, sizeof(name), "leaf_%d", i);
		uint32_t node = made_node(profile, part, i == 0 ? "planted" : name);
		uint64_t hits = made_poisson(model->hosts * model->samples * weights[i] / sum);
		const struct profile_hit row = {
			.count = hits, .node = node, .thread = PROFILE_NONE, .more_samples = (uint32_t)(hits - 1)
		};
		if (hits > 0)
			made_need(profile_add_hit_row(profile, &row));
	}
	return profile;
}

/* --- the comparison --- */

/* Returns whether an entry that exceeds the limit ends at the planted function. */
static bool has_planted(struct diff_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct diff_entry *entry = &list->entries[i];
		const uint32_t *labels = path_labels(list->paths, &entry->path);
		if (entry->exceeds && strcmp(list->names[labels[entry->path.length - 1]], "planted") == 0)
			return true;
	}
	return false;
}

/* Compares an hour with the week before it. Returns the number of entries that are reported, and sets *is_found to whether the planted path is one. */
static size_t compare(const struct model *model, struct profile *const *week, struct profile *last, bool *is_found)
{
	const struct profile *profiles[REGRESS_WINDOWS_MOST + 1];
	static struct view_options views[REGRESS_WINDOWS_MOST + 1];
	const uint32_t cpu = 0;
	struct settings settings;
	struct results results = { 0 };
	struct error error = { 0 }, uncompared = { 0 };
	size_t windows = (size_t)regress_window_count(WEEK_HOURS), reported = 0;
	settings_init(&settings);
	for (size_t i = 0; i < windows; i++)
		profiles[i] = week[WEEK_HOURS - 1 - regress_windows_after(WEEK_HOURS, (int64_t)(windows - 1 - i))];
	profiles[windows] = last;
	for (size_t i = 0; i <= windows; i++)
		views[i] = settings.view;
	const struct diff_request request = {
		.profiles = profiles,
		.counts = { windows, 1 },
		.views = views,
		.resources = &cpu,
		.resource_count = 1,
		.shares = true,
		.spread = settings.spread,
		.threshold = settings.threshold,
		.sections = { { .report = report_find("functions"), .is_default = true },
			      { .report = report_find("down"), .root = "main", .is_default = true } },
		.section_count = DIFF_SECTIONS,
		.chance = regress_chance(HOUR_S, model->services),
	};
	if (diff_build(&request, &results, &uncompared, &error) < 0)
		made_give_up(error.message);
	*is_found = false;
	for (size_t i = 0; i < results.count; i++) {
		reported += diff_gate(results.items[i].changes, request.limit, request.threshold);
		*is_found = *is_found || has_planted(results.items[i].changes);
	}
	results_release(&results);
	settings_release(&settings);
	return reported;
}

/* Simulates a week of each service and the week before it. Returns the number of false alarms in all hours of the week, and adds to *found whether
 * the change in the first service's last hour is found. */
static int simulate(const struct model *model, double change, bool is_checked, int *found)
{
	struct profile *hours[HOURS_MOST];
	bool is_found;
	int alarms = 0;
	for (size_t service = 0; service < (is_checked ? model->services : 1); service++) {
		for (int i = 0; i < HOURS_MOST; i++)
			hours[i] = make_window(model, i, 1);
		for (int i = 0; i < WEEK_HOURS && is_checked; i++)
			alarms += compare(model, &hours[i], hours[WEEK_HOURS + i], &is_found) > 0;
		struct profile *changed = make_window(model, HOURS_MOST - 1, change);
		compare(model, &hours[WEEK_HOURS - 1], changed, &is_found);
		*found += service == 0 && is_found;
		profile_free(changed);
		for (int i = 0; i < HOURS_MOST; i++)
			profile_free(hours[i]);
	}
	return alarms;
}

int main(int count, char **words)
{
	enum { WEEKS = 1, CHECKED, SERVICES, HOSTS, SAMPLES, NOISE, DAY, CHANGE, WORDS };
	if (count != WORDS)
		made_give_up("usage: regress WEEKS CHECKED SERVICES HOSTS SAMPLES NOISE DAY CHANGE");
	struct model model = { .services = (size_t)atoi(words[SERVICES]),
			       .hosts = atof(words[HOSTS]),
			       .samples = atof(words[SAMPLES]),
			       .noise = atof(words[NOISE]) / 100,
			       .day = atof(words[DAY]) / 100 };
	double change = 1 + atof(words[CHANGE]) / 100;
	int weeks = atoi(words[WEEKS]), checked = atoi(words[CHECKED]), found = 0, alarms = 0;
	make_model(&model);
	for (int week = 0; week < weeks; week++)
		alarms += simulate(&model, change, week < checked, &found);
	printf("{\"weeks\": %d, \"found\": %d, \"checked weeks\": %d, \"alarms a week\": %.3f}\n", weeks, found,
	       checked, checked > 0 ? (double)alarms / checked : 0);
	return 0;
}
