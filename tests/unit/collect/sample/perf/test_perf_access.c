/* Messages for perf events that the kernel refuses, the sizes of rings, the resources that perf can measure on
 * this machine, and the `none` backend. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/sample/backend.h"
#include "collect/sample/perf/access.h"

/* --- messages for refusals --- */

static const struct resource_row *row_of(const char *name)
{
	const struct resource_row *row = resource_rows;
	while (row->name && strcmp(row->name, name) != 0)
		row++;
	assert_non_null(row->name);
	return row;
}

static struct resource_request request_of(const struct resource_row *row)
{
	struct resource_request request = { .row = row, .interval = row->default_interval };
	snprintf(request.name, sizeof(request.name), "%s", row->name);
	return request;
}

static void assert_refused(const char *resource, int refusal, bool user_mode_only, int code, const char *says)
{
	struct error error = { 0 };
	assert_int_equal(perf_access_refused(row_of(resource), refusal, user_mode_only, &error), code);
	assert_int_equal(error.code, code);
	if (!strstr(error.message, says))
		fail_msg("'%s' is not in: %s", says, error.message);
}

static void test_refusals(void **state)
{
	(void)state;
	assert_refused("cycles", ENOENT, false, ERROR_UNSUPPORTED, "this machine has no hardware counter for cycles");
	assert_refused("instructions", EOPNOTSUPP, false, ERROR_UNSUPPORTED,
		       "cpu, user, sys and page-faults need none");
	assert_refused("cache-misses", ENODEV, false, ERROR_UNSUPPORTED, "no hardware counter for cache-misses");
	assert_refused("cpu", ENOENT, false, ERROR_UNSUPPORTED, "this kernel cannot count cpu");
	assert_refused("cpu", ENOSYS, false, ERROR_UNSUPPORTED, "CONFIG_PERF_EVENTS");
	assert_refused("cpu", EMFILE, false, ERROR_SYSTEM, strerror(EMFILE));
	char setting[64];
	snprintf(setting, sizeof(setting), "kernel.perf_event_paranoid is %d", perf_access_paranoid());
	assert_refused("cpu", EACCES, false, ERROR_PERMISSION, setting);
	assert_refused("cpu", EPERM, false, ERROR_PERMISSION, "PERFMON");
	snprintf(setting, sizeof(setting), "kernel.perf_event_paranoid = %d", perf_access_paranoid());
	assert_refused("sys", EACCES, true, ERROR_PERMISSION, setting);
	assert_refused("sys", EACCES, true, ERROR_PERMISSION, "cannot measure sys: kernel.perf_event_paranoid");
	assert_refused("sys", EACCES, true, ERROR_PERMISSION, "sudo sysctl kernel.perf_event_paranoid=1");
}

static void test_refusal_of_everything(void **state)
{
	(void)state;
	struct error error = { 0 };
	assert_int_equal(perf_access_everything_refused(EACCES, &error), ERROR_PERMISSION);
	bool is_setting = perf_access_paranoid() > 0;
	assert_non_null(strstr(error.message, is_setting ? "sudo sysctl kernel.perf_event_paranoid=0" : "seccomp"));
	assert_int_equal(perf_access_everything_refused(ENODEV, &error), ERROR_SYSTEM);
	assert_non_null(strstr(error.message, strerror(ENODEV)));
}

static void test_ring_sizes(void **state)
{
	(void)state;
	enum { KB = 1024, MB = KB * KB, SIDE = 256 * KB, LEAST = 64 * KB };
	static const size_t wanted[] = { 8 * MB, 64 * MB };
	for (size_t i = 0; i < 2 * 1024; i++) {
		size_t side, samples, cpus = i / 2 + 1, most = wanted[i % 2];
		perf_access_ring_sizes(cpus, SIDE, most, LEAST, &side, &samples);
		assert_true(side >= LEAST / 4 && side <= SIDE);
		assert_true(samples >= LEAST && samples <= most);
		assert_true(samples * cpus <= 4 * most || samples <= MB);
		assert_int_equal(side & (side - 1), 0); /* powers of two */
		assert_int_equal(samples & (samples - 1), 0);
	}
}

/* --- backends --- */

/* On any machine, each resource either can be measured or has a message with the reason. */
static void test_probe(void **state)
{
	(void)state;
	for (const struct resource_row *row = resource_rows; row->name; row++) {
		struct error error = { 0 };
		bool user_mode_only = false;
		const struct resource_request request = request_of(row);
		int result = backend_perf.probe(&request, &user_mode_only, &error);
		if (result == 0) {
			assert_int_equal(error.code, 0);
			assert_false(user_mode_only && row->needs_kernel);
			continue;
		}
		assert_true(result == ERROR_PERMISSION || result == ERROR_UNSUPPORTED);
		assert_int_equal(error.code, result);
		bool names = strstr(error.message, row->name) || strstr(error.message, "perf_event_paranoid");
		if (!names && !strstr(error.message, "no perf events"))
			fail_msg("%s: %s", row->name, error.message);
	}
}

static void test_no_hardware_counters(void **state)
{
	(void)state;
	if (access("/sys/bus/event_source/devices/cpu", F_OK) == 0 ||
	    access("/sys/bus/event_source/devices/cpu_core", F_OK) == 0) {
		print_message("skipped: this machine has hardware counters\n");
		skip();
	}
	bool user_mode_only;
	struct error error = { 0 };
	const struct resource_request cpu = request_of(row_of("cpu"));
	if (backend_perf.probe(&cpu, &user_mode_only, &error) < 0) {
		print_message("skipped: perf events are refused here: %s\n", error.message);
		skip();
	}
	for (const struct resource_row *row = resource_rows; row->name; row++) {
		if (!row->is_hardware)
			continue;
		const struct resource_request request = request_of(row);
		assert_int_equal(backend_perf.probe(&request, &user_mode_only, &error), ERROR_UNSUPPORTED);
		char wanted[128];
		snprintf(wanted, sizeof(wanted),
			 "this machine has no hardware counter for %s, as many virtual machines", row->name);
		assert_non_null(strstr(error.message, wanted));
	}
}

static void test_none_refuses(void **state)
{
	(void)state;
	bool user_mode_only = true;
	struct error error = { 0 };
	for (const struct resource_row *row = resource_rows; row->name; row++) {
		const struct resource_request request = request_of(row);
		assert_int_equal(backend_none.probe(&request, &user_mode_only, &error), ERROR_UNSUPPORTED);
		assert_false(user_mode_only);
		assert_non_null(strstr(error.message, row->name));
	}
	const struct backend_request request = { 0 };
	error = (struct error){ 0 };
	assert_null(backend_none.open(&request, &error));
	assert_int_equal(error.code, ERROR_UNSUPPORTED);
	assert_int_equal(backend_none.attach(NULL, getpid(), getpid(), false, &error), ERROR_UNSUPPORTED);
	assert_int_equal(backend_none.start(NULL, &error), ERROR_UNSUPPORTED);
	assert_int_equal(backend_none.descriptors(NULL, NULL, 0), 0);
	struct backend_counts counts = backend_none.counts(NULL, 0);
	assert_int_equal(counts.total, 0);
	assert_int_equal(counts.lost, UINT64_MAX);
	backend_none.drain(NULL, UINT64_MAX, NULL);
	backend_none.stop(NULL);
	backend_none.close(NULL);
	assert_string_equal(backend_none.name, "none");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_refusal_of_everything),
		cmocka_unit_test(test_ring_sizes),
		cmocka_unit_test(test_probe),
		cmocka_unit_test(test_no_hardware_counters),
		cmocka_unit_test(test_none_refuses),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
