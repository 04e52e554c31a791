#include "collect/agent/core/filter.h"

#include <linux/sched.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>

#include "processor/agent/machine.h"

_Thread_local const struct machine_filter *machine_filters __attribute__((tls_model("initial-exec")));

const struct machine_filter *machine_filters_of_all;

uint32_t machine_calls;

_Thread_local bool filter_is_to_come __attribute__((tls_model("initial-exec")));

enum { WORDS = sizeof(struct seccomp_data) / sizeof(uint32_t) };

/* The state of a filter's program. */
struct filter_run {
	uint32_t data[WORDS]; /* struct seccomp_data */
	uint32_t memory[BPF_MEMWORDS];
	uint32_t accumulator, index;
};

static bool load(struct filter_run *run, const struct sock_filter *instruction)
{
	bool is_index = BPF_CLASS(instruction->code) == BPF_LDX;
	uint32_t *to = is_index ? &run->index : &run->accumulator;
	switch (BPF_MODE(instruction->code)) {
	case BPF_ABS:
		if (is_index || instruction->k % sizeof(uint32_t) || instruction->k / sizeof(uint32_t) >= WORDS)
			return false;
		*to = run->data[instruction->k / sizeof(uint32_t)];
		return true;
	case BPF_IMM:
		*to = instruction->k;
		return true;
	case BPF_LEN:
		*to = sizeof(struct seccomp_data);
		return true;
	case BPF_MEM:
		if (instruction->k >= BPF_MEMWORDS)
			return false;
		*to = run->memory[instruction->k];
		return true;
	default:
		return false;
	}
}

static bool store(struct filter_run *run, const struct sock_filter *instruction)
{
	if (instruction->k >= BPF_MEMWORDS)
		return false;
	run->memory[instruction->k] = BPF_CLASS(instruction->code) == BPF_ST ? run->accumulator : run->index;
	return true;
}

static uint32_t operand_of(const struct filter_run *run, const struct sock_filter *instruction)
{
	return BPF_SRC(instruction->code) == BPF_X ? run->index : instruction->k;
}

static bool compute(struct filter_run *run, const struct sock_filter *instruction)
{
	enum { BITS = 31 };
	uint32_t operand = operand_of(run, instruction), *a = &run->accumulator;
	switch (BPF_OP(instruction->code)) {
	case BPF_ADD:
		*a += operand;
		return true;
	case BPF_SUB:
		*a -= operand;
		return true;
	case BPF_MUL:
		*a *= operand;
		return true;
	case BPF_DIV:
		*a = operand ? *a / operand : 0;
		return operand != 0;
	case BPF_AND:
		*a &= operand;
		return true;
	case BPF_OR:
		*a |= operand;
		return true;
	case BPF_XOR:
		*a ^= operand;
		return true;
	case BPF_LSH:
		*a <<= operand & BITS;
		return true;
	case BPF_RSH:
		*a >>= operand & BITS;
		return true;
	case BPF_NEG:
		*a = -*a;
		return true;
	default:
		return false;
	}
}

/* Returns the number of instructions to skip in `skipped`. */
static bool jump(const struct filter_run *run, const struct sock_filter *instruction, uint32_t *skipped)
{
	uint32_t operand = operand_of(run, instruction), a = run->accumulator;
	bool holds;
	switch (BPF_OP(instruction->code)) {
	case BPF_JA:
		*skipped = instruction->k;
		return true;
	case BPF_JEQ:
		holds = a == operand;
		break;
	case BPF_JGT:
		holds = a > operand;
		break;
	case BPF_JGE:
		holds = a >= operand;
		break;
	case BPF_JSET:
		holds = (a & operand) != 0;
		break;
	default:
		return false;
	}
	*skipped = holds ? instruction->jt : instruction->jf;
	return true;
}

static bool move(struct filter_run *run, const struct sock_filter *instruction)
{
	if (BPF_MISCOP(instruction->code) == BPF_TAX)
		run->index = run->accumulator;
	else
		run->accumulator = run->index;
	return true;
}

