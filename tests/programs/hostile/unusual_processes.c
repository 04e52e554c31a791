/* Unusual things that programs do with processes, descriptors and their surroundings. */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#include "unusual.h"

static void expect_end(pid_t child, int wanted)
{
	int status;
	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == wanted);
}

static void closes_everything(void)
{
	CHECK(close_range(3, ~0u, 0) == 0);
	burn(2000);
	CHECK(open("/dev/null", O_RDWR) == 3 && close(3) == 0);
	closefrom(3);
	burn(1000);
}

/* Takes all the numbers of descriptors, whoever uses them. */
static void takes_every_descriptor(void)
{
	struct rlimit limit = { 256, 256 };
	CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	int null = open("/dev/null", O_RDWR);
	CHECK(null >= 0);
	for (int number = 3; number < 256; number++)
		CHECK(number == null || dup2(null, number) == number);
	burn(2000);
	CHECK(dup(null) == -1 && errno == EMFILE);
	for (int number = 3; number < 256; number++)
		CHECK(close(number) == 0);
	burn(1000);
}

static void closes_its_standard_files(void)
{
	int copy = dup(STDOUT_FILENO);
	CHECK(copy >= 0);
	for (int number = 0; number < 3; number++)
		close(number);
	burn(2000);
	CHECK(open("/dev/null", O_RDWR) == 0 && dup2(copy, STDOUT_FILENO) == STDOUT_FILENO);
}

static void waits_for_events(void)
{
	struct epoll_event event = { .events = EPOLLIN }, found;
	uint64_t count = 1;
	const struct itimerspec soon = { .it_value = { .tv_nsec = 500000 } };
	int poll = epoll_create1(0), ring = eventfd(0, 0), timer = timerfd_create(CLOCK_MONOTONIC, 0);
	CHECK(poll >= 0 && ring >= 0 && timer >= 0);
	CHECK(epoll_ctl(poll, EPOLL_CTL_ADD, ring, &event) == 0 && epoll_ctl(poll, EPOLL_CTL_ADD, timer, &event) == 0);
	for (int i = 0; i < 20; i++) {
		CHECK(write(ring, &count, sizeof(count)) == sizeof(count));
		CHECK(epoll_wait(poll, &found, 1, -1) == 1);
		CHECK(read(ring, &count, sizeof(count)) == sizeof(count) && count == 1);
		CHECK(timerfd_settime(timer, 0, &soon, NULL) == 0);
		CHECK(epoll_wait(poll, &found, 1, -1) == 1);
		CHECK(read(timer, &count, sizeof(count)) == sizeof(count) && count == 1);
		burn(50);
	}
}

static void leaves_a_folder_that_is_gone(void)
{
	char folder[] = "/tmp/unusual-XXXXXX";
	CHECK(mkdtemp(folder) != NULL && chdir(folder) == 0 && rmdir(folder) == 0);
	umask(0777);
	burn(2000);
	CHECK(open("here", O_CREAT | O_RDWR, 0600) == -1 && errno == ENOENT);
}

static void becomes_a_daemon(void)
{
	int ends[2];
	char byte;
	CHECK(pipe(ends) == 0);
	pid_t child = fork();
	if (child == 0) {
		CHECK(setsid() > 0);
		if (fork() != 0)
			_exit(0);
		burn(1000);
		CHECK(write(ends[1], "d", 1) == 1);
		_exit(0);
	}
	expect_end(child, 0);
	CHECK(close(ends[1]) == 0 && read(ends[0], &byte, 1) == 1 && byte == 'd');
	CHECK(read(ends[0], &byte, 1) == 0);
}

static void spawns(void)
{
	char *const arguments[] = { "sh", "-c", "exit 3", NULL };
	char *const nothing[] = { NULL };
	pid_t child;
	CHECK(posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, nothing) == 0);
	expect_end(child, 3);
	CHECK(WEXITSTATUS(system("exit 4")) == 4);
	FILE *pipe = popen("echo 5", "r");
	int number;
	CHECK(pipe != NULL && fscanf(pipe, "%d", &number) == 1 && number == 5 && pclose(pipe) == 0);
}

static void clears_its_environment(void)
{
	CHECK(clearenv() == 0);
	burn(1000);
	spawns();
	CHECK(setenv("LD_PRELOAD", "", 1) == 0);
	spawns();
}

static void runs_a_file_without_a_name(void)
{
	int memory = memfd_create("nothing", MFD_CLOEXEC), program = open("/bin/true", O_RDONLY);
	char buffer[65536];
	CHECK(memory >= 0 && program >= 0);
	for (ssize_t bytes; (bytes = read(program, buffer, sizeof(buffer))) > 0;)
		CHECK(write(memory, buffer, (size_t)bytes) == bytes);
	pid_t child = fork();
	if (child == 0) {
		fexecve(memory, (char *[]){ "true", NULL }, environ);
		_exit(9);
	}
	expect_end(child, 0);
}

static void changes_its_name(void)
{
	char name[17] = "";
	CHECK(prctl(PR_SET_NAME, "a b\n) R 1 (\033[1m") == 0);
	burn(2000);
	CHECK(prctl(PR_GET_NAME, name) == 0 && strcmp(name, "a b\n) R 1 (\033[1m") == 0);
	CHECK(prctl(PR_SET_DUMPABLE, 0) == 0);
	burn(1000);
	CHECK(prctl(PR_GET_DUMPABLE) == 0);
}

