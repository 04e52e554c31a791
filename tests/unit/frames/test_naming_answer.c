/* Answers of providers: what one adds to a profile, and that a cut or changed one is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash_map.h"
#include "frames/naming_answer.h"
#include "support/symbols_lab.h"

/* A profile with one function and two locations of one module, and a request for them. */
struct scene {
	struct profile *profile;
	struct functions functions;
	struct frames_request request;
	struct frames_failure failure;
};

static const struct frames_cause causes[] = { { .remedy = "first" }, { .remedy = "second" } };

static int add(int64_t status, struct naming_answer *answer, int64_t function, bool inlined)
{
	const struct named_frame frame = {
		.function = (uint32_t)function, .file = "known.c", .line = 8, .discriminator = 3, .inlined = inlined
	};
	return status < 0 ? (int)status : naming_answer_frame(answer, &frame);
}

/* Describes the known function again, and a new one, which is inlined into it at the first location. */
static int answer_both(const struct frames_request *request, struct naming_answer *answer)
{
	(void)request;
	int64_t known = naming_answer_function(
		answer,
		&(struct named_function){ .name = "known", .linkage = "known_symbol", .file = "known.c", .line = 7 });
	int64_t fresh = naming_answer_function(
		answer, &(struct named_function){ .name = "fresh", .note = "fresh\tknown", .role = ROLE_MAIN });
	int status = add(known < 0 ? known : fresh, answer, fresh, true);
	status = add(status, answer, known, false);
	return status < 0 ? status : naming_answer_plain(answer, &(struct named_function){ .name = "known" });
}

static int answer_failure(const struct frames_request *request, struct naming_answer *answer)
{
	answer->failure.cause = &request->provider->causes[1];
	error_set(&answer->failure.detail, ERROR_NOT_FOUND, "no such %s", "thing");
	return naming_answer_plain(answer, &(struct named_function){ .name = "left out" });
}

static const struct frames_provider both = {
	.kind = FRAME_JIT, .causes = causes, .cause_count = 2, .name_module = answer_both
};
static const struct frames_provider failing = { .causes = causes, .cause_count = 2, .name_module = answer_failure };

static void scene_init(struct scene *scene, const struct frames_provider *provider)
{
	static const uint32_t locations[] = { 0, 1 };
	*scene = (struct scene){ .profile = profile_new() };
	assert_non_null(scene->profile);
	scene->request = (struct frames_request){
		.provider = provider, .profile = scene->profile, .locations = locations, .count = 2
	};
	assert_int_equal(profile_add_module(scene->profile, &(struct profile_module){ .kind = MODULE_FILE }), 0);
	const struct profile_function known = { .name = (uint32_t)profile_add_string(scene->profile, "known") };
	assert_int_equal(profile_add_function(scene->profile, &known), 0);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(profile_add_location(scene->profile, 0, 0x1000 + i), i);
	assert_int_equal(functions_init(&scene->functions, scene->profile), 0);
}

static void scene_release(struct scene *scene)
{
	functions_release(&scene->functions);
	profile_free(scene->profile);
}

static struct buffer make(const struct frames_provider *provider)
{
	struct scene scene;
	struct buffer bytes;
	buffer_init(&bytes);
	scene_init(&scene, provider);
	assert_int_equal(naming_answer_make(&scene.request, &bytes), 0);
	assert_int_equal(scene.profile->frame_count, 0);
	scene_release(&scene);
	return bytes;
}

static int read_bytes(struct scene *scene, const uint8_t *bytes, size_t size)
{
	return naming_answer_read(bytes, size, &scene->request, &scene->functions, &scene->failure);
}

static void test_frames(void **state)
{
	(void)state;
	struct scene scene;
	struct buffer bytes = make(&both);
	scene_init(&scene, &both);
	struct profile *profile = scene.profile;
	assert_int_equal(read_bytes(&scene, bytes.bytes, bytes.size), 0);
	assert_null(scene.failure.cause);
	assert_int_equal(profile->function_count, 2);
	assert_string_equal(profile_string(profile, profile->functions[0].linkage), "known_symbol");
	assert_int_equal(profile->functions[0].line, 7);
	assert_int_equal(profile->locations[0].frame_count, 2);
	assert_string_equal(lab_name(profile, 0, 0), "fresh");
	assert_string_equal(lab_name(profile, 0, 1), "known");
	assert_int_equal(lab_function(profile, 0, 0)->role, ROLE_MAIN);
	assert_true(lab_frame(profile, 0, 0)->inlined);
	assert_false(lab_frame(profile, 0, 1)->inlined);
	assert_int_equal(lab_frame(profile, 0, 1)->line, 8);
	assert_int_equal(lab_frame(profile, 0, 1)->discriminator, 3);
	assert_int_equal(lab_frame(profile, 0, 1)->kind, FRAME_JIT);
	assert_int_equal(profile->locations[1].frame_count, 1);
	assert_string_equal(lab_name(profile, 1, 0), "known");
	assert_int_equal(lab_frame(profile, 1, 0)->line, 0);
	assert_string_equal(profile_note(profile, PROFILE_NOTE_NESTED), "fresh\tknown");
	assert_int_equal(profile_check(profile), 0);
	scene_release(&scene);
	buffer_release(&bytes);
}