/* Executes one instruction. Returns false at the end; `result` is then the filter's, unless the instruction is
 * none that the kernel accepts. */
static bool step(struct filter_run *run, const struct sock_filter *instruction, uint32_t *skipped, uint32_t *result)
{
	switch (BPF_CLASS(instruction->code)) {
	case BPF_LD:
	case BPF_LDX:
		return load(run, instruction);
	case BPF_ST:
	case BPF_STX:
		return store(run, instruction);
	case BPF_ALU:
		return compute(run, instruction);
	case BPF_JMP:
		return jump(run, instruction, skipped);
	case BPF_MISC:
		return move(run, instruction);
	default: /* BPF_RET */
		*result = BPF_RVAL(instruction->code) == BPF_A ? run->accumulator : instruction->k;
		return false;
	}
}

/* Jumps lead forwards only, so the program ends. Returns the action that kills if it leads outside. */
static uint32_t result_of(const struct machine_filter *filter, const struct seccomp_data *call)
{
	struct filter_run run = { .accumulator = 0 };
	uint32_t result = SECCOMP_RET_KILL_PROCESS;
	memcpy(run.data, call, sizeof(run.data));
	for (uint64_t at = 0; at < filter->count; at++) {
		uint32_t skipped = 0;
		if (!step(&run, &filter->code[at], &skipped, &result))
			break;
		at += skipped;
	}
	return result;
}

static bool is_strictly_permitted(long number)
{
	return number == SYS_read || number == SYS_write || number == SYS_exit || number == SYS_rt_sigreturn;
}

/* Returns the action of all filters together: that with the highest precedence, which is the least signed number. */
static uint32_t action_of(const struct machine_filter *filters, long number, const long arguments[FILTER_ARGUMENTS])
{
	struct seccomp_data call = { .nr = (int)number,
				     .arch = MACHINE_AUDIT_ARCH,
				     .instruction_pointer = (uint64_t)(uintptr_t)&filter_permits };
	uint32_t action = SECCOMP_RET_ALLOW;
	for (int i = 0; i < FILTER_ARGUMENTS; i++)
		call.args[i] = (uint64_t)arguments[i];
	for (const struct machine_filter *filter = filters; filter; filter = filter->next) {
		uint32_t own = !filter->is_strict              ? result_of(filter, &call) & SECCOMP_RET_ACTION_FULL
			       : is_strictly_permitted(number) ? SECCOMP_RET_ALLOW
							       : SECCOMP_RET_KILL_THREAD;
		if ((int32_t)own < (int32_t)action)
			action = own;
	}
	return action;
}

bool filter_permits(const struct machine_filter *filters, long number, const long arguments[FILTER_ARGUMENTS])
{
	uint32_t action = action_of(filters, number, arguments);
	return action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG;
}

bool filter_harms(const struct machine_filter *filters, const struct filter_call *calls, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t action = action_of(filters, calls[i].number, calls[i].arguments);
		if (action != SECCOMP_RET_ERRNO && action != SECCOMP_RET_ALLOW && action != SECCOMP_RET_LOG)
			return true;
	}
	return false;
}

bool filter_permits_processes(const struct machine_filter *filters)
{
	static const struct filter_call calls[] = {
		{ SYS_fork, { 0 } },        { SYS_vfork, { 0 } },
		{ SYS_clone, { SIGCHLD } }, { SYS_clone, { CLONE_VM | CLONE_VFORK | SIGCHLD } },
		{ SYS_clone3, { 0 } },
	};
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (filter_permits(filters, calls[i].number, calls[i].arguments))
			return true;
	return false;
}

long machine_filtered_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	const long arguments[FILTER_ARGUMENTS] = { a, b, c, d, e, f };
	const struct machine_filter *all = __atomic_load_n(&machine_filters_of_all, __ATOMIC_ACQUIRE);
	if (filter_permits(machine_filters, number, arguments) &&
	    (filter_is_to_come || filter_permits(all, number, arguments)))
		return machine_call_of_program(number, a, b, c, d, e, f);
	return -EPERM;
}
