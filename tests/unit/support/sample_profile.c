#include "sample_profile.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

uint64_t random_next(struct random *random)
{
	random->state ^= random->state >> 12;
	random->state ^= random->state << 25;
	random->state ^= random->state >> 27;
	return random->state * UINT64_C(0x2545f4914f6cdd1d);
}

uint64_t random_below(struct random *random, uint64_t limit)
{
	return random_next(random) % limit;
}

/* --- making ---
 *
 * One number is drawn per statement or initializer, and none in an argument beside another:
 * every compiler makes the same profile of a seed. */

/* Returns the id of a string, new or present. Clears *good and returns 0 if memory is short. */
static uint32_t text(struct profile *profile, struct random *random, const char *kind, bool *good)
{
	char name[400];
	uint64_t number = random_below(random, 1000);
	int length = snprintf(name, sizeof(name), "%s %llu", kind, (unsigned long long)number);
	/* Some names are long, as C++ names are, and some bytes are not printable text. */
	for (uint64_t more = number % 50 == 0 ? 300 : 0; more > 0 && length < 399; more--)
		name[length++] = (char)(1 + random_below(random, 255));
	name[length] = 0;
	int64_t id = profile_add_string(profile, number % 13 ? name : "");
	*good = *good && id >= 0;
	return id < 0 ? 0 : (uint32_t)id;
}

static uint64_t whole_us(struct random *random)
{
	return random_below(random, 5) ? (1000000 + random_below(random, 60000000)) * 1000 : 0;
}

static bool add_resource(struct profile *profile, struct random *random)
{
	bool good = true;
	struct profile_resource resource = { .name = text(profile, random, "resource", &good),
					     .title = text(profile, random, "title", &good),
					     .unit = text(profile, random, "unit", &good),
					     .backend = text(profile, random, "backend", &good),
					     .note = text(profile, random, "note", &good),
					     .kind = (uint8_t)random_below(random, 3),
					     .interval = 1 + random_below(random, 1000000),
					     .total = random_next(random),
					     .lost = random_below(random, 3) };
	return good && profile_add_resource(profile, &resource) >= 0;
}

static bool add_things(struct profile *profile, struct random *random)
{
	bool good = true;
	struct profile_process process = { .pid = (uint32_t)random_next(random),
					   .parent_pid = (uint32_t)random_below(random, 3),
					   .name = text(profile, random, "process", &good),
					   .start_ns = whole_us(random),
					   .cgroup = text(profile, random, "/system.slice", &good) };
	good = good && profile_add_process(profile, &process) >= 0;
	if (!good)
		return false;
	struct profile_thread thread = { .tid = (uint32_t)random_below(random, 40000),
					 .process = (uint32_t)random_below(random, profile->process_count),
					 .name = text(profile, random, "thread", &good),
					 .start_ns = whole_us(random) };
	struct profile_module module = { .path = text(profile, random, "/lib/module", &good),
					 .kind = (uint8_t)random_below(random, 6),
					 .build_id_bytes = (uint8_t)random_below(random, PROFILE_BUILD_ID_MAX + 1) };
	for (size_t i = 0; i < module.build_id_bytes; i++)
		module.build_id[i] = (uint8_t)random_next(random);
	char key[16];
	snprintf(key, sizeof(key), "key %u", (unsigned)random_below(random, 5));
	/* A fixed list: a new code must not change the profile that other processors' files hold. */
	static const enum finding_code codes[] = { FINDING_UNSAMPLED, FINDING_EVENTS_LOST, FINDING_LABELS_LOST,
						   FINDING_TICKS_LATE, FINDING_OUT_OF_MEMORY };
	enum finding_code code = codes[random_below(random, sizeof(codes) / sizeof(codes[0]))];
	uint64_t count = random_below(random, 4);
	unsigned kind = (unsigned)random_below(random, 5);
	finding_add(profile, code, count, "{# thing was|# things were} missed, of kind %u", kind);
	bool is_whole = random_below(random, 2) != 0;
	bool is_completed = random_below(random, 2) != 0;
	const struct profile_cause cause = {
		.count = 3, .whole = is_whole, .completed = is_completed, .guessed = is_whole && !is_completed
	};
	return good && profile->findings_error == 0 && profile_add_thread(profile, &thread) >= 0 &&
	       profile_add_module(profile, &module) >= 0 && profile_add_note(profile, key, "value") >= 0 &&
	       profile_count_cause(profile, key, &cause) == 0 && add_resource(profile, random);
}

