/* The interpretation of seccomp filters (collect/agent/core/filter.h), compared with the kernel's own: random programs
 * are installed in a child, which makes calls with several arguments. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/agent/core/filter.h"

enum { MOST = 32, CALLS = 7, REFUSED = 1 << CALLS, UNINSTALLED = 255 };

/* Arguments of getppid, which ignores them. */
static const long arguments[CALLS][FILTER_ARGUMENTS] = {
	{ 0 }, { 1 }, { 2, -1 }, { 0x100000000, 7 }, { 3, 5, 0x7fffffff }, { -1, -1, -1 }, { 16, 0x80000000, 9 },
};

/* Room for a filter: the structure ends with its instructions. */
union filter {
	struct machine_filter head;
	uint8_t room[sizeof(struct machine_filter) + MOST * sizeof(struct sock_filter)];
};

static void set(union filter *filter, const struct sock_filter *code, size_t count)
{
	memset(filter, 0, sizeof(*filter));
	filter->head.count = (uint32_t)count;
	memcpy(filter->head.code, code, count * sizeof(code[0]));
}

/* Returns bit n: call n is permitted. */
static unsigned permitted_by_us(const struct machine_filter *filters)
{
	unsigned found = 0;
	for (int i = 0; i < CALLS; i++)
		found |= (unsigned)filter_permits(filters, SYS_getppid, arguments[i]) << i;
	return found;
}

static void call_all(struct sock_filter *code, size_t count)
{
	struct sock_fprog program = { .len = (unsigned short)count, .filter = code };
	unsigned found = 0;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		_exit(UNINSTALLED);
	for (int i = 0; i < CALLS; i++) {
		const long *a = arguments[i];
		found |= (unsigned)(syscall(SYS_getppid, a[0], a[1], a[2], a[3], a[4], a[5]) >= 0) << i;
	}
	_exit((int)found);
}

static unsigned permitted_by_kernel(struct sock_filter *code, size_t count)
{
	int status;
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0)
		call_all(code, count);
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? (unsigned)WEXITSTATUS(status) : UNINSTALLED; /* killed: a division by 0 */
}

/* --- random programs --- */

static uint32_t random_number(void)
{
	static uint64_t state = 88172645463325252ULL;
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 16);
}

static uint32_t random_constant(void)
{
	static const uint32_t constants[] = { 0, 1, 2, 3, 5, 7, 9, 16, 31, 32, 33, 0x7fffffff, 0x80000000, 0xffffffff };
	return constants[random_number() % (sizeof(constants) / sizeof(constants[0]))];
}

#define ONE_OF(list) (list)[random_number() % (sizeof(list) / sizeof((list)[0]))]

static struct sock_filter random_instruction(uint8_t left)
{
	static const uint16_t loads[] = { BPF_LD | BPF_W | BPF_ABS, BPF_LD | BPF_IMM,  BPF_LDX | BPF_IMM,
					  BPF_LD | BPF_MEM,         BPF_LDX | BPF_MEM, BPF_LD | BPF_W | BPF_LEN,
					  BPF_LDX | BPF_W | BPF_LEN };
	static const uint16_t computations[] = { BPF_ADD, BPF_SUB, BPF_MUL, BPF_DIV, BPF_AND,
						 BPF_OR,  BPF_XOR, BPF_LSH, BPF_RSH, BPF_NEG };
	static const uint16_t jumps[] = { BPF_JEQ, BPF_JGT, BPF_JGE, BPF_JSET };
	static const uint16_t others[] = { BPF_ST, BPF_STX, BPF_MISC | BPF_TAX, BPF_MISC | BPF_TXA };
	static const uint16_t sources[] = { BPF_K, BPF_X };
	static const uint32_t words[] = { 0, 4, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60 };
	struct sock_filter made = { .k = random_constant() };
	switch (random_number() % 5) {
	case 0:
	case 1:
		made.code = ONE_OF(loads);
		if (BPF_MODE(made.code) == BPF_ABS)
			made.k = ONE_OF(words); /* not the address of the call, which is unknown */
		break;
	case 2:
		made.code = (uint16_t)(BPF_ALU | ONE_OF(computations) | ONE_OF(sources));
		break;
	case 3:
		made.code = (uint16_t)(BPF_JMP | ONE_OF(jumps) | ONE_OF(sources));
		made.jt = (uint8_t)(random_number() % left);
		made.jf = (uint8_t)(random_number() % left);
		break;
	default:
		made.code = ONE_OF(others);
		break;
	}
	if (BPF_MODE(made.code) == BPF_MEM || BPF_CLASS(made.code) == BPF_ST || BPF_CLASS(made.code) == BPF_STX)
		made.k %= BPF_MEMWORDS;
	return made;
}

