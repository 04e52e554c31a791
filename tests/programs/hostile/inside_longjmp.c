/* Leaves deep calls by longjmp and siglongjmp, also from a handler: variables and signal masks must be right. */
#include <setjmp.h>
#include <signal.h>

#include "moment.h"

enum { DEPTH = 30 };

static jmp_buf place;
static sigjmp_buf place_with_mask;
static volatile int reached;

NOINLINE static void descend(int depth, void (*leave)(void))
{
	volatile char bytes[100];

	bytes[depth] = (char)depth;
	if (depth == 0)
		leave();
	descend(depth - 1, leave);
	CHECK(bytes[depth] == depth);
}

static void jump(void)
{
	burn(2);
	longjmp(place, ++reached);
}

static void jump_with_mask(void)
{
	sigset_t blocked;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR2);
	CHECK(sigprocmask(SIG_BLOCK, &blocked, NULL) == 0);
	siglongjmp(place_with_mask, ++reached);
}

static void raise_signal(void)
{
	raise(SIGUSR1);
	CHECK(false);
}

static void on_signal(int number)
{
	burn(2);
	CHECK(number == SIGUSR1);
	siglongjmp(place_with_mask, ++reached);
}

NOINLINE static void turn(void)
{
	volatile int before = reached;
	sigset_t now;
	int came;

	came = setjmp(place);
	if (!came)
		descend(DEPTH, jump);
	CHECK(came == before + 1);
	came = sigsetjmp(place_with_mask, 1);
	if (!came)
		descend(DEPTH, jump_with_mask);
	CHECK(came == before + 2);
	came = sigsetjmp(place_with_mask, 1);
	if (!came)
		descend(DEPTH, raise_signal);
	CHECK(came == before + 3);
	CHECK(sigprocmask(SIG_SETMASK, NULL, &now) == 0);
	CHECK(!sigismember(&now, SIGUSR1) && !sigismember(&now, SIGUSR2));
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	int turns = 0;

	CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
	for (; moment_goes_on(100); turns++)
		turn();
	CHECK(reached == 3 * turns);
	return moment_ends("each jump arrived\n");
}