static bool add_path(struct profile *profile, struct random *random)
{
	uint32_t module = (uint32_t)random_below(random, profile->module_count);
	/* Mostly addresses of a program, seldom of generated code or of the kernel. */
	uint64_t address = random_below(random, 20) ? random_below(random, 500000) : random_next(random);
	/* Seldom code that has the same address as other code. */
	int64_t location = random_below(random, 30) ? profile_add_location(profile, module, address)
						    : profile_append_location(profile, module, address);
	uint32_t parent = (uint32_t)random_below(random, profile->node_count);
	return location >= 0 && profile_add_node(profile, parent, (uint32_t)location) >= 0;
}

/* Later changes: processes and threads end, names change, the kernel's totals grow. */
static void change_things(struct profile *profile, struct random *random)
{
	for (size_t i = 0; i < profile->process_count; i++)
		if (random_below(random, 4) == 0)
			profile->processes[i].end_ns = whole_us(random);
	for (size_t i = 0; i < profile->thread_count; i++)
		if (random_below(random, 4) == 0)
			profile->threads[i].name = (uint32_t)random_below(random, profile->strings.count);
	for (size_t i = 0; i < profile->resource_count; i++)
		profile->resources[i].total += random_below(random, 100);
	profile->end_ns = random_next(random);
	profile->lost += random_below(random, 3);
}

static bool add_touches(struct profile *profile, struct random *random, size_t count)
{
	bool good = true;
	for (size_t i = 0; i < count && good; i++) {
		uint32_t thread = (uint32_t)random_below(random, profile->thread_count + 1);
		uint64_t address = random_next(random);
		struct profile_touch touch = { .time_ns = whole_us(random),
					       .address = address >> random_below(random, 64),
					       .node = (uint32_t)random_below(random, profile->node_count),
					       .thread = thread == profile->thread_count ? PROFILE_NONE : thread,
					       .resource = (uint32_t)random_below(random, profile->resource_count),
					       .count = 1 + (uint32_t)random_below(random, 3),
					       .mapping = text(profile, random, "[heap]", &good) };
		good = good && profile_add_touch(profile, &touch) >= 0;
	}
	return good;
}

/* Gives the hits since `first` a random label set, mostly the empty one, as of a thread without a task. */
static bool label_hits(struct profile *profile, struct random *random, size_t first)
{
	struct profile_label labels[4];
	uint64_t count = random_below(random, 8);
	bool good = true;
	for (uint64_t i = 0; i < count && count < 4; i++) {
		char key[16];
		snprintf(key, sizeof(key), "key %u", (unsigned)random_below(random, 5));
		int64_t id = profile_add_string(profile, key);
		labels[i] =
			(struct profile_label){ .key = (uint32_t)id, .value = text(profile, random, "value", &good) };
		good = good && id >= 0;
	}
	int64_t set = good ? profile_add_label_set(profile, labels, count < 4 ? count : 0) : ERROR_MEMORY;
	return set >= 0 && profile_label_hits(profile, first, (uint32_t)set) == 0;
}

bool sample_profile_grow(struct profile *profile, struct random *random, size_t hits)
{
	profile->start_ns = 1234567890123;
	profile->start_unix_ns = -5;
	for (uint64_t i = random_below(random, 3) + (profile->module_count == 0); i > 0; i--)
		if (!add_things(profile, random))
			return false;
	for (size_t i = 0; i < hits / 2; i++)
		if (!add_path(profile, random))
			return false;
	uint64_t time_ns = profile->start_ns / 1000 * 1000;
	bool has_labels = random_below(random, 3) > 0;
	for (size_t i = 0; i < hits; i++) {
		size_t first = profile->hit_count;
		time_ns += random_below(random, 2000) * 1000;
		uint32_t thread = (uint32_t)random_below(random, profile->thread_count + 1);
		if (thread == profile->thread_count)
			thread = PROFILE_NONE;
		uint64_t hit_time_ns = random_below(random, 10) ? time_ns : 0;
		uint32_t node = (uint32_t)random_below(random, profile->node_count);
		uint32_t resource = (uint32_t)random_below(random, profile->resource_count);
		uint64_t count = random_below(random, 30) ? 1 : random_next(random) >> 30;
		struct profile_hit row = {
			.time_ns = hit_time_ns, .count = count, .node = node, .thread = thread, .resource = resource
		};
		if (profile->resources[resource].kind == RESOURCE_SAMPLED && random_below(random, 4) == 0)
			row.more_samples = (uint32_t)random_below(random, 5);
		row.count *= 1 + row.more_samples;
		if (profile_add_hit_row(profile, &row) < 0 || (has_labels && !label_hits(profile, random, first)))
			return false;
	}
	if (!add_touches(profile, random, hits / 3))
		return false;
	change_things(profile, random);
	return true;
}