static size_t random_program(struct sock_filter code[MOST])
{
	enum { SHORTEST = 4, RANGE = 20 };
	static const struct sock_filter start[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
	};
	size_t count = sizeof(start) / sizeof(start[0]);
	uint8_t middle = (uint8_t)(SHORTEST + random_number() % RANGE);
	memcpy(code, start, sizeof(start));
	for (uint8_t left = middle; left > 0; left--)
		code[count++] = random_instruction(left);
	code[count++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, random_constant() | 1, 0, 1);
	code[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	code[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	return count;
}

static void test_as_the_kernel(void **state)
{
	enum { PROGRAMS = 1000, LEAST = 200 };
	int compared = 0, mixed = 0;
	(void)state;
	for (int i = 0; i < PROGRAMS; i++) {
		struct sock_filter code[MOST];
		union filter filter;
		size_t count = random_program(code);
		unsigned wanted = permitted_by_kernel(code, count);
		if (wanted == UNINSTALLED)
			continue; /* or refused: a shift by 32 or more, or a word of memory that was not stored */
		set(&filter, code, count);
		assert_int_equal(permitted_by_us(&filter.head), wanted);
		compared++;
		mixed += wanted != 0 && wanted != REFUSED - 1;
	}
	print_message("%d programs, %d of them permit some calls only\n", compared, mixed);
	assert_true(compared >= LEAST);
	assert_true(mixed >= LEAST / 20);
}

/* --- actions, stacks of filters, strict mode --- */

static unsigned with_result(uint32_t result)
{
	const struct sock_filter code[] = { BPF_STMT(BPF_RET | BPF_K, result) };
	union filter filter;
	set(&filter, code, 1);
	return permitted_by_us(&filter.head);
}

static void test_actions(void **state)
{
	(void)state;
	assert_int_equal(with_result(SECCOMP_RET_ALLOW), REFUSED - 1);
	assert_int_equal(with_result(SECCOMP_RET_LOG | 3), REFUSED - 1);
	const uint32_t refused[] = { SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_KILL_THREAD, SECCOMP_RET_TRAP,
				     SECCOMP_RET_ERRNO,        SECCOMP_RET_TRACE,       SECCOMP_RET_USER_NOTIF };
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		assert_int_equal(with_result(refused[i] | (i == 2)), 0);
}

static void test_each_filter_must_permit(void **state)
{
	const struct sock_filter no_1[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_filter all[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	union filter first, second;
	(void)state;
	assert_int_equal(permitted_by_us(NULL), REFUSED - 1);
	set(&first, no_1, sizeof(no_1) / sizeof(no_1[0]));
	set(&second, all, 1);
	second.head.next = &first.head;
	assert_int_equal(permitted_by_us(&second.head), (REFUSED - 1) & ~2U);
	second.head.next = NULL;
	first.head.next = &second.head;
	assert_int_equal(permitted_by_us(&first.head), (REFUSED - 1) & ~2U);
}

static void test_strict_mode(void **state)
{
	const union filter strict = { .head = { .is_strict = 1 } };
	const long none[FILTER_ARGUMENTS] = { 0 };
	(void)state;
	assert_true(filter_permits(&strict.head, SYS_read, none) && filter_permits(&strict.head, SYS_write, none) &&
		    filter_permits(&strict.head, SYS_exit, none) &&
		    filter_permits(&strict.head, SYS_rt_sigreturn, none));
	assert_false(filter_permits(&strict.head, SYS_exit_group, none) ||
		     filter_permits(&strict.head, SYS_getpid, none));
}

static void test_only_errors_are_harmless(void **state)
{
	const uint32_t harmless[] = { SECCOMP_RET_ALLOW, SECCOMP_RET_LOG, SECCOMP_RET_ERRNO | 1 };
	const uint32_t harmful[] = { SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_KILL_THREAD, SECCOMP_RET_TRAP,
				     SECCOMP_RET_USER_NOTIF, SECCOMP_RET_TRACE };
	const struct filter_call calls[] = { { SYS_getpid, { 0 } }, { SYS_getppid, { 0 } } };
	(void)state;
	assert_false(filter_harms(NULL, calls, 2));
	for (size_t i = 0; i < 8; i++) {
		bool is_harmful = i >= 3;
		const struct sock_filter code[] = {
			BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
			BPF_STMT(BPF_RET | BPF_K, is_harmful ? harmful[i - 3] : harmless[i]),
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		};
		union filter filter, errors;
		set(&filter, code, sizeof(code) / sizeof(code[0]));
		assert_false(filter_harms(&filter.head, calls, 1));
		assert_int_equal(filter_harms(&filter.head, calls, 2), is_harmful);
		/* An error has precedence over the last two, as in the kernel. */
		set(&errors, (const struct sock_filter[]){ BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1) }, 1);
		errors.head.next = &filter.head;
		assert_int_equal(filter_harms(&errors.head, calls, 2), is_harmful && i < 6);
	}
}

/* The kernel accepts none of these programs. They must neither permit anything nor read outside of them. */
static void test_impossible_programs(void **state)
{
	const struct sock_filter codes[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, sizeof(struct seccomp_data)),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 2),
		BPF_STMT(BPF_LD | BPF_B | BPF_IND, 0),
		BPF_STMT(BPF_LD | BPF_MEM, BPF_MEMWORDS),
		BPF_STMT(BPF_ST, UINT32_MAX),
		BPF_STMT(BPF_JMP | BPF_JA, UINT32_MAX),
		BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 0),
		BPF_STMT(BPF_ALU | 0xf0, 1),
		BPF_STMT(BPF_JMP | 0xf0, 0),
	};
	(void)state;
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		union filter filter;
		const struct sock_filter code[] = { codes[i], BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
		set(&filter, code, 2);
		assert_int_equal(permitted_by_us(&filter.head), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_the_kernel),           cmocka_unit_test(test_actions),
		cmocka_unit_test(test_each_filter_must_permit), cmocka_unit_test(test_strict_mode),
		cmocka_unit_test(test_impossible_programs),     cmocka_unit_test(test_only_errors_are_harmless),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