static void adopts_children(void)
{
	CHECK(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
	pid_t child = fork();
	if (child == 0) {
		if (fork() == 0) {
			burn(500);
			_exit(6);
		}
		_exit(0);
	}
	expect_end(child, 0);
	int status;
	CHECK(wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 6);
	CHECK(wait(&status) == -1 && errno == ECHILD);
}

static void lives_in_namespaces(void)
{
	pid_t child = fork();
	if (child == 0) {
		if (unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC) != 0)
			_exit(errno == EPERM || errno == ENOSPC ? 0 : 1); /* this system does not permit it */
		pid_t inner = fork();
		if (inner == 0) {
			CHECK(getpid() == 1);
			burn(1000);
			_exit(8);
		}
		int status;
		CHECK(waitpid(inner, &status, 0) == inner && WIFEXITED(status) && WEXITSTATUS(status) == 8);
		_exit(0);
	}
	expect_end(child, 0);
}

static volatile sig_atomic_t times_up;

static void on_limit(int number)
{
	(void)number;
	times_up = 1;
}

static void exceeds_its_limits(void)
{
	struct rlimit time = { 1, 4 }, size = { 1, RLIM_INFINITY };
	char path[] = "/tmp/unusual-XXXXXX";
	int file = mkstemp(path);
	CHECK(file >= 0 && unlink(path) == 0);
	CHECK(signal(SIGXCPU, on_limit) != SIG_ERR && signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
	pid_t child = fork();
	if (child == 0) {
		CHECK(setrlimit(RLIMIT_CPU, &time) == 0);
		while (!times_up)
			burn(1000);
		_exit(5);
	}
	CHECK(setrlimit(RLIMIT_FSIZE, &size) == 0);
	CHECK(write(file, "ab", 2) == 1);
	CHECK(write(file, "ab", 2) == -1 && errno == EFBIG);
	size.rlim_cur = RLIM_INFINITY;
	CHECK(setrlimit(RLIMIT_FSIZE, &size) == 0);
	burn(1000);
	expect_end(child, 5);
}

static void locks_files(void)
{
	char path[] = "/tmp/unusual-XXXXXX";
	int file = mkstemp(path), other = open(path, O_RDWR);
	struct flock lock = { .l_type = F_WRLCK };
	CHECK(file >= 0 && other >= 0 && unlink(path) == 0);
	for (int i = 0; i < 50; i++) {
		CHECK(flock(file, LOCK_EX) == 0);
		CHECK(flock(other, LOCK_EX | LOCK_NB) == -1 && errno == EWOULDBLOCK);
		burn(20);
		CHECK(flock(file, LOCK_UN) == 0);
		CHECK(fcntl(file, F_SETLK, &lock) == 0);
	}
}

static void traces_a_child(void)
{
	int status;
	pid_t child = fork();
	if (child == 0) {
		CHECK(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
		raise(SIGSTOP);
		burn(500);
		_exit(2);
	}
	CHECK(child > 0);
	for (;;) {
		CHECK(waitpid(child, &status, 0) == child);
		if (WIFEXITED(status))
			break;
		CHECK(WIFSTOPPED(status));
		int number = WSTOPSIG(status) == SIGSTOP ? 0 : WSTOPSIG(status);
		CHECK(ptrace(PTRACE_CONT, child, NULL, (void *)(long)number) == 0);
	}
	CHECK(WEXITSTATUS(status) == 2);
}

static void changes_its_priority(void)
{
	cpu_set_t all, one;
	CHECK(sched_getaffinity(0, sizeof(all), &all) == 0);
	CHECK(setpriority(PRIO_PROCESS, 0, 5) == 0);
	for (int processor = 0, tried = 0; processor < CPU_SETSIZE && tried < 4; processor++) {
		if (!CPU_ISSET(processor, &all))
			continue;
		tried++;
		CPU_ZERO(&one);
		CPU_SET(processor, &one);
		CHECK(sched_setaffinity(0, sizeof(one), &one) == 0 && sched_getcpu() == processor);
		burn(500);
	}
	CHECK(sched_setaffinity(0, sizeof(all), &all) == 0);
	CHECK(getpriority(PRIO_PROCESS, 0) == 5);
}

static void *run_another(void *unused)
{
	execl("/bin/sh", "sh", "-c", "exit 0", NULL);
	return unused;
}

static void runs_a_program_from_a_thread(void)
{
	pid_t child = fork();
	if (child == 0) {
		pthread_t thread;
		CHECK(pthread_create(&thread, NULL, run_another, NULL) == 0);
		for (;;)
			burn(20);
	}
	expect_end(child, 0);
}

int main(int argc, char **argv)
{
	static const struct unusual things[] = {
		{ "closes", closes_everything },
		{ "takes", takes_every_descriptor },
		{ "standard", closes_its_standard_files },
		{ "events", waits_for_events },
		{ "folder", leaves_a_folder_that_is_gone },
		{ "daemon", becomes_a_daemon },
		{ "spawns", spawns },
		{ "environment", clears_its_environment },
		{ "no-name", runs_a_file_without_a_name },
		{ "name", changes_its_name },
		{ "adopts", adopts_children },
		{ "namespaces", lives_in_namespaces },
		{ "limits", exceeds_its_limits },
		{ "files", locks_files },
		{ "traces", traces_a_child },
		{ "priority", changes_its_priority },
		{ "exec-thread", runs_a_program_from_a_thread },
		{ NULL, NULL },
	};
	return unusual_main(things, argc, argv);
}
