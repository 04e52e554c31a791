/* Unusual things that programs do with signals. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "unusual.h"

static volatile sig_atomic_t seen[NSIG];
static sigjmp_buf place;

static void note(int number)
{
	seen[number]++;
}

static void jump(int number)
{
	seen[number]++;
	siglongjmp(place, 1);
}

static void handle(int number, void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };
	sigemptyset(&action.sa_mask);
	CHECK(sigaction(number, &action, NULL) == 0);
}

static bool can_be_handled(int number)
{
	return number != SIGKILL && number != SIGSTOP && (number < 32 || number >= SIGRTMIN);
}

/* A handler for each signal: none must run that the program did not send to itself. */
static void handles_every_signal(void)
{
	struct sigaction action;
	for (int number = 1; number <= SIGRTMAX; number++)
		if (can_be_handled(number))
			handle(number, note, 0);
	burn(4000);
	for (int number = 1; number <= SIGRTMAX; number++) {
		if (!can_be_handled(number))
			continue;
		CHECK(sigaction(number, NULL, &action) == 0 && action.sa_handler == note);
		CHECK(seen[number] == 0);
		CHECK(raise(number) == 0);
		CHECK(seen[number] == 1);
	}
}

static void ignores_every_signal(void)
{
	struct sigaction action;
	for (int number = 1; number <= SIGRTMAX; number++)
		if (can_be_handled(number))
			CHECK(signal(number, SIG_IGN) != SIG_ERR);
	burn(4000);
	for (int number = 1; number <= SIGRTMAX; number++)
		if (can_be_handled(number)) {
			CHECK(sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN);
			CHECK(raise(number) == 0);
		}
}

static void blocks_every_signal(void)
{
	sigset_t all, pending;
	CHECK(sigfillset(&all) == 0 && sigprocmask(SIG_SETMASK, &all, NULL) == 0);
	burn(4000);
	CHECK(sigpending(&pending) == 0);
	for (int number = 1; number <= SIGRTMAX; number++)
		CHECK(!can_be_handled(number) || !sigismember(&pending, number));
	CHECK(kill(getpid(), SIGUSR1) == 0 && sigwaitinfo(&all, NULL) == SIGUSR1);
	struct timespec soon = { .tv_nsec = 3000000 };
	CHECK(sigtimedwait(&all, NULL, &soon) == -1 && errno == EAGAIN);
}

static void reads_a_signalfd(void)
{
	sigset_t all;
	struct signalfd_siginfo read_one;
	CHECK(sigfillset(&all) == 0 && sigprocmask(SIG_SETMASK, &all, NULL) == 0);
	int descriptor = signalfd(-1, &all, SFD_NONBLOCK | SFD_CLOEXEC);
	CHECK(descriptor >= 0);
	burn(3000);
	CHECK(read(descriptor, &read_one, sizeof(read_one)) == -1 && errno == EAGAIN);
	for (int number = SIGRTMIN; number <= SIGRTMAX; number++) {
		if (number == SIGRTMAX - 3) /* the tick's: the agent hides it (docs/resources.md) */
			continue;
		CHECK(kill(getpid(), number) == 0);
		CHECK(read(descriptor, &read_one, sizeof(read_one)) == sizeof(read_one));
		CHECK(read_one.ssi_signo == (unsigned)number);
	}
	CHECK(close(descriptor) == 0);
}

/* Its own interval timers: each expires as often as without others' timers, within what a busy machine merges. */
static void has_interval_timers(void)
{
	const struct itimerval every = { { 0, 1000 }, { 0, 1000 } };
	handle(SIGPROF, note, SA_RESTART);
	handle(SIGVTALRM, note, SA_RESTART);
	handle(SIGALRM, note, SA_RESTART);
	CHECK(setitimer(ITIMER_PROF, &every, NULL) == 0 && setitimer(ITIMER_VIRTUAL, &every, NULL) == 0 &&
	      setitimer(ITIMER_REAL, &every, NULL) == 0);
	while (!seen[SIGPROF] || !seen[SIGVTALRM] || !seen[SIGALRM])
		burn(100);
	struct itimerval now;
	CHECK(getitimer(ITIMER_PROF, &now) == 0 && now.it_interval.tv_usec > 0 && now.it_interval.tv_usec <= 4000);
}

static void has_timers_of_its_own(void)
{
	timer_t timers[20];
	const struct itimerspec every = { { 0, 1000000 }, { 0, 1000000 } };
	for (int i = 0; i < 20; i++) {
		struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + i % 8 };
		handle(SIGRTMIN + i % 8, note, SA_RESTART);
		CHECK(timer_create(i % 2 ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &event, &timers[i]) == 0);
		CHECK(timer_settime(timers[i], 0, &every, NULL) == 0);
	}
	for (int i = 0; i < 8; i++)
		while (!seen[SIGRTMIN + i])
			burn(100);
	for (int i = 0; i < 20; i++)
		CHECK(timer_delete(timers[i]) == 0);
}

static void recovers_from_faults(void)
{
	char *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(page != MAP_FAILED);
	handle(SIGSEGV, jump, SA_ONSTACK);
	for (volatile int i = 0; i < 200; i++) {
		if (!sigsetjmp(place, 1))
			*(volatile char *)page = 1;
		burn(10);
	}
	CHECK(seen[SIGSEGV] == 200);
}

