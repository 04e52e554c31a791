/* A store returns what was added to it, for any recording; and fails cleanly where memory is short. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "profile/profile.h"
#include "store/service_names.h"
#include "store/service_parts.h"
#include "store/store.h"
#include "store/times.h"
#include "support/alloc_fail.h"
#include "support/sample_profile.h"

static char directory[] = "/tmp/cpprof-test-XXXXXX";
static char path[64]; /* DIRECTORY/store */

static const uint64_t HOUR_NS = UINT64_C(3600000000000);

static const struct store_selection everything = { .from_unix_ns = INT64_MIN, .to_unix_ns = INT64_MAX };

static int make_directory(void **state)
{
	(void)state;
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/store", directory);
	return 0;
}

static void remove_store(void)
{
	static const char *const endings[] = { "", "-wal", "-shm", "-journal" };
	char name[80];
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		snprintf(name, sizeof(name), "%s%s", path, endings[i]);
		unlink(name);
	}
}

static int remove_directory(void **state)
{
	(void)state;
	remove_store();
	return rmdir(directory);
}

/* Each round adds at least one process. */
static struct profile *random_profile(uint64_t seed, size_t hits, unsigned rounds)
{
	struct random random = { .state = seed };
	struct profile *profile = profile_new();
	assert_non_null(profile);
	for (unsigned i = 0; i < rounds; i++)
		assert_true(sample_profile_grow(profile, &random, hits));
	assert_true(sample_profile_symbolize(profile, &random));
	/* Random times may be later than any year. */
	profile->start_unix_ns = 1800000000 * STORE_NS_PER_S;
	profile->start_ns %= HOUR_NS;
	profile->end_ns = profile->start_ns + HOUR_NS;
	for (size_t i = 0; i < profile->hit_count; i++)
		profile->hits[i].time_ns %= HOUR_NS;
	return profile;
}

static int add(struct store *store, const struct profile *profile, uint8_t identity, struct error *error)
{
	const struct store_recording recording = {
		.profile = profile, .name = "random", .service = "s", .host = "h", .identity = { identity }
	};
	return store_add(store, &recording, error);
}

/* --- a text for each hit: its path, thread, labels, resource and count. Equal profiles have equal multisets of them. --- */

static void append(char *text, size_t bytes, const char *more)
{
	size_t used = strlen(text);
	snprintf(text + used, bytes - used, "%s|", more);
}

enum { TEXT_BYTES = 16384 };

static char *text_of_hit(const struct profile *profile, size_t at)
{
	const struct profile_hit *hit = &profile->hits[at];
	char text[TEXT_BYTES] = "", number[64];
	for (uint32_t node = hit->node; node != PROFILE_ROOT; node = profile->nodes[node].parent) {
		const struct profile_location *location = &profile->locations[profile->nodes[node].location];
		append(text, sizeof(text), profile_string(profile, profile->modules[location->module].path));
		for (uint32_t i = 0; location->first_frame != PROFILE_NONE && i < location->frame_count; i++) {
			const struct profile_frame *frame = &profile->frames[location->first_frame + i];
			snprintf(number, sizeof(number), "%u %u %d", frame->line, frame->discriminator, frame->inlined);
			append(text, sizeof(text), profile_string(profile, profile->functions[frame->function].name));
			append(text, sizeof(text), profile_string(profile, frame->file));
			append(text, sizeof(text), number);
		}
	}
	const struct profile_label_set *set = &profile->label_sets[profile_hit_labels(profile, at)];
	for (uint32_t i = 0; i < set->label_count; i++) {
		append(text, sizeof(text), profile_string(profile, profile->labels[set->first_label + i].key));
		append(text, sizeof(text), profile_string(profile, profile->labels[set->first_label + i].value));
	}
	append(text, sizeof(text), profile_string(profile, profile->resources[hit->resource].name));
	append(text, sizeof(text),
	       hit->thread == PROFILE_NONE ? "-" : profile_string(profile, profile->threads[hit->thread].name));
	if (profile->resources[hit->resource].kind == RESOURCE_SAMPLED) {
		snprintf(number, sizeof(number), "%llu",
			 (unsigned long long)(hit->count / (UINT64_C(1) + hit->more_samples)));
		append(text, sizeof(text), number);
	}
	return strdup(text);
}

