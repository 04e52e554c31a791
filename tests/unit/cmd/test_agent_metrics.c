/* The socket of the agent's figures, with clients that do not behave. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "cmd/agent.h"

struct world {
	char folder[64];
	struct sockaddr_un address;
	struct agent_metrics metrics;
	struct agent_figures figures;
};

static int set_up(void **state)
{
	static struct world world;
	struct error error;
	world = (struct world){ .folder = "/tmp/cpprof-metrics-XXXXXX", .address.sun_family = AF_UNIX };
	if (!mkdtemp(world.folder))
		return -1;
	snprintf(world.address.sun_path, sizeof(world.address.sun_path), "%s/metrics", world.folder);
	world.figures.spool = world.folder;
	*state = &world;
	mode_t mask = umask(077);
	int status = agent_metrics_open(&world.metrics, world.address.sun_path, &error);
	umask(mask);
	return status;
}

static int tear_down(void **state)
{
	struct world *world = *state;
	agent_metrics_close(&world->metrics);
	return rmdir(world->folder);
}

static int connect_to(const struct world *world)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (connect(fd, (const struct sockaddr *)&world->address, sizeof(world->address)) == 0)
		return fd;
	close(fd);
	return -1;
}

/* Returns the answer to a request. */
static const char *ask(struct world *world)
{
	static char text[32768];
	int fd = connect_to(world);
	assert_int_equal(write(fd, "GET / HTTP/1.0\n\n", 16), 16);
	agent_metrics_answer(&world->metrics, &world->figures);
	ssize_t got = read(fd, text, sizeof(text) - 1);
	text[got > 0 ? got : 0] = 0;
	close(fd);
	return text;
}

/* Each user may ask, whatever the mask of the agent is. */
static void each_user_may_ask(void **state)
{
	struct world *world = *state;
	struct stat status;
	assert_int_equal(stat(world->address.sun_path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0666);
}

/* A client that sends without an end loses its connection after 8 KB, and others are answered meanwhile. */
static void an_endless_request_is_dropped(void **state)
{
	enum { TURNS = 4 };
	struct world *world = *state;
	char bytes[32768];
	memset(bytes, 'x', sizeof(bytes));
	int fd = connect_to(world);
	assert_true(write(fd, bytes, sizeof(bytes)) > 8192);
	for (int i = 0; i < TURNS; i++) {
		assert_int_equal(world->metrics.client_count, i > 0);
		if (i == 1)
			assert_non_null(strstr(ask(world), "200 OK"));
		else
			agent_metrics_answer(&world->metrics, &world->figures);
	}
	assert_int_equal(world->metrics.client_count, 0);
	assert_true(read(fd, bytes, sizeof(bytes)) <= 0);
	close(fd);
}

/* A turn accepts a limited number of clients. The newest ones keep their places. */
static void a_crowd_takes_turns(void **state)
{
	enum { CROWD = AGENT_CLIENTS_MOST + 1 };
	struct world *world = *state;
	int fds[CROWD];
	for (int i = 0; i < CROWD; i++)
		fds[i] = connect_to(world);
	assert_true(fds[CROWD - 1] >= 0);
	agent_metrics_answer(&world->metrics, &world->figures);
	assert_int_equal(world->metrics.client_count, AGENT_CLIENTS_MOST);
	char byte;
	assert_int_equal(read(fds[0], &byte, 1), -1);
	assert_int_equal(errno, EAGAIN);
	agent_metrics_answer(&world->metrics, &world->figures);
	assert_int_equal(world->metrics.client_count, AGENT_CLIENTS_MOST);
	assert_int_equal(read(fds[0], &byte, 1), 0);
	for (int i = 0; i < CROWD; i++)
		close(fds[i]);
}

/* A silent client loses its place at its deadline. */
static void a_silent_client_is_dropped(void **state)
{
	struct world *world = *state;
	int fd = connect_to(world);
	agent_metrics_answer(&world->metrics, &world->figures);
	assert_int_equal(world->metrics.client_count, 1);
	world->metrics.clients[0].end_ns = 0;
	agent_metrics_answer(&world->metrics, &world->figures);
	assert_int_equal(world->metrics.client_count, 0);
	close(fd);
}

/* The text is made again only after some time. */
static void many_requests_share_an_answer(void **state)
{
	struct world *world = *state;
	assert_non_null(strstr(ask(world), "\ncpprof_agent_slices_total 0\n"));
	world->figures.slices = 1;
	world->metrics.text_ns = 0;
	assert_non_null(strstr(ask(world), "\ncpprof_agent_slices_total 1\n"));
	uint64_t made_ns = world->metrics.text_ns;
	world->figures.slices = 2;
	const char *text = ask(world);
	if (world->metrics.text_ns == made_ns)
		assert_non_null(strstr(text, "\ncpprof_agent_slices_total 1\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_user_may_ask, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_endless_request_is_dropped, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_crowd_takes_turns, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_silent_client_is_dropped, set_up, tear_down),
		cmocka_unit_test_setup_teardown(many_requests_share_an_answer, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
