/* Threads for which floating point exceptions are measured: begins and ends them, and applies cpprof_start and
 * cpprof_stop to all. */
#include <sys/mman.h>
#include <sys/syscall.h>

#include "collect/agent/fp/fp.h"
#include "processor/agent/fp_execute.h"
#include "processor/agent/machine.h"

uint32_t fp_turns;

/* --- start and stop --- */

/* Leaves the words of a handler of the program as they are, if it has interrupted code with hidden words. */
static void begin_here(struct fp_thread *fp)
{
	struct fp_words words = fp_words_here();
	bool is_handler = fp->on && !fp_are_hidden(fp, &words);
	if (fp->on)
		fp_show(fp, &words);
	fp_limit_reset(fp);
	if (!is_handler) {
		fp_hide(fp, &words);
		fp_words_set_here(&words);
	}
	fp->on = true;
}

static void end_here(struct runtime_thread *thread)
{
	struct fp_thread *fp = thread->fp;
	struct fp_words words = fp_words_here();
	fp_show(fp, &words);
	fp_words_set_here(&words);
	fp->on = false;
}

static struct fp_thread *new_fp(const struct runtime_thread *thread)
{
	struct fp_words words = fp_words_here();
	long memory = machine_syscall(SYS_mmap, 0, sizeof(struct fp_thread), PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory < 0)
		return NULL;
	struct fp_thread *fp = (struct fp_thread *)memory; // NOLINT(performance-no-int-to-ptr)
	fp->area = fp_execute_new();
	if (thread->tid == runtime.pid)
		return fp;
	/* The thread has inherited its creator's hidden words; <fenv.h> unmasks kinds equally in both units. */
	fp->vector_unmasked = fp->legacy_unmasked = ~words.control & FP_KINDS & ~FP_INEXACT;
	fp_show(fp, &words);
	fp_words_set_here(&words);
	return fp;
}

void fp_start(struct runtime_thread *thread)
{
	if (!thread->fp)
		thread->fp = new_fp(thread);
	struct fp_thread *fp = thread->fp;
	if (!fp)
		return;
	fp_suspend(fp); /* forked in a handler that has interrupted a step */
	fp->is_shown = false;
	thread->fp_turn = fp_turns;
	if (runtime.on)
		begin_here(fp);
}

void fp_stop(struct runtime_thread *thread)
{
	struct fp_thread *fp = thread->fp;
	if (!fp)
		return;
	end_here(thread);
	thread->fp = NULL;
	fp_execute_free(fp->area);
	machine_syscall(SYS_munmap, (long)fp, sizeof(*fp), 0, 0, 0, 0);
}

/* Runs in the thread that ends the program. Other threads lose at most what they have raised since their last tick. */
__attribute__((destructor)) static void program_ends(void)
{
	struct runtime_thread *thread = runtime_thread && runtime_thread->fp ? runtime_enter() : NULL;
	if (!thread)
		return;
	end_here(thread);
	runtime_leave(thread);
}

/* --- all threads --- */

static void send_tick(struct runtime_thread *thread)
{
	if (thread != runtime_thread && thread->fp)
		tick_send(thread);
}

static uint32_t unsettled;

/* Counts threads that have not followed yet. A waiting thread gets its tick directly after the wait, before it runs
 * other code. */
static void count_unsettled(struct runtime_thread *thread)
{
	if (thread != runtime_thread && thread->fp && !thread->waiting &&
	    __atomic_load_n(&thread->fp_turn, __ATOMIC_ACQUIRE) != fp_turns)
		unsettled++;
}

void fp_turn(struct runtime_thread *thread)
{
	enum { ROUNDS = 200, ROUND_NS = 100 * 1000 };
	const struct timespec round = { .tv_nsec = ROUND_NS };
	__atomic_add_fetch(&fp_turns, 1, __ATOMIC_ACQ_REL);
	if (thread && thread->fp && runtime.on)
		begin_here(thread->fp);
	else if (thread && thread->fp)
		end_here(thread);
	runtime_each_thread(send_tick);
	for (int i = 0; i < ROUNDS; i++) {
		unsettled = 0;
		runtime_each_thread(count_unsettled);
		if (unsettled == 0)
			return;
		machine_syscall(SYS_nanosleep, (long)&round, 0, 0, 0, 0, 0);
	}
}