static int compare_texts(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

static size_t count_samples(const struct profile *profile)
{
	size_t count = 0;
	for (size_t i = 0; i < profile->hit_count; i++)
		count += 1 + profile->hits[i].more_samples;
	return count;
}

/* Samples must be the same; of others, the sum of a path. */
static void assert_equal_hits(const struct profile *a, const struct profile *b)
{
	const struct profile *profiles[] = { a, b };
	char **texts[2];
	size_t counts[2] = { 0 };
	uint64_t sums[2] = { 0 };
	for (int side = 0; side < 2; side++) {
		const struct profile *profile = profiles[side];
		texts[side] = calloc(count_samples(profile) + 1, sizeof(*texts[side]));
		for (size_t i = 0; i < profile->hit_count; i++) {
			sums[side] += profile->hits[i].count;
			bool is_sampled = profile->resources[profile->hits[i].resource].kind == RESOURCE_SAMPLED;
			for (uint64_t s = 0; is_sampled && s <= profile->hits[i].more_samples; s++)
				texts[side][counts[side]++] = text_of_hit(profile, i);
		}
		qsort(texts[side], counts[side], sizeof(*texts[side]), compare_texts);
	}
	assert_int_equal(sums[0], sums[1]);
	assert_int_equal(counts[0], counts[1]);
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; side == 1 && i < counts[0]; i++)
			assert_string_equal(texts[0][i], texts[1][i]);
		for (size_t i = 0; side == 1 && i < counts[0]; i++) {
			free(texts[0][i]);
			free(texts[1][i]);
		}
	}
	free(texts[0]);
	free(texts[1]);
}

static void random_recordings_come_back(void **state)
{
	enum { SEEDS = 12, HITS = 400 };
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct error error = { 0 };
		struct profile *profile = random_profile(seed, HITS, 1);
		struct store *store = store_open(path, STORE_WRITE, &error);
		assert_non_null(store);
		int added = add(store, profile, 1, &error);
		if (added < 0)
			print_message("seed %llu: %s\n", (unsigned long long)seed, error.message);
		assert_int_equal(added, 1);
		assert_int_equal(add(store, profile, 1, &error), 0);
		store_close(store);
		store = store_open(path, STORE_READ, &error);
		struct profile *back = store_select(store, &everything, &error);
		if (!back)
			print_message("seed %llu: %s\n", (unsigned long long)seed, error.message);
		assert_non_null(back);
		assert_equal_hits(profile, back);
		assert_int_equal(profile->lost, back->lost);
		assert_int_equal(profile->touch_count, back->touch_count);
		profile_free(back);
		store_close(store);
		profile_free(profile);
		remove_store();
	}
}

/* --- services --- */

enum { SERVICES_MOST = 256 };

/* Gives each process one of four services; "s" and "" are that of the recording. */
static int add_services(struct store *store, const struct profile *profile, struct error *error)
{
	static const char *const services[] = { "s", "", "one", "two" };
	const char *of_process[SERVICES_MOST];
	assert_true(profile->process_count <= SERVICES_MOST);
	for (size_t i = 0; i < profile->process_count; i++)
		of_process[i] = services[i % 4];
	const struct store_recording recording = { .profile = profile,
						   .name = "random",
						   .service = "s",
						   .host = "h",
						   .services = of_process,
						   .identity = { 1 } };
	return store_add(store, &recording, error);
}

static uint64_t hits_of_services(const struct profile *profile, uint32_t remainder)
{
	uint64_t hits = 0;
	for (size_t i = 0; i < profile->hit_count; i++) {
		uint32_t thread = profile->hits[i].thread;
		uint32_t process = thread == PROFILE_NONE ? 0 : profile->threads[thread].process;
		bool is_rest = process % 4 < 2;
		if (remainder == 0 ? is_rest : process % 4 == remainder)
			hits += profile->hits[i].count;
	}
	return hits;
}