bool sample_profile_symbolize(struct profile *profile, struct random *random)
{
	bool good = true;
	for (int i = 0; i < 20; i++) {
		struct profile_function function = { .name = text(profile, random, "function", &good),
						     .linkage = text(profile, random, "_Z8function", &good),
						     .module = random_below(random, 2) ? 0 : PROFILE_NONE,
						     .file = text(profile, random, "/src/file.c", &good),
						     .line = (uint32_t)random_below(random, 3000),
						     .role = (uint8_t)random_below(random, 4) };
		if (!good || profile_add_function(profile, &function) < 0)
			return false;
	}
	for (size_t i = 0; i < profile->location_count; i++) {
		struct profile_location *location = &profile->locations[i];
		if (profile->modules[location->module].kind == MODULE_THREAD)
			continue;
		location->first_frame = (uint32_t)profile->frame_count;
		location->frame_count = 1 + (uint32_t)random_below(random, 3);
		for (uint32_t f = 0; f < location->frame_count; f++) {
			struct profile_frame frame = { .function = (uint32_t)random_below(random, 20),
						       .file = text(profile, random, "/src/file.c", &good),
						       .line = (uint32_t)random_next(random),
						       .discriminator = (uint32_t)i * 5 + f,
						       .inlined = f + 1 < location->frame_count,
						       .kind = (uint8_t)random_below(random, FRAME_INTERPRETER + 1) };
			if (!good || profile_add_frame(profile, &frame) < 0)
				return false;
		}
	}
	profile->symbolized = true;
	return true;
}

/* Adds a location of a function that a tail call removed. */
static int64_t add_tail(struct profile *profile, struct random *random, uint32_t module)
{
	struct profile_frame frame = { .function = (uint32_t)random_below(random, profile->function_count) };
	int64_t first = profile_add_frame(profile, &frame);
	int64_t location = profile_append_location(profile, module, random_below(random, 500000));
	if (first < 0 || location < 0)
		return ERROR_MEMORY;
	profile->locations[location].first_frame = (uint32_t)first;
	profile->locations[location].frame_count = 1;
	profile->locations[location].is_tail = true;
	return location;
}

/* Adds rows for the call of a node: one or several, seldom an endless chain, or a call of an unknown function. */
static bool add_tail_calls(struct profile *profile, struct random *random, uint32_t node)
{
	const struct profile_location *location = &profile->locations[profile->nodes[node].location];
	uint32_t parent = profile->nodes[node].parent, module = location->module;
	if (parent == PROFILE_ROOT || location->first_frame == PROFILE_NONE)
		return true;
	struct profile_tail_call call = {
		.caller = profile->nodes[parent].location,
		.callee = profile->frames[location->first_frame + location->frame_count - 1].function,
		.location = PROFILE_NONE,
	};
	for (uint64_t steps = random_below(random, 4); steps > 0; steps--) {
		int64_t tail = add_tail(profile, random, module);
		call.location = (uint32_t)tail;
		if (tail < 0 || profile_add_tail_call(profile, &call) < 0)
			return false;
		call.caller = call.location;
	}
	return (call.location != PROFILE_NONE && random_below(random, 10) > 0) ||
	       profile_add_tail_call(profile, &call) >= 0;
}

bool sample_profile_add_tail_calls(struct profile *profile, struct random *random)
{
	bool good = true;
	for (int i = 0; i < 30 && good; i++) {
		uint32_t node = (uint32_t)random_below(random, profile->node_count);
		good = node == PROFILE_ROOT || add_tail_calls(profile, random, node);
	}
	return good;
}

/* --- comparing --- */

#define SAME(field) (x->field == y->field)

static bool same_resource(const struct profile_resource *x, const struct profile_resource *y)
{
	return SAME(name) && SAME(title) && SAME(unit) && SAME(backend) && SAME(note) && SAME(kind) && SAME(interval) &&
	       SAME(total) && SAME(lost);
}

static bool same_process(const struct profile_process *x, const struct profile_process *y)
{
	return SAME(pid) && SAME(parent_pid) && SAME(name) && SAME(start_ns) && SAME(end_ns) && SAME(cgroup);
}

static bool same_thread(const struct profile_thread *x, const struct profile_thread *y)
{
	return SAME(tid) && SAME(process) && SAME(name) && SAME(start_ns) && SAME(end_ns);
}

