/* Checks that a profile from outside is consistent: every id refers to an existing row. */
#include <string.h>

#include "base/error.h"
#include "profile/findings.h"
#include "profile/profile.h"

static bool is_string(const struct profile *profile, uint32_t id)
{
	return id < profile->strings.count;
}

static bool is_or_none(uint32_t id, size_t count)
{
	return id < count || id == PROFILE_NONE;
}

static bool things_are_sound(const struct profile *p)
{
	for (size_t i = 0; i < p->resource_count; i++) {
		const struct profile_resource *r = &p->resources[i];
		if (!is_string(p, r->name) || !is_string(p, r->title) || !is_string(p, r->unit) ||
		    !is_string(p, r->backend) || !is_string(p, r->note) || r->kind > RESOURCE_SUMS || r->interval == 0)
			return false;
	}
	for (size_t i = 0; i < p->process_count; i++)
		if (!is_string(p, p->processes[i].name) || !is_string(p, p->processes[i].cgroup))
			return false;
	for (size_t i = 0; i < p->thread_count; i++)
		if (!is_string(p, p->threads[i].name) || p->threads[i].process >= p->process_count)
			return false;
	for (size_t i = 0; i < p->module_count; i++)
		if (!is_string(p, p->modules[i].path) || p->modules[i].kind > MODULE_THREAD ||
		    p->modules[i].build_id_bytes > PROFILE_BUILD_ID_MAX)
			return false;
	for (size_t i = 0; i < p->cause_count; i++)
		if (!is_string(p, p->causes[i].text))
			return false;
	for (size_t i = 0; i < p->note_count; i++)
		if (!is_string(p, p->notes[i].key) || !is_string(p, p->notes[i].value))
			return false;
	for (size_t i = 0; i < p->finding_count; i++)
		if (!is_string(p, p->findings[i].code) || !is_string(p, p->findings[i].text) ||
		    p->findings[i].severity >= FINDING_SEVERITIES)
			return false;
	return true;
}

/* Locations may share frames, but not so many that to go through the frames of all locations takes much longer than to read the file. */
static bool frames_are_few(const struct profile *p)
{
	enum { SHARED_MOST = 16, SMALL = 1 << 20 };
	uint64_t most = SMALL + (uint64_t)SHARED_MOST * (p->frame_count + p->location_count), count = 0;
	for (size_t i = 0; i < p->location_count; i++)
		count += p->locations[i].frame_count;
	return count <= most;
}

static bool symbols_are_sound(const struct profile *p)
{
	for (size_t i = 0; i < p->function_count; i++) {
		const struct profile_function *f = &p->functions[i];
		if (!is_string(p, f->name) || !is_string(p, f->linkage) || !is_string(p, f->file) ||
		    !is_string(p, f->group) || !is_or_none(f->module, p->module_count) || f->role > ROLE_CREATE)
			return false;
	}
	for (size_t i = 0; i < p->frame_count; i++)
		if (p->frames[i].function >= p->function_count || !is_string(p, p->frames[i].file) ||
		    p->frames[i].kind > FRAME_INTERPRETER)
			return false;
	for (size_t i = 0; i < p->location_count; i++) {
		const struct profile_location *l = &p->locations[i];
		if (l->module >= p->module_count)
			return false;
		if (l->first_frame != PROFILE_NONE && (l->frame_count == 0 || l->first_frame >= p->frame_count ||
						       l->frame_count > p->frame_count - l->first_frame))
			return false;
		if (l->first_frame == PROFILE_NONE && l->frame_count != 0)
			return false;
		if (l->first_frame == PROFILE_NONE && p->symbolized && p->modules[l->module].kind != MODULE_THREAD)
			return false;
	}
	return frames_are_few(p);
}

static bool nodes_are_sound(const struct profile *p)
{
	if (p->node_count == 0 || p->nodes[0].parent != PROFILE_NONE)
		return false;
	for (size_t i = 1; i < p->node_count; i++)
		if (p->nodes[i].parent >= i || p->nodes[i].location >= p->location_count)
			return false;
	return true;
}

static bool touches_are_sound(const struct profile *p)
{
	for (size_t i = 0; i < p->touch_count; i++) {
		const struct profile_touch *t = &p->touches[i];
		if (t->node >= p->node_count || t->resource >= p->resource_count || t->count == 0 ||
		    !is_or_none(t->thread, p->thread_count) || !is_string(p, t->mapping))
			return false;
	}
	return true;
}

static bool tail_calls_are_sound(const struct profile *p)
{
	for (size_t i = 0; i < p->tail_call_count; i++) {
		const struct profile_tail_call *call = &p->tail_calls[i];
		if (call->caller >= p->location_count || call->callee >= p->function_count ||
		    !is_or_none(call->location, p->location_count))
			return false;
		if (call->location != PROFILE_NONE && !p->locations[call->location].is_tail)
			return false;
	}
	return true;
}

/* The sets' labels must follow each other without gaps, so that the check takes time in proportion to the number of
 * labels. */
static bool labels_are_sound(const struct profile *p)
{
	size_t first = 0;
	for (size_t i = 0; i < p->label_count; i++)
		if (p->labels[i].key == 0 || !is_string(p, p->labels[i].key) || !is_string(p, p->labels[i].value))
			return false;
	for (size_t i = 0; i < p->label_set_count; i++) {
		const struct profile_label_set *set = &p->label_sets[i];
		if (set->first_label != first || set->label_count > p->label_count - first)
			return false;
		for (size_t at = first + 1; at < first + set->label_count; at++)
			if (strcmp(profile_string(p, p->labels[at - 1].key), profile_string(p, p->labels[at].key)) >= 0)
				return false;
		first += set->label_count;
	}
	if (p->label_set_count == 0 || p->label_sets[0].label_count != 0 || p->hit_label_count > p->hit_count)
		return false;
	for (size_t i = 0; i < p->hit_label_count; i++)
		if (p->hit_labels[i] >= p->label_set_count)
			return false;
	return true;
}

static bool hits_are_sound(const struct profile *p)
{
	uint64_t room = PROFILE_HITS_MOST;
	for (size_t i = 0; i < p->hit_count; i++) {
		const struct profile_hit *h = &p->hits[i];
		if (h->count > room || h->node >= p->node_count || h->resource >= p->resource_count || h->count == 0 ||
		    !is_or_none(h->thread, p->thread_count) || !profile_samples_are_sound(h))
			return false;
		room -= h->count;
	}
	return true;
}

int profile_check_tables(const struct profile *profile)
{
	bool sound = things_are_sound(profile) && symbols_are_sound(profile) && nodes_are_sound(profile) &&
		     touches_are_sound(profile) && tail_calls_are_sound(profile) && labels_are_sound(profile);
	return sound ? 0 : ERROR_CORRUPT;
}

int profile_check(const struct profile *profile)
{
	return profile_check_tables(profile) == 0 && hits_are_sound(profile) ? 0 : ERROR_CORRUPT;
}