static void assert_service(struct store *store, const char *service, const struct profile *whole, uint32_t remainder)
{
	struct error error = { 0 };
	struct store_selection selection = everything;
	selection.service = service;
	struct profile *profile = store_select(store, &selection, &error);
	uint64_t expected = hits_of_services(whole, remainder), hits = 0;
	bool is_rest = remainder == 0;
	assert_true(profile || (!is_rest && expected == 0));
	for (size_t i = 0; profile && i < profile->hit_count; i++)
		hits += profile->hits[i].count;
	assert_int_equal(hits, expected);
	if (profile) {
		assert_int_equal(profile->lost, is_rest ? whole->lost : 0);
		assert_int_equal(profile->finding_count, is_rest ? whole->finding_count : 0);
		assert_int_equal(profile->cause_count, is_rest ? whole->cause_count : 0);
	}
	profile_free(profile);
}

static void random_services_add_up(void **state)
{
	enum { SEEDS = 6, HITS = 100, ROUNDS = 4 };
	int divided = 0;
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct error error = { 0 };
		struct profile *profile = random_profile(seed, HITS, ROUNDS);
		struct store *store = store_open(path, STORE_WRITE, &error);
		assert_non_null(store);
		int added = add_services(store, profile, &error);
		assert_true(added > 0);
		divided += added > 1;
		assert_int_equal(add_services(store, profile, &error), 0);
		assert_int_equal(add(store, profile, 1, &error), 0); /* with one service */
		assert_service(store, "s", profile, 0);
		assert_service(store, "one", profile, 2);
		assert_service(store, "two", profile, 3);
		struct profile *back = store_select(store, &everything, &error);
		assert_non_null(back);
		assert_equal_hits(profile, back);
		assert_int_equal(profile->lost, back->lost);
		assert_int_equal(profile->touch_count, back->touch_count);
		assert_int_equal(profile->process_count, back->process_count);
		assert_int_equal(profile->thread_count, back->thread_count);
		profile_free(back);
		store_close(store);
		profile_free(profile);
		remove_store();
	}
	assert_true(divided > SEEDS / 2);
}

static void add_once(const struct profile *profile)
{
	struct error error = { 0 };
	struct store *store = store_open(path, STORE_WRITE, &error);
	int status = store ? add(store, profile, 1, &error) : error.code;
	assert_true(status == 1 || status < 0);
	store_close(store);
	if (status < 0)
		assert_true(error.message[0] != '\0');
	remove_store();
}

static void select_once(void)
{
	struct error error = { 0 };
	struct store *store = store_open(path, STORE_READ, &error);
	struct profile *profile = store ? store_select(store, &everything, &error) : NULL;
	assert_true(profile || error.code < 0);
	profile_free(profile);
	store_close(store);
}

static void memory_may_be_short(void **state)
{
	(void)state;
	struct error error = { 0 };
	struct profile *profile = random_profile(3, 40, 1);
	ALLOC_FAIL_EACH(add_once(profile));
	struct store *store = store_open(path, STORE_WRITE, &error);
	assert_non_null(store);
	assert_int_equal(add(store, profile, 1, &error), 1);
	store_close(store);
	ALLOC_FAIL_EACH(select_once());
	remove_store();
	profile_free(profile);
}

/* Ids of rows that a failed transaction had added mean nothing for the next one of the same store. */
static void failed_additions_leave_nothing(void **state)
{
	(void)state;
	struct error error = { 0 };
	struct profile *profiles[] = { random_profile(3, 40, 1), random_profile(4, 40, 1) };
	struct store *store = store_open(path, STORE_WRITE, &error);
	assert_non_null(store);
	assert_int_equal(add(store, profiles[0], 1, &error), 1);
	int added = 0, failures = -1;
	for (unsigned long number = 1; added < 1; number++, failures++) {
		alloc_fail_start(number);
		added = add(store, profiles[1], 2, &error);
		alloc_fail_stop();
	}
	assert_true(failures > 10);
	struct profile *back = store_select(store, &everything, &error);
	assert_non_null(back);
	store_close(store);
	remove_store();
	store = store_open(path, STORE_WRITE, &error);
	for (uint8_t i = 0; i < 2; i++)
		assert_int_equal(add(store, profiles[i], i + 1, &error), 1);
	struct profile *expected = store_select(store, &everything, &error);
	assert_non_null(expected);
	assert_equal_hits(expected, back);
	store_close(store);
	remove_store();
	profile_free(expected);
	profile_free(back);
	profile_free(profiles[0]);
	profile_free(profiles[1]);
}