static bool same_module(const struct profile_module *x, const struct profile_module *y)
{
	return SAME(path) && SAME(kind) && SAME(build_id_bytes) &&
	       memcmp(x->build_id, y->build_id, sizeof(x->build_id)) == 0;
}

static bool same_cause(const struct profile_cause *x, const struct profile_cause *y)
{
	return SAME(text) && SAME(count) && SAME(whole) && SAME(completed) && SAME(guessed);
}

static bool same_note(const struct profile_note *x, const struct profile_note *y)
{
	return SAME(key) && SAME(value);
}

static bool same_finding(const struct profile_finding *x, const struct profile_finding *y)
{
	return SAME(severity) && SAME(code) && SAME(count) && SAME(text);
}

static bool same_function(const struct profile_function *x, const struct profile_function *y)
{
	return SAME(name) && SAME(linkage) && SAME(module) && SAME(file) && SAME(line) && SAME(role);
}

static bool same_frame(const struct profile_frame *x, const struct profile_frame *y)
{
	return SAME(function) && SAME(file) && SAME(line) && SAME(inlined) && SAME(kind) && SAME(discriminator);
}

static bool same_location(const struct profile_location *x, const struct profile_location *y)
{
	return SAME(module) && SAME(address) && SAME(first_frame) && SAME(frame_count) && SAME(by_frames) &&
	       SAME(is_tail);
}

static bool same_node(const struct profile_node *x, const struct profile_node *y)
{
	return SAME(parent) && SAME(location);
}

static bool same_hit(const struct profile_hit *x, const struct profile_hit *y)
{
	return SAME(time_ns) && SAME(node) && SAME(thread) && SAME(count) && SAME(resource);
}

static bool same_touch(const struct profile_touch *x, const struct profile_touch *y)
{
	return SAME(time_ns) && SAME(address) && SAME(node) && SAME(thread) && SAME(resource) && SAME(count) &&
	       SAME(mapping);
}

static bool same_tail_call(const struct profile_tail_call *x, const struct profile_tail_call *y)
{
	return SAME(caller) && SAME(callee) && SAME(location);
}

static bool same_label(const struct profile_label *x, const struct profile_label *y)
{
	return SAME(key) && SAME(value);
}

static bool same_label_set(const struct profile_label_set *x, const struct profile_label_set *y)
{
	return SAME(first_label) && SAME(label_count);
}

static bool same_totals(const struct profile *x, const struct profile *y)
{
	return SAME(start_ns) && SAME(end_ns) && SAME(start_unix_ns) && SAME(lost) && SAME(symbolized);
}

/* Compares two tables row by row. */
#define TABLE(thing, items, count)                             \
	if (a->count != b->count)                              \
		return #count;                                 \
	for (size_t i = 0; i < a->count; i++)                  \
		if (!same_##thing(&a->items[i], &b->items[i])) \
			return #items;

static const char *tables_difference(const struct profile *a, const struct profile *b)
{
	TABLE(resource, resources, resource_count)
	TABLE(process, processes, process_count)
	TABLE(thread, threads, thread_count)
	TABLE(module, modules, module_count)
	TABLE(cause, causes, cause_count)
	TABLE(note, notes, note_count)
	TABLE(finding, findings, finding_count)
	TABLE(function, functions, function_count)
	TABLE(frame, frames, frame_count)
	TABLE(location, locations, location_count)
	TABLE(node, nodes, node_count)
	TABLE(hit, hits, hit_count)
	TABLE(touch, touches, touch_count)
	TABLE(tail_call, tail_calls, tail_call_count)
	TABLE(label, labels, label_count)
	TABLE(label_set, label_sets, label_set_count)
	for (size_t i = 0; i < a->hit_count; i++)
		if (profile_hit_labels(a, i) != profile_hit_labels(b, i))
			return "labels of hits";
	return same_totals(a, b) ? NULL : "totals";
}

const char *sample_profile_difference(const struct profile *a, const struct profile *b)
{
	if (a->strings.count != b->strings.count)
		return "strings.count";
	for (size_t i = 0; i < a->strings.count; i++)
		if (a->strings.lengths[i] != b->strings.lengths[i] ||
		    memcmp(a->strings.texts[i], b->strings.texts[i], a->strings.lengths[i]) != 0)
			return "strings";
	return tables_difference(a, b);
}

uint64_t finding_amount(const struct profile *profile, enum finding_code code)
{
	const struct profile_finding *finding = finding_find(profile, code);
	return finding ? finding->count : 0;
}