static void handles_faults_on_its_own_stack(void)
{
	static char stack[65536];
	const stack_t own = { .ss_sp = stack, .ss_size = sizeof(stack) };
	stack_t now;
	CHECK(sigaltstack(&own, NULL) == 0);
	recovers_from_faults();
	CHECK(sigaltstack(NULL, &now) == 0 && now.ss_sp == stack && now.ss_size == sizeof(stack) &&
	      !(now.ss_flags & SS_ONSTACK));
}

static void traps(void)
{
	handle(SIGTRAP, note, 0);
	handle(SIGILL, jump, 0);
	for (volatile int i = 0; i < 200; i++) {
		__asm__ volatile("int3");
		if (!sigsetjmp(place, 1))
			__builtin_trap();
		burn(10);
	}
	CHECK(seen[SIGTRAP] == 200 && seen[SIGILL] == 200);
}

static void nest(int number)
{
	if (seen[number]++ < 30)
		CHECK(raise(number) == 0);
	burn(20);
}

static void nests_handlers(void)
{
	handle(SIGUSR1, nest, SA_NODEFER);
	CHECK(raise(SIGUSR1) == 0);
	CHECK(seen[SIGUSR1] == 31);
}

static void suspends(void)
{
	sigset_t none, alarms;
	const struct itimerval soon = { { 0, 0 }, { 0, 500 } };
	handle(SIGALRM, note, 0);
	CHECK(sigemptyset(&none) == 0 && sigemptyset(&alarms) == 0 && sigaddset(&alarms, SIGALRM) == 0);
	CHECK(sigprocmask(SIG_BLOCK, &alarms, NULL) == 0);
	for (int i = 0; i < 20; i++) {
		CHECK(setitimer(ITIMER_REAL, &soon, NULL) == 0);
		CHECK(sigsuspend(&none) == -1 && errno == EINTR);
		CHECK(seen[SIGALRM] == i + 1);
		burn(50);
	}
}

static void stops_a_child(void)
{
	int status;
	pid_t child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		for (int i = 0; i < 5; i++) {
			burn(100);
			raise(SIGSTOP);
		}
		_exit(7);
	}
	for (int i = 0; i < 5; i++) {
		CHECK(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
		CHECK(kill(child, SIGCONT) == 0);
	}
	CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

/* Waits that no signal of the program interrupts must never end with EINTR. */
static void waits_undisturbed(void)
{
	int pair[2];
	char byte;
	const struct timespec nap = { .tv_nsec = 300000 };
	const struct timeval limit = { .tv_usec = 5000 };
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	CHECK(setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) == 0);
	for (int i = 0; i < 20; i++) {
		struct pollfd one = { .fd = pair[0], .events = POLLIN };
		fd_set set;
		struct timeval left = { .tv_usec = 300 };
		FD_ZERO(&set);
		FD_SET(pair[0], &set);
		burn(100);
		CHECK(nanosleep(&nap, NULL) == 0);
		CHECK(clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL) == 0);
		CHECK(poll(&one, 1, 1) == 0);
		CHECK(select(pair[0] + 1, &set, NULL, NULL, &left) == 0);
		CHECK(usleep(300) == 0);
		CHECK(i % 4 || (recv(pair[0], &byte, 1, 0) == -1 && errno == EAGAIN));
	}
	CHECK(close(pair[0]) == 0 && close(pair[1]) == 0);
}

static atomic_int kicked;

static void kick(int number)
{
	(void)number;
	atomic_fetch_add(&kicked, 1);
}

static void *be_kicked(void *unused)
{
	while (atomic_load(&kicked) < 100)
		burn(20);
	return unused;
}

static void signals_its_threads(void)
{
	pthread_t threads[4];
	handle(SIGUSR2, kick, SA_RESTART);
	for (int i = 0; i < 4; i++)
		CHECK(pthread_create(&threads[i], NULL, be_kicked, NULL) == 0);
	for (int i = 0; atomic_load(&kicked) < 100; i++) {
		pthread_kill(threads[i % 4], SIGUSR2); /* the thread may have ended */
		burn(30);
	}
	for (int i = 0; i < 4; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
}

static void dies_of_a_pipe(void)
{
	int ends[2];
	CHECK(pipe(ends) == 0 && close(ends[0]) == 0);
	pid_t child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		burn(500);
		CHECK(write(ends[1], "x", 1) == 1); /* SIGPIPE ends it here */
		_exit(1);
	}
	int status;
	CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE);
	CHECK(signal(SIGPIPE, SIG_IGN) != SIG_ERR);
	CHECK(write(ends[1], "x", 1) == -1 && errno == EPIPE);
}

int main(int argc, char **argv)
{
	static const struct unusual things[] = {
		{ "every-signal", handles_every_signal },
		{ "ignores", ignores_every_signal },
		{ "blocks", blocks_every_signal },
		{ "signalfd", reads_a_signalfd },
		{ "itimers", has_interval_timers },
		{ "timers", has_timers_of_its_own },
		{ "faults", recovers_from_faults },
		{ "faults-on-a-stack", handles_faults_on_its_own_stack },
		{ "traps", traps },
		{ "nests", nests_handlers },
		{ "suspends", suspends },
		{ "stops", stops_a_child },
		{ "waits", waits_undisturbed },
		{ "kicks", signals_its_threads },
		{ "pipe", dies_of_a_pipe },
		{ NULL, NULL },
	};
	return unusual_main(things, argc, argv);
}