/* A store that keeps identities only, and whose server leaves after some calls. */
struct shelf {
	struct store store; /* first */
	uint8_t identities[8][STORE_IDENTITY_BYTES];
	size_t count, added, room; /* added: those that count */
};

static int shelf_has(struct store *store, const struct store_recording *recording, struct error *error)
{
	const struct shelf *shelf = (const struct shelf *)store;
	(void)error;
	for (size_t i = 0; i < shelf->added; i++)
		if (memcmp(shelf->identities[i], recording->identity, STORE_FILE_BYTES) == 0)
			return 1;
	return 0;
}

static int shelf_add(struct store *store, const struct store_recording *recording, struct error *error)
{
	struct shelf *shelf = (struct shelf *)store;
	if (shelf->count == shelf->room)
		return error_set(error, ERROR_UNREACHABLE, "the shelf is full");
	memcpy(shelf->identities[shelf->count++], recording->identity, STORE_IDENTITY_BYTES);
	return 1;
}

static int shelf_end(struct store *store, int status, struct error *error)
{
	struct shelf *shelf = (struct shelf *)store;
	(void)error;
	if (status == 0)
		shelf->added = shelf->count;
	shelf->count = shelf->added;
	return status;
}

/* All parts count together, so nothing of an interrupted recording does. */
static void interrupted_recordings_begin_again(void **state)
{
	static const struct store_kind kind = { .has = shelf_has, .add = shelf_add, .end = shelf_end };
	static const uint8_t identity[STORE_IDENTITY_BYTES] = { 1 };
	struct error error = { 0 };
	(void)state;
	struct profile *profile = random_profile(3, 100, 4);
	struct shelf whole = { .store = { .kind = &kind }, .room = 8 };
	assert_int_equal(add_services(&whole.store, profile, &error), 3);
	assert_memory_equal(whole.identities[0], identity, sizeof(identity));
	assert_memory_not_equal(whole.identities[1], whole.identities[2], sizeof(identity));
	for (size_t room = 0; room < 3; room++) {
		struct shelf shelf = { .store = { .kind = &kind }, .room = room };
		assert_int_equal(add_services(&shelf.store, profile, &error), ERROR_UNREACHABLE);
		assert_int_equal(shelf.count, 0);
		shelf.room = 8;
		assert_int_equal(add_services(&shelf.store, profile, &error), 3);
		assert_memory_equal(shelf.identities, whole.identities, sizeof(shelf.identities));
		assert_int_equal(add_services(&shelf.store, profile, &error), 0);
	}
	profile_free(profile);
}

/* Divides a recording without a store. */
static void divide_once(const struct profile *profile)
{
	struct service_parts parts;
	struct service_names names;
	int status = service_names_init(&names, profile, NULL);
	if (status == 0) {
		const struct store_recording recording = { .profile = profile,
							   .service = "s",
							   .services = names.items };
		status = service_parts_init(&parts, &recording);
		for (uint32_t i = 0; status == 0 && i < parts.count; i++) {
			struct service_part part;
			status = service_part_init(&part, &parts, i);
			service_part_release(&part);
		}
		service_parts_release(&parts);
	}
	assert_true(status == 0 || status == ERROR_MEMORY);
	service_names_release(&names);
}

static void memory_may_be_short_for_services(void **state)
{
	(void)state;
	struct profile *profile = random_profile(5, 10, 3);
	ALLOC_FAIL_EACH(divide_once(profile));
	profile_free(profile);
}