static void test_failure(void **state)
{
	(void)state;
	struct scene scene;
	struct buffer bytes = make(&failing);
	scene_init(&scene, &failing);
	assert_int_equal(read_bytes(&scene, bytes.bytes, bytes.size), 0);
	assert_ptr_equal(scene.failure.cause, &causes[1]);
	assert_string_equal(scene.failure.detail.message, "no such thing");
	assert_int_equal(scene.profile->function_count, 1);
	assert_int_equal(scene.profile->locations[0].first_frame, PROFILE_NONE);
	scene_release(&scene);
	buffer_release(&bytes);
}

/* Reads bytes, which are refused, or add something that is consistent. Returns whether they were refused. */
static bool refuses(const uint8_t *bytes, size_t size)
{
	struct scene scene;
	scene_init(&scene, &both);
	int status = read_bytes(&scene, bytes, size);
	bool is_unchanged = scene.profile->function_count == 1 && scene.profile->frame_count == 0;
	assert_true(status == 0 || (status == ERROR_CORRUPT && is_unchanged));
	assert_int_equal(profile_check(scene.profile), 0);
	scene_release(&scene);
	return status < 0;
}

static void test_damage(void **state)
{
	(void)state;
	struct buffer bytes = make(&both);
	uint64_t random = 1;
	for (size_t cut = 0; cut < bytes.size; cut++)
		assert_true(refuses(bytes.bytes, cut));
	buffer_append_byte(&bytes, 0);
	assert_true(refuses(bytes.bytes, bytes.size--));
	for (size_t i = 0; i < 20 * bytes.size; i++) {
		uint8_t *byte = &bytes.bytes[i % bytes.size], before = *byte;
		random = hash_u64(random + 0x9e3779b97f4a7c15);
		*byte = i < bytes.size ? 0xff : (uint8_t)random;
		refuses(bytes.bytes, bytes.size);
		*byte = before;
	}
	assert_false(refuses(bytes.bytes, bytes.size));
	buffer_release(&bytes);
}

/* An answer has no more texts than its functions and frames can need: a short one cannot cost much memory. */
static void test_texts_without_use(void **state)
{
	(void)state;
	enum { STRINGS_AT = 2 * sizeof(uint32_t), HEAD_BYTES = 5 * sizeof(uint32_t), MORE = 1000 };
	struct buffer bytes = make(&both), longer;
	uint32_t strings;
	buffer_init(&longer);
	for (uint32_t more = 1; more <= MORE; more += MORE - 1) {
		memcpy(&strings, bytes.bytes + STRINGS_AT, sizeof(strings));
		strings += more;
		buffer_clear(&longer);
		buffer_append(&longer, bytes.bytes, HEAD_BYTES);
		memcpy(longer.bytes + STRINGS_AT, &strings, sizeof(strings));
		for (uint32_t i = 0; i < more; i++)
			buffer_append_byte(&longer, 0);
		buffer_append(&longer, bytes.bytes + HEAD_BYTES, bytes.size - HEAD_BYTES);
		assert_int_equal(refuses(longer.bytes, longer.size), more == MORE);
	}
	buffer_release(&longer);
	buffer_release(&bytes);
}

/* No location has more than 4096 frames. */
static int answer_deep(const struct frames_request *request, struct naming_answer *answer)
{
	int64_t function = naming_answer_function(answer, &(struct named_function){ .name = "deep" });
	for (uint32_t i = 1; i < request->module; i++)
		add(0, answer, function, true);
	int status = add(function, answer, function, false);
	return status < 0 ? status : add(0, answer, function, false);
}

static void test_depth(void **state)
{
	(void)state;
	static const struct frames_provider deep = { .name_module = answer_deep };
	enum { MOST = 4096 };
	for (uint32_t more = 0; more < 2; more++) {
		struct scene scene;
		struct buffer bytes;
		buffer_init(&bytes);
		scene_init(&scene, &deep);
		scene.request.module = MOST + more;
		assert_int_equal(naming_answer_make(&scene.request, &bytes), 0);
		scene.request.module = 0;
		assert_int_equal(read_bytes(&scene, bytes.bytes, bytes.size), more ? ERROR_CORRUPT : 0);
		scene_release(&scene);
		buffer_release(&bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames), cmocka_unit_test(test_failure),
		cmocka_unit_test(test_damage), cmocka_unit_test(test_texts_without_use),
		cmocka_unit_test(test_depth),
	};
	return cmocka_run_group_tests_name("naming_answer", tests, NULL, NULL);
}
