/* System calls, counted where they end: their arguments are still in the registers. */
#ifndef COLLECT_SAMPLE_BPF_PROGRAMS_SYSCALL_BPF_H
#define COLLECT_SAMPLE_BPF_PROGRAMS_SYSCALL_BPF_H

#include "collect/sample/bpf/programs/switch.bpf.h"

enum {
	UNKNOWN_CALL = BPF_SYSCALLS,
	NR_RT_SIGRETURN = 15,
	NR_CLONE = 56,
	NR_FORK = 57,
	NR_VFORK = 58,
	NR_EXIT = 60,
	NR_EXIT_GROUP = 231,
	NR_CLONE3 = 435,
	VECTOR_BYTES = 16,   /* struct iovec: address, length */
	MESSAGE_BYTES = 64,  /* struct mmsghdr: struct msghdr, unsigned */
	MESSAGE_VECTOR = 16, /* in struct msghdr: msg_iov, then msg_iovlen */
	MESSAGE_LENGTH = 56, /* in struct mmsghdr */
	VECTORS_MAX = 1024,
};

struct vector_sum {
	uint64_t at;
	uint64_t stride;
	uint64_t offset; /* of the number, in each element */
	uint32_t bytes;  /* of the number */
	uint64_t sum;
};

static long add_one(uint32_t index, void *context)
{
	struct vector_sum *sum = context;
	uint64_t value = 0;
	uint64_t at = sum->at + index * sum->stride + sum->offset;
	long failed = sum->bytes == 4 ? bpf_probe_read_user(&value, 4, (const void *)at)
				      : bpf_probe_read_user(&value, 8, (const void *)at);
	if (failed)
		return 1;
	sum->sum += value;
	return 0;
}

static uint64_t sum_of(struct vector_sum sum, uint64_t count)
{
	bpf_loop(count < VECTORS_MAX ? count : VECTORS_MAX, add_one, &sum, 0);
	return sum.sum;
}

static uint64_t sum_of_vector(uint64_t at, uint64_t count)
{
	return sum_of((struct vector_sum){ .at = at, .stride = VECTOR_BYTES, .offset = 8, .bytes = 8 }, count);
}

static uint64_t sum_of_message(uint64_t message)
{
	uint64_t vector[2]; /* address, count */
	if (bpf_probe_read_user(vector, sizeof(vector), (const void *)(message + MESSAGE_VECTOR)) != 0)
		return 0;
	return sum_of_vector(vector[0], vector[1]);
}

/* Returns the bytes that a call was requested to move. In a call with several messages, only the first 8
 * count. */
static uint64_t bytes_requested(const struct pt_regs *registers, uint8_t class)
{
	enum { MESSAGES_LOOKED_AT = 8 };
	uint64_t sum = 0;
	switch (class & BPF_TRANSFER_ASKED) {
	case BPF_TRANSFER_THIRD:
		return registers_call_third(registers);
	case BPF_TRANSFER_FOURTH:
		return registers_call_fourth(registers);
	case BPF_TRANSFER_FIFTH:
		return registers_call_fifth(registers);
	case BPF_TRANSFER_VECTOR:
		return sum_of_vector(registers_call_second(registers), registers_call_third(registers));
	case BPF_TRANSFER_MESSAGE:
		return sum_of_message(registers_call_second(registers));
	case BPF_TRANSFER_MESSAGES:
		for (uint32_t i = 0; i < MESSAGES_LOOKED_AT && i < registers_call_third(registers); i++)
			sum += sum_of_message(registers_call_second(registers) + (uint64_t)i * MESSAGE_BYTES);
		return sum;
	default:
		return 0;
	}
}

/* Returns the bytes that the call moved. */
static uint64_t bytes_moved(const struct pt_regs *registers, long result, uint8_t class)
{
	if (result <= 0)
		return 0;
	if ((class & BPF_TRANSFER_ASKED) != BPF_TRANSFER_MESSAGES)
		return result;
	return sum_of((struct vector_sum){ .at = registers_call_second(registers),
					   .stride = MESSAGE_BYTES,
					   .offset = MESSAGE_LENGTH,
					   .bytes = 4 },
		      result);
}

static uint8_t direction_of(uint8_t counter)
{
	switch (counter) {
	case COUNTER_READ:
	case COUNTER_READ_REQUESTED:
		return BPF_TRANSFER_READ;
	case COUNTER_WRITTEN:
	case COUNTER_WRITE_REQUESTED:
		return BPF_TRANSFER_WRITE;
	case COUNTER_TRANSFERRED:
	case COUNTER_TRANSFER_REQUESTED:
		return BPF_TRANSFER_DIRECTION;
	default:
		return 0;
	}
}

static uint64_t amount_of(uint32_t request, const struct pt_regs *registers, long result, int32_t number, uint8_t class)
{
	uint8_t counter = requests[request].counter;
	if (counter == COUNTER_SYSCALLS)
		return requests[request].syscall < 0 || requests[request].syscall == number;
	if (counter == COUNTER_IO_CALLS)
		return (class & BPF_SYSCALL_IO) != 0;
	if (!(class & direction_of(counter)))
		return 0;
	bool requested = counter >= COUNTER_READ_REQUESTED && counter <= COUNTER_TRANSFER_REQUESTED;
	return requested ? bytes_requested(registers, class) : bytes_moved(registers, result, class);
}

/* Returns whether 32-bit code (or an interrupt) made the call: it has another list of numbers. */
static bool is_compatible_call(struct task_struct *task)
{
	enum { TS_COMPAT = 2 };
	return task->thread_info.status & TS_COMPAT;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_syscall, struct pt_regs *registers, long result)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct bpf_thread *thread = counting_thread(task);
	if (!thread)
		return 0;
	charge_late_wait(thread);
	int32_t number = is_compatible_call(task) ? UNKNOWN_CALL : (int32_t)registers_call(registers);
	/* A new thread begins where its creator's call ends: both are one call. */
	if (result == 0 && (number == NR_CLONE || number == NR_CLONE3 || number == NR_FORK || number == NR_VFORK))
		return 0;
	/* The return from a signal handler has no number left. Neither has the return from a probe, which
	 * is not counted. */
	if (number < 0 && registers_are_from_probe(registers))
		return 0;
	if (number < 0)
		number = NR_RT_SIGRETURN;
	uint8_t class = class_of(number);
	for (uint32_t n = 0; n < SAMPLE_REQUESTS && n < settings.syscall_requests; n++) {
		uint32_t i = settings.syscall_request[n] & (SAMPLE_REQUESTS - 1);
		uint64_t amount = amount_of(i, registers, result, number, class);
		uint64_t hits = amount ? count(thread, i, amount) : 0;
		if (hits == 0)
			continue;
		struct sample_record order = { .request = i,
					       .hits = hits,
					       .amount = amount,
					       .syscall = number == UNKNOWN_CALL ? -1 : number,
					       .detail = result,
					       .flags = SAMPLE_SYSCALL };
		take_sample(&order, NO_SCRATCH);
	}
	return 0;
}

#endif