/* A reader who may not write the file reads it without locks: it notices a change, and reads again. */
static void unlocked_readers_notice_changes(void **state)
{
	(void)state;
	struct error error = { 0 };
	struct profile *profile = random_profile(7, 200, 2);
	struct store *writer = store_open(path, STORE_WRITE, &error);
	assert_int_equal(add(writer, profile, 1, &error), 1);
	store_close(writer);
	assert_int_equal(chmod(path, 0444) | chmod(directory, 0555), 0);
	uid_t user = geteuid();
	assert_true(user != 0 || seteuid(65534) == 0);
	struct store *reader = store_open(path, STORE_READ, &error);
	assert_non_null(reader);
	assert_true(user != 0 || seteuid(user) == 0);
	assert_int_equal(chmod(path, 0644) | chmod(directory, 0777), 0);
	writer = store_open(path, STORE_WRITE, &error);
	assert_int_equal(add(writer, profile, 2, &error), 1);
	store_close(writer);
	struct store_statistics statistics;
	assert_int_equal(store_stats(reader, &statistics, &error), 0);
	assert_int_equal(statistics.profiles, 2);
	struct profile *both = store_select(reader, &everything, &error);
	assert_non_null(both);
	assert_int_equal(both->hits_added, 2 * profile->hits_added);
	profile_free(both);
	store_close(reader);
	profile_free(profile);
	remove_store();
}

static void ages_are_read(void **state)
{
	(void)state;
	struct error error;
	assert_int_equal(store_age_read("90s", &error), 90);
	assert_int_equal(store_age_read("15m", &error), 900);
	assert_int_equal(store_age_read("6h", &error), 21600);
	assert_int_equal(store_age_read("30d", &error), 2592000);
	assert_int_equal(store_age_read("8w", &error), 4838400);
	static const char *const wrong[] = {
		"", "s", "5", "-5s", "5 s", "1.5h", "5y", "99999999999999w", "123456789012345678901s"
	};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(store_age_read(wrong[i], &error), ERROR_USAGE);
}

static int64_t seconds_of(const char *text)
{
	struct error error;
	int64_t ns = 0;
	assert_int_equal(store_time_read(text, 1000000, &ns, &error), 0);
	assert_int_equal(ns % STORE_NS_PER_S, 0);
	return ns / STORE_NS_PER_S;
}

static void times_are_read(void **state)
{
	(void)state;
	struct error error;
	int64_t ns;
	setenv("TZ", "UTC-1", 1);
	assert_int_equal(seconds_of("now"), 1000000);
	assert_int_equal(seconds_of("-1h"), 996400);
	assert_int_equal(seconds_of("@1800000000"), 1800000000);
	assert_int_equal(seconds_of("1970-01-02Z"), 86400);
	assert_int_equal(seconds_of("1970-01-02T00:01Z"), 86460);
	assert_int_equal(seconds_of("1970-01-02T00:01:05Z"), 86465);
	assert_int_equal(seconds_of("1970-01-02T01:00"), 86400);
	assert_int_equal(seconds_of("2024-02-29Z"), 1709164800);
	static const char *const wrong[] = { "",
					     "then",
					     "-",
					     "-1",
					     "@",
					     "@-1",
					     "@99999999999999",
					     "1970-13-01",
					     "1970-01-02T",
					     "1970-01-02X",
					     "1970-01-02T25:00",
					     "2026-02-30",
					     "2026-02-30Z",
					     "2026-11-27T08:00:60",
					     "2026-11-27T08:00:60Z" };
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(store_time_read(wrong[i], 0, &ns, &error), ERROR_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_recordings_come_back),
		cmocka_unit_test(random_services_add_up),
		cmocka_unit_test(interrupted_recordings_begin_again),
		cmocka_unit_test(memory_may_be_short),
		cmocka_unit_test(failed_additions_leave_nothing),
		cmocka_unit_test(memory_may_be_short_for_services),
		cmocka_unit_test(unlocked_readers_notice_changes),
		cmocka_unit_test(ages_are_read),
		cmocka_unit_test(times_are_read),
	};
	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
