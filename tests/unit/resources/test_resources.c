/* resources/resources.c, resource_words.c, resource_parameters.c and syscall_names.c: parsing of resource
 * requests. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "resources/resources.h"
#include "resources/syscall_names.h"

static const struct resource_row *row_of(const char *name)
{
	const struct resource_row *row = resource_rows;
	while (row->name && strcmp(row->name, name) != 0)
		row++;
	assert_non_null(row->name);
	return row;
}

/* --- the table --- */

static void test_rows(void **state)
{
	(void)state;
	static const char *const wanted[] = {
		"cpu",          "user",         "sys",          "page-faults",
		"minor-faults", "major-faults", "migrations",   "context-switches",
		"cycles",       "instructions", "cache-misses", "branch-misses",
		"real",         "blocked",      "io-time",      "lock-wait",
		"syscalls",     "read-bytes",   "write-bytes",  "io-bytes",
		"signals",      "traps",        "disk-bytes",   "calls",
		"alloc-bytes",  "allocs",       "tracepoint",   "uprobe",
		"usdt",         "io-calls",     "own",          "fp-exceptions",
		"fp-invalid",   "fp-divzero",   "fp-overflow",  "fp-underflow",
		"fp-denormal",  "fp-inexact",   "text-faults",  "data-faults",
	};
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		row_of(wanted[i]);
	size_t count = 0;
	for (const struct resource_row *row = resource_rows; row->name; row++, count++) {
		assert_true(row->title[0] && row->gtick[0] && row->summary[0]);
		assert_true(row->default_interval > 0);
		assert_int_equal(row->is_time, row->gtick_ns > 0);
		if (row->is_time)
			assert_string_equal(row->gtick, row->gtick_ns == 1 ? "ns" : "us");
		assert_int_equal(row->parameters != NULL, row->parse != NULL);
		for (const struct resource_row *other = resource_rows; other < row; other++)
			assert_string_not_equal(row->name, other->name);
		/* The default is an interval that a user may also request. */
		char words[32];
		snprintf(words, sizeof(words), "%llu%s", (unsigned long long)row->default_interval,
			 row->is_time ? row->gtick : "");
		uint64_t interval = 0;
		assert_int_equal(resource_parse_interval(row, words, &interval, NULL), 0);
		assert_int_equal(interval, row->default_interval);
	}
	assert_int_equal(count, sizeof(wanted) / sizeof(wanted[0]));
}

/* --- words --- */

static void test_names(void **state)
{
	(void)state;
	for (const struct resource_row *row = resource_rows; row->name; row++) {
		struct resource_request request;
		if (row->parameters && !row->parameters_optional)
			continue;
		assert_int_equal(resource_parse(row->name, &request, NULL), 0);
		assert_string_equal(request.name, row->name);
		assert_string_equal(request.title, row->title);
		assert_string_equal(request.gtick, row->gtick);
		assert_int_equal(request.target.syscall, RESOURCE_ALL_SYSCALLS);
		assert_ptr_equal(request.row, row);
		assert_int_equal(request.interval, row->default_interval);
		assert_true(request.default_interval);
	}
	struct resource_request request;
	assert_int_equal(resource_parse("cpu/1ms", &request, NULL), 0);
	assert_string_equal(request.row->name, "cpu");
	assert_int_equal(request.interval, 1000000);
	assert_false(request.default_interval);
	assert_int_equal(resource_parse("page-faults/10", &request, NULL), 0);
	assert_string_equal(request.row->name, "page-faults");
	assert_int_equal(request.interval, 10);
}

