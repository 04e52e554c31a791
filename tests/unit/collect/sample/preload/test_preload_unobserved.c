/* The share of transfers that the agent did not observe (collect/sample/preload/unobserved.h). */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/sample/preload/unobserved.h"

static double share_of_reads(uint64_t accounted, uint64_t seen, uint64_t others)
{
	const struct preload_account account = { .unobserved = preload_unobserved_of(
							 &(struct channel_amounts){ .read = accounted },
							 &(struct channel_amounts){ .read = seen }) };
	const struct channel_moved moved = { { .read = seen }, { .read = others } };
	struct preload_unobserved sum = { 0 };
	preload_unobserved_add_account(&sum, &account);
	preload_unobserved_add_seen(&sum, &moved);
	return preload_unobserved_share(&sum, COUNTER_READ);
}

static bool is_about(double share, double expected)
{
	return share > expected - 1e-9 && share < expected + 1e-9;
}

static void test_shares(void **state)
{
	(void)state;
	assert_true(is_about(share_of_reads(100000, 69000, 0), 0.31));
	assert_true(is_about(share_of_reads(100000, 0, 0), 1));
	assert_true(is_about(share_of_reads(100000, 50000, 100000), 0.25));
	/* A share below 5 %, or an amount below 8192 bytes, is not reported. */
	assert_true(is_about(share_of_reads(100000, 96000, 0), 0));
	assert_true(is_about(share_of_reads(1000000, 951000, 0), 0));
	assert_true(is_about(share_of_reads(8191, 0, 0), 0));
	assert_true(is_about(share_of_reads(8192, 0, 0), 1));
	/* No transfers, more observed than accounted bytes, and any values that a target writes into the channel
	 * give 0. */
	assert_true(is_about(share_of_reads(0, 0, 0), 0));
	assert_true(is_about(share_of_reads(100000, 100001, 0), 0));
	assert_true(is_about(share_of_reads(100000, UINT64_MAX, UINT64_MAX), 0));
	assert_true(is_about(share_of_reads(100000, 0, UINT64_MAX), 0));
}

static void test_resources(void **state)
{
	(void)state;
	static const struct {
		enum counter counter;
		const char *text; /* NULL: no text */
	} all[] = {
		{ COUNTER_READ, "20 % of the bytes read" },
		{ COUNTER_READ_REQUESTED, "20 % of the bytes read" },
		{ COUNTER_WRITTEN, "40 % of the bytes written" },
		{ COUNTER_WRITE_REQUESTED, "40 % of the bytes written" },
		{ COUNTER_TRANSFERRED, "30 % of the bytes read and written" },
		{ COUNTER_TRANSFER_REQUESTED, "30 % of the bytes read and written" },
		{ COUNTER_IO_CALLS, "75 % of the calls that read and write" },
		{ COUNTER_IO_TIME, NULL },
		{ COUNTER_CPU, NULL },
	};
	const struct preload_unobserved unobserved = { { 80000, 60000, 100 }, { 20000, 40000, 300 } };
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		char text[64] = "";
		assert_int_equal(preload_unobserved_concerns(all[i].counter), all[i].text != NULL);
		assert_int_equal(preload_unobserved_text(&unobserved, all[i].counter, text, sizeof(text)),
				 all[i].text != NULL);
		assert_string_equal(text, all[i].text ? all[i].text : "");
	}
}

/* Small amounts of many processes do not add up. */
static void test_little(void **state)
{
	(void)state;
	const struct preload_account little = { .unobserved = { 8191, 8191, 19 } },
				     enough = { .unobserved = { 8192, 8192, 20 } };
	struct preload_unobserved sum = { 0 };
	for (int i = 0; i < 100; i++)
		preload_unobserved_add_account(&sum, &little);
	assert_int_equal(sum.unobserved.read + sum.unobserved.written + sum.unobserved.calls, 0);
	preload_unobserved_add_account(&sum, &enough);
	assert_int_equal(sum.unobserved.read, 8192);
	assert_int_equal(sum.unobserved.written, 8192);
	assert_int_equal(sum.unobserved.calls, 20);
}

/* Each look compares the amounts that the kernel had accounted at the previous look with those observed by now. */
static void test_looks(void **state)
{
	(void)state;
	struct preload_account account;
	struct preload_state now = { 0 };
	struct preload_seen seen = { 0 };
	preload_account_begin_forked(&account);
	now.all = now.main = (struct channel_amounts){ 50000, 0, 10 };
	preload_account_update(&account, &now, &seen);
	assert_int_equal(account.accounted.read, 0);
	seen.all.filed = (struct channel_amounts){ 50000, 0, 10 };
	now.all = now.main = (struct channel_amounts){ 90000, 0, 20 };
	preload_account_update(&account, &now, &seen);
	assert_int_equal(account.accounted.read, 50000);
	assert_int_equal(account.unobserved.read, 0);
	/* At the end, every accounted amount that was not observed is unobserved. */
	preload_account_close(&account, &now, &seen);
	assert_int_equal(account.accounted.read, 90000);
	assert_int_equal(account.unobserved.read, 40000);
	assert_false(account.is_kept);
}

/* After a child was waited for, the process's account includes the child's. Only the account of the main thread is
 * used then, unless an earlier look had accounted more. */
static void test_children(void **state)
{
	(void)state;
	struct preload_account account;
	const struct preload_seen seen = { .all.filed = { 7000, 0, 7 }, .main.filed = { 5000, 0, 5 } };
	const struct preload_state little = { { 900000, 0, 900 }, { 6000, 0, 6 }, 1 };
	const struct preload_state alone = { { 9000, 0, 9 }, { 6000, 0, 6 }, 0 };
	preload_account_begin_forked(&account);
	preload_account_close(&account, &little, &seen);
	assert_int_equal(account.accounted.read, 6000);
	assert_int_equal(account.unobserved.read, 1000);
	preload_account_begin_forked(&account);
	preload_account_update(&account, &alone, &seen);
	preload_account_update(&account, &alone, &seen);
	preload_account_close(&account, &little, &seen);
	assert_int_equal(account.accounted.read, 9000);
	assert_int_equal(account.unobserved.read, 2000);
}

/* The account of a process that has ended can be read until its parent has waited for it, by root. */
static void test_reading(void **state)
{
	(void)state;
	struct preload_state read_state;
	int ends[2];
	if (!preload_state_read(&read_state, (uint32_t)getpid()) || geteuid() != 0)
		skip(); /* without accounts in this kernel, and for other users */
	assert_int_equal(pipe(ends), 0);
	pid_t child = fork();
	if (child == 0) {
		char bytes[1000] = { 0 };
		_exit(write(ends[1], bytes, sizeof(bytes)) != sizeof(bytes));
	}
	siginfo_t info;
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	assert_true(preload_state_read(&read_state, (uint32_t)child));
	assert_int_equal(read_state.all.written, 1000);
	assert_int_equal(read_state.main.written, 1000);
	assert_int_equal(read_state.all.calls, 1);
	assert_int_equal(read_state.child_faults, 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_false(preload_state_read(&read_state, (uint32_t)child));
	assert_true(preload_state_read(&read_state, (uint32_t)getpid()));
	assert_true(read_state.child_faults > 0);
	struct preload_account account;
	preload_account_begin(&account, (uint32_t)child);
	assert_false(account.is_kept);
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shares), cmocka_unit_test(test_resources), cmocka_unit_test(test_looks),
		cmocka_unit_test(test_little), cmocka_unit_test(test_children),  cmocka_unit_test(test_reading),
	};
	return cmocka_run_group_tests_name("preload_unobserved", tests, NULL, NULL);
}