static void test_nearest_names(void **state)
{
	(void)state;
	static const struct {
		const char *typed, *message;
	} cases[] = {
		{ "cpuu", "unknown resource 'cpuu' (did you mean cpu?)" },
		{ "CPU/1ms", "unknown resource 'CPU' ('cpprof resources' lists them)" },
		{ "page-fault/10", "unknown resource 'page-fault' (did you mean page-faults?)" },
		{ "faults", NULL },
		{ "cache-mises", "unknown resource 'cache-mises' (did you mean cache-misses?)" },
		{ "majorfaults", "unknown resource 'majorfaults' (did you mean major-faults, minor-faults?)" },
		{ "context", "unknown resource 'context' (did you mean context-switches?)" },
		{ "", NULL },
		{ "/1ms", NULL },
		{ ":", NULL },
		{ "syscall:read", "unknown resource 'syscall' (did you mean syscalls, sys?)" },
		{ "cpu ", NULL },
		{ "cp", NULL },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct resource_request request;
		struct error error = { 0 };
		assert_int_equal(resource_parse(cases[i].typed, &request, &error), ERROR_USAGE);
		assert_int_equal(error.code, ERROR_USAGE);
		assert_non_null(strstr(error.message, "unknown resource '"));
		if (cases[i].message)
			assert_string_equal(error.message, cases[i].message);
	}
	char long_name[1000];
	memset(long_name, 'p', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = 0;
	struct resource_request request;
	assert_int_equal(resource_parse(long_name, &request, NULL), ERROR_USAGE);
}

static void test_intervals(void **state)
{
	(void)state;
	static const struct {
		const char *resource, *words;
		uint64_t interval;
	} cases[] = {
		{ "cpu", "20000ns", 20000 },
		{ "cpu", "20us", 20000 },
		{ "cpu", "500us", 500000 },
		{ "cpu", "500\u00b5s", 500000 },
		{ "cpu", "1ms", 1000000 },
		{ "user", "0.1s", 100000000 },
		{ "sys", "60s", 60000000000 },
		{ "cpu", "60000ms", 60000000000 },
		{ "cpu", "01ms", 1000000 },
		{ "cpu", "1.5ms", 1500000 },
		{ "page-faults", "1", 1 },
		{ "page-faults", "10", 10 },
		{ "page-faults", "5k", 5000 },
		{ "page-faults", "5K", 5000 },
		{ "page-faults", "1M", 1000000 },
		{ "page-faults", "1.5k", 1500 },
		{ "minor-faults", "2G", 2000000000 },
		{ "migrations", "1000G", 1000000000000 },
		{ "cycles", "1000", 1000 },
		{ "instructions", "2M", 2000000 },
		{ "real", "10ms", 10000 },
		{ "real", "20us", 20 },
		{ "blocked", "1us", 1 },
		{ "io-time", "1000ns", 1 },
		{ "lock-wait", "60s", 60000000 },
		{ "read-bytes", "64KiB", 65536 },
		{ "alloc-bytes", "1MiB", 1048576 },
		{ "disk-bytes", "1GiB", 1073741824 },
		{ "write-bytes", "64k", 64000 },
		{ "io-bytes", "1.5KiB", 1536 },
		{ "tracepoint", "4KiB", 4096 },
		/* Decimal fractions that have no exact binary form. */
		{ "cpu", "1.001ms", 1001000 },
		{ "cpu", "64.1us", 64100 },
		{ "page-faults", "16.1k", 16100 },
		{ "page-faults", "4.1M", 4100000 },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t interval = 0;
		struct error error = { 0 };
		assert_int_equal(resource_parse_interval(row_of(cases[i].resource), cases[i].words, &interval, &error),
				 0);
		assert_int_equal(interval, cases[i].interval);
	}
}

static void test_bad_intervals(void **state)
{
	(void)state;
	static const char TIME_FORM[] = "(a time with its unit, as 1ms, 500us or 0.1s";
	static const char COUNT_FORM[] = "(a whole number, as 10, 5k or 1M)";
	static const char BYTES_FORM[] = "(a whole number, as 4096, 64KiB or 1M)";
	static const char TIME_RANGE[] = "is out of range (20us to 60s)";
	static const char COUNT_RANGE[] = "is out of range (1 to 1000G)";
	static const char HARDWARE_RANGE[] = "is out of range (1000 to 1000G)";
	static const struct {
		const char *words, *says;
	} cases[] = {
		{ "cpu/", TIME_FORM },
		{ "cpu/1", TIME_FORM },
		{ "cpu/ms", TIME_FORM },
		{ "cpu/1 ms", TIME_FORM },
		{ "cpu/ 1ms", TIME_FORM },
		{ "cpu/-1ms", TIME_FORM },
		{ "cpu/+1ms", TIME_FORM },
		{ "cpu/1msx", TIME_FORM },
		{ "cpu/1k", TIME_FORM },
		{ "cpu/1MS", TIME_FORM },
		{ "cpu/infms", TIME_FORM },
		{ "cpu/nanms", TIME_FORM },
		{ "cpu/.5ms", TIME_FORM },
		{ "cpu/1ms/2ms", TIME_FORM },
		{ "cpu/0x10ms", TIME_FORM },
		{ "cpu/0X10ms", TIME_FORM },
		{ "cpu/0x1p20ns", TIME_FORM },
		{ "cpu/0ms", TIME_RANGE },
		{ "cpu/19us", TIME_RANGE },
		{ "cpu/19999ns", TIME_RANGE },
		{ "cpu/61s", TIME_RANGE },
		{ "cpu/1e300s", TIME_RANGE },
		{ "cpu/1e999s", TIME_RANGE },
		{ "page-faults/", COUNT_FORM },
		{ "page-faults/x", COUNT_FORM },
		{ "page-faults/1ms", COUNT_FORM },
		{ "page-faults/-1", COUNT_FORM },
		{ "page-faults/0x10", COUNT_FORM },
		{ "page-faults/0X10", COUNT_FORM },
		{ "page-faults/1.5", "a whole number" },
		{ "page-faults/0.0001k", "a whole number" },
		{ "page-faults/0", COUNT_RANGE },
		{ "page-faults/1001G", COUNT_RANGE },
		{ "page-faults/1e999", COUNT_RANGE },
		{ "cycles/999", HARDWARE_RANGE },
		{ "real/19us", TIME_RANGE },
		{ "real/61s", TIME_RANGE },
		{ "blocked/999ns", "is out of range (1us to 60s)" },
		{ "blocked/10", TIME_FORM },
		{ "blocked/1KiB", TIME_FORM },
		{ "read-bytes/1.0001KiB", "a whole number" },
		{ "read-bytes/0KiB", COUNT_RANGE },
		{ "read-bytes/64KB", BYTES_FORM },
		{ "read-bytes/64kib", BYTES_FORM },
		{ "syscalls/1KiB", COUNT_FORM },
		{ "syscalls:read/", COUNT_FORM },
		{ "syscalls:read/1ms", COUNT_FORM },
		{ "calls:f/1ms", COUNT_FORM },
		{ "calls:f/0", COUNT_RANGE },
		{ "tracepoint:sched:sched_switch/x", BYTES_FORM },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct resource_request request;
		struct error error = { 0 };
		assert_int_equal(resource_parse(cases[i].words, &request, &error), ERROR_USAGE);
		if (!strstr(error.message, cases[i].says))
			fail_msg("%s: %s", cases[i].words, error.message);
	}
}

/* --- parameters --- */

static void test_parameters(void **state)
{
	(void)state;
	static const struct {
		const char *words, *name, *title;
		struct resource_target target;
		uint64_t interval; /* 0: the default */
	} cases[] = {
		{ "syscalls:read", "syscalls:read", "System Calls: read", { .name = "read", .syscall = SYS_read }, 0 },
		{ "syscalls:openat/7",
		  "syscalls:openat",
		  "System Calls: openat",
		  { .name = "openat", .syscall = SYS_openat },
		  7 },
		{ "syscalls/7", "syscalls", "System Calls", { .syscall = -1 }, 7 },
		{ "read-bytes:requested/1KiB",
		  "read-bytes:requested",
		  "Bytes Read: requested",
		  { .syscall = -1 },
		  1024 },
		{ "calls:qsort", "calls:qsort", "Calls: qsort", { .name = "qsort", .syscall = -1 }, 0 },
		{ "calls:qsort@libc.so.6/5",
		  "calls:qsort@libc.so.6",
		  "Calls: qsort@libc.so.6",
		  { .name = "qsort", .module = "libc.so.6", .syscall = -1 },
		  5 },
		{ "calls:ns::f(int, char const*)@/opt/lib/x.so/2k",
		  "calls:ns::f(int, char const*)@/opt/lib/x.so",
		  "Calls: ns::f(int, char const*)@/opt/lib/x.so",
		  { .name = "ns::f(int, char const*)", .module = "/opt/lib/x.so", .syscall = -1 },
		  2000 },
		{ "calls:v::operator/",
		  "calls:v::operator/",
		  "Calls: v::operator/",
		  { .name = "v::operator/", .syscall = -1 },
		  0 },
		{ "calls:f@/opt/9lib",
		  "calls:f@/opt/9lib",
		  "Calls: f@/opt/9lib",
		  { .name = "f", .module = "/opt/9lib", .syscall = -1 },
		  0 },
		{ "tracepoint:sched:sched_switch/3",
		  "tracepoint:sched:sched_switch",
		  "Tracepoint: sched:sched_switch",
		  { .group = "sched", .name = "sched_switch", .syscall = -1 },
		  3 },
		{ "tracepoint:block:block_rq_issue:bytes",
		  "tracepoint:block:block_rq_issue:bytes",
		  "Tracepoint: block:block_rq_issue:bytes",
		  { .group = "block", .name = "block_rq_issue", .field = "bytes", .syscall = -1 },
		  0 },
		{ "uprobe:/lib/x86_64-linux-gnu/libc.so.6:malloc",
		  "uprobe:/lib/x86_64-linux-gnu/libc.so.6:malloc",
		  "Probe: /lib/x86_64-linux-gnu/libc.so.6:malloc",
		  { .module = "/lib/x86_64-linux-gnu/libc.so.6", .name = "malloc", .syscall = -1 },
		  0 },
		{ "uprobe:/lib/x86_64-linux-gnu/libc.so.6:malloc:arg1/64KiB",
		  "uprobe:/lib/x86_64-linux-gnu/libc.so.6:malloc:arg1",
		  "Probe: /lib/x86_64-linux-gnu/libc.so.6:malloc:arg1",
		  { .module = "/lib/x86_64-linux-gnu/libc.so.6", .name = "malloc", .argument = 1, .syscall = -1 },
		  65536 },
		{ "uprobe:x.so:ns::f:ret/10",
		  "uprobe:x.so:ns::f:ret",
		  "Probe: x.so:ns::f:ret",
		  { .module = "x.so", .name = "ns::f", .argument = RESOURCE_RETURN, .syscall = -1 },
		  10 },
		{ "uprobe:x:ns::arg1",
		  "uprobe:x:ns::arg1",
		  "Probe: x:ns::arg1",
		  { .module = "x", .name = "ns::arg1", .syscall = -1 },
		  0 },
		{ "own:orders taken/2",
		  "own:orders taken",
		  "Own: orders taken",
		  { .name = "orders taken", .syscall = -1 },
		  2 },
		{ "own:heap/64KiB", "own:heap", "Own: heap", { .name = "heap", .syscall = -1 }, 65536 },
		{ "own:Größe", "own:Größe", "Own: Größe", { .name = "Größe", .syscall = -1 }, 0 },
		{ "usdt:libc:setjmp",
		  "usdt:libc:setjmp",
		  "Static Probe: libc:setjmp",
		  { .group = "libc", .name = "setjmp", .syscall = -1 },
		  0 },
		{ "usdt:p:q:arg6/2",
		  "usdt:p:q:arg6",
		  "Static Probe: p:q:arg6",
		  { .group = "p", .name = "q", .argument = 6, .syscall = -1 },
		  2 },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct resource_request request;
		struct error error = { 0 };
		if (resource_parse(cases[i].words, &request, &error) < 0)
			fail_msg("%s: %s", cases[i].words, error.message);
		assert_string_equal(request.name, cases[i].name);
		assert_string_equal(request.title, cases[i].title);
		assert_string_equal(request.target.group, cases[i].target.group);
		assert_string_equal(request.target.name, cases[i].target.name);
		assert_string_equal(request.target.module, cases[i].target.module);
		assert_string_equal(request.target.field, cases[i].target.field);
		assert_int_equal(request.target.argument, cases[i].target.argument);
		assert_int_equal(request.target.syscall, cases[i].target.syscall);
		bool is_requested = strcmp(request.name, "read-bytes:requested") == 0;
		assert_int_equal(request.counter, is_requested ? COUNTER_READ_REQUESTED : request.row->counter);
		bool is_value = request.target.argument != 0 || request.target.field[0];
		assert_string_equal(request.gtick, is_value ? "unit" : request.row->gtick);
		assert_int_equal(request.interval,
				 cases[i].interval ? cases[i].interval : request.row->default_interval);
		assert_int_equal(request.default_interval, cases[i].interval == 0);
	}
}

static void test_bad_parameters(void **state)
{
	(void)state;
	static const struct {
		const char *words, *says;
	} cases[] = {
		{ "cpu:x", "resource cpu has no parameters (cpu or cpu/INTERVAL)" },
		{ "syscalls:", "resource 'syscalls:' is not valid (syscalls[:NAME]" },
		{ "syscalls:raed", "unknown system call 'raed' (did you mean read?)" },
		{ "syscalls:zzzzzzzzzzzz", "unknown system call 'zzzzzzzzzzzz' ('man 2 syscalls' lists them)" },
		{ "read-bytes:x", "resource 'read-bytes:x' is not valid (read-bytes[:requested]" },
		{ "calls", "resource 'calls' is not valid (calls:FUNCTION[@MODULE]" },
		{ "calls/10", "resource 'calls' is not valid (calls:FUNCTION[@MODULE]" },
		{ "calls:", "resource 'calls:' is not valid (calls:FUNCTION[@MODULE]" },
		{ "calls:@libc.so.6", "is not valid (calls:FUNCTION[@MODULE]" },
		{ "calls:f@", "is not valid (calls:FUNCTION[@MODULE]" },
		{ "tracepoint", "resource 'tracepoint' is not valid (tracepoint:SYSTEM:NAME[:FIELD]" },
		{ "tracepoint:sched", "is not valid (tracepoint:SYSTEM:NAME[:FIELD]" },
		{ "tracepoint::x", "is not valid (tracepoint:SYSTEM:NAME[:FIELD]" },
		{ "tracepoint:sched:", "is not valid (tracepoint:SYSTEM:NAME[:FIELD]" },
		{ "tracepoint:sched:x:", "is not valid (tracepoint:SYSTEM:NAME[:FIELD]" },
		{ "tracepoint:sched:x:y:z", "is not valid (tracepoint:SYSTEM:NAME[:FIELD]" },
		{ "uprobe:malloc", "resource 'uprobe:malloc' is not valid (uprobe:MODULE:FUNCTION[:argN|:ret]" },
		{ "uprobe:libc.so.6:", "is not valid (uprobe:MODULE:FUNCTION" },
		{ "uprobe::malloc", "is not valid (uprobe:MODULE:FUNCTION" },
		{ "uprobe:x:f:arg0", "arg0 in uprobe:x:f:arg0 is out of range (arg1 to arg6)" },
		{ "uprobe:x:f:arg7/10", "arg7 in uprobe:x:f:arg7 is out of range" },
		{ "uprobe:x:f:arg", "'arg' in uprobe:x:f:arg is not a value (arg1 to arg6 or ret)" },
		{ "uprobe:x:f:arg1x", "is not a value (arg1 to arg6" },
		{ "uprobe:x:f:", "is not a value (arg1 to arg6" },
		{ "own", "resource 'own' is not valid (own:NAME" },
		{ "own:", "resource 'own:' is not valid (own:NAME" },
		{ "own:/10", "resource 'own:' is not valid (own:NAME" },
		{ "own:a:b", "has a colon or a control character (own:NAME)" },
		{ "own:a\tb", "has a colon or a control character" },
		{ "own:a\x7f", "has a colon or a control character" },
		{ "own:orders/1ms", "(a whole number, as 4096, 64KiB or 1M)" },
		{ "own:0123456789012345678901234567890123456789012345678901234567890123",
		  "the name of the program's own resource has 64 bytes (limit 63)" },
		{ "fp-invalid:x", "resource fp-invalid has no parameters" },
		{ "fp-exeptions", "unknown resource 'fp-exeptions' (did you mean fp-exceptions?)" },
		{ "io-calls/1KiB", "(a whole number, as 10, 5k or 1M)" },
		{ "usdt:p", "resource 'usdt:p' is not valid (usdt:PROVIDER:PROBE[:argN]" },
		{ "usdt:p:q:ret", "'ret' in usdt:p:q:ret is not a value (arg1 to arg6)" },
		{ "usdt:p:q:arg99999999999999999999",
		  "arg99999999999999999999 in usdt:p:q:arg99999999999999999999 is out of range" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct resource_request request;
		struct error error = { 0 };
		assert_int_equal(resource_parse(cases[i].words, &request, &error), ERROR_USAGE);
		if (!strstr(error.message, cases[i].says))
			fail_msg("%s: %s", cases[i].words, error.message);
	}
}

/* Resources that the program counts itself: the longest name of a counter, and the kinds of floating-point
 * exceptions. */
static void test_inside(void **state)
{
	(void)state;
	char words[128];
	struct resource_request request;
	snprintf(words, sizeof(words), "own:%0*d/5", RESOURCE_OWN_BYTES, 1);
	assert_int_equal(resource_parse(words, &request, NULL), 0);
	assert_int_equal(strlen(request.target.name), RESOURCE_OWN_BYTES);
	uint8_t kinds = 0;
	for (const struct resource_row *row = resource_rows; row->name; row++) {
		assert_int_not_equal(row->counter, COUNTER_NONE);
		assert_int_equal(row->counter == COUNTER_FP, row->fp_kinds != 0);
		if (counter_is_inside(row->counter))
			assert_true(!row->on_perf && !row->needs_kernel);
		/* Each kind has its own row. */
		if (row->fp_kinds && (row->fp_kinds & (row->fp_kinds - 1)) == 0) {
			assert_int_equal(kinds & row->fp_kinds, 0);
			kinds |= row->fp_kinds;
		}
	}
	assert_int_equal(kinds, 63);
	assert_int_equal(row_of("fp-exceptions")->fp_kinds, kinds & ~FP_KIND_INEXACT);
}

static void test_long_parameters(void **state)
{
	(void)state;
	char words[1000];
	struct resource_request request;
	for (size_t length = 100; length < 900; length++) {
		struct error error = { 0 };
		snprintf(words, sizeof(words), "calls:%0*d", (int)length, 1);
		int result = resource_parse(words, &request, &error);
		assert_int_equal(result, length < sizeof(request.target.name) ? 0 : ERROR_USAGE);
		assert_true(result == 0 || error.message[0]);
	}
}

static void test_syscall_names(void **state)
{
	(void)state;
	assert_int_equal(syscall_number("read"), SYS_read);
	assert_string_equal(syscall_name(SYS_read), "read");
	assert_int_equal(syscall_number("futex"), SYS_futex);
	assert_string_equal(syscall_name(SYS_futex), "futex");
	assert_int_equal(syscall_number(""), -1);
	assert_int_equal(syscall_number("nonsense"), -1);
	assert_null(syscall_name(-1));
	assert_null(syscall_name((int)syscall_limit()));
	assert_string_equal(syscall_error_name(-ENOENT), "ENOENT");
	assert_string_equal(syscall_error_name(-516), "ERESTART_RESTARTBLOCK"); /* of the kernel alone */
	assert_null(syscall_error_name(0));
	assert_null(syscall_error_name(ENOENT));
	assert_null(syscall_error_name(-4096)); /* an address */
	assert_non_null(syscall_name((int)syscall_limit() - 1));
	assert_null(syscall_name(400)); /* every processor has a gap there */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),           cmocka_unit_test(test_names),
		cmocka_unit_test(test_nearest_names),  cmocka_unit_test(test_intervals),
		cmocka_unit_test(test_bad_intervals),  cmocka_unit_test(test_parameters),
		cmocka_unit_test(test_bad_parameters), cmocka_unit_test(test_long_parameters),
		cmocka_unit_test(test_syscall_names),  cmocka_unit_test(test_inside),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
