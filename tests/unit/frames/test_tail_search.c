/* The search for the functions between a call and the function that runs, in small graphs. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "frames/tail_search.h"

/* Node i of the graph has the i-th of these letters. Names of other files are lower case; `?` stands for unknown functions. */
static const char letters[] = "ABCDEFGHabcd?";

static void make_graph(struct tail_graph *graph, const char *jumps)
{
	assert_int_equal(tail_graph_init(graph), 0);
	for (const char *letter = letters; *letter; letter++)
		assert_int_equal(tail_graph_add_node(graph, *letter >= 'a' || *letter == '?'), letter - letters);
	for (; *jumps; jumps += jumps[2] ? 3 : 2) {
		uint32_t from = (uint32_t)(strchr(letters, jumps[0]) - letters);
		uint32_t to = (uint32_t)(strchr(letters, jumps[1]) - letters);
		assert_int_equal(tail_graph_add_jump(graph, from, to, 100 * from + to), 0);
	}
}

static void write_step(const struct tail_chain *chain, const struct tail_step *step, struct buffer *text)
{
	if (step->node != TAIL_NONE) {
		buffer_printf(text, "%c%s ", letters[step->node], step->several ? "*" : "");
		return;
	}
	buffer_append_byte(text, '[');
	for (uint32_t node = 0; letters[node]; node++)
		for (uint32_t i = 0; i < step->alternatives; i++)
			if (chain->alternatives[step->first + i] == node)
				buffer_append_byte(text, (uint8_t)letters[node]);
	buffer_append_string(text, step->or_unknown ? "?] " : step->or_none ? "-] " : "] ");
}

/* Checks the steps from node A to node H: functions with `*` if several jumps leave them on the ways, alternatives in brackets,
 * with `-` where there may be none of them, and `?` where there may be unknown functions. NULL: no way. */
static void expect(const char *jumps, const char *steps)
{
	struct tail_graph graph;
	struct tail_chain chain;
	struct buffer text;
	buffer_init(&text);
	make_graph(&graph, jumps);
	assert_int_equal(tail_graph_open(&graph, (uint32_t)(strchr(letters, '?') - letters)), 0);
	for (int again = 0; again < 2; again++) { /* a search leaves no traces */
		bool found = tail_search(&graph, 0, 7, &chain);
		assert_int_equal(found, steps != NULL);
		buffer_clear(&text);
		for (size_t i = 0; found && i < chain.count; i++)
			write_step(&chain, &chain.steps[i], &text);
		buffer_append_byte(&text, 0);
		assert_string_equal(text.bytes, steps ? steps : "");
	}
	buffer_release(&text);
	tail_graph_release(&graph);
}

static void test_unique(void **state)
{
	(void)state;
	expect("AH", "A ");
	expect("AB BH", "A B ");
	expect("AB BC CD DE EH", "A B C D E ");
	/* Ways that do not lead to the end do not matter, nor do those behind it. */
	expect("AB BH AC CD BE HG GB", "A B ");
}

static void test_none(void **state)
{
	(void)state;
	expect("", NULL);
	expect("AB BC", NULL);
	expect("BH HA", NULL);
}

static void test_ambiguous(void **state)
{
	(void)state;
	expect("AB AC BH CH", "A* [BC] ");
	expect("AB BH AH", "A* [B-] ");
	/* Before and behind, functions are certain. */
	expect("AB BC BD CE DE EH", "A B* [CD] E ");
	expect("AB AC BD CD DE DF EH FH", "A* [BC] D* [EF] ");
	/* One of several ways has two functions. */
	expect("AB BC CH AD DH", "A* [BCD] ");
}

static void test_several_jumps(void **state)
{
	(void)state;
	struct tail_graph graph;
	struct tail_chain chain;
	make_graph(&graph, "AH");
	assert_int_equal(tail_graph_add_jump(&graph, 0, 7, 7), 0);
	assert_true(tail_search(&graph, 0, 7, &chain));
	assert_false(chain.steps[0].several);
	assert_int_equal(tail_graph_add_jump(&graph, 0, 7, 3), 0);
	assert_true(tail_search(&graph, 0, 7, &chain));
	assert_true(chain.steps[0].several);
	assert_int_equal(chain.steps[0].address, 3);
	tail_graph_release(&graph);
}

/* A way has each function once: a recursion shows one turn. */
static void test_recursion(void **state)
{
	(void)state;
	expect("AB BA BH", "A B ");
	expect("AB BA AH", "A ");
	expect("AA AB BC CB CH", "A B C ");
	expect("AB BC CA CH HA", "A B C ");
}

static void test_names(void **state)
{
	(void)state;
	struct tail_graph graph;
	struct tail_chain chain;
	expect("Aa aH", "A ");
	expect("Aa aB BH", "A B ");
	expect("Aa aB aC BH CH", "A [BC] ");
	expect("Aa ab bB BH", "A B ");
	/* A call by name of the function that runs has no steps. */
	make_graph(&graph, "aH bA AH");
	assert_true(tail_search(&graph, 8, 7, &chain));
	assert_int_equal(chain.count, 0);
	assert_true(tail_search(&graph, 9, 7, &chain));
	assert_int_equal(chain.count, 1);
	tail_graph_release(&graph);
}

/* A function that leads to unknown functions leads past all others. */
static void test_unknown(void **state)
{
	(void)state;
	expect("AB BH A?", "A* [B?] ");
	expect("AB BH AC C?", "A* [B?] ");
	expect("AB BH AC CD DC D?", "A* [B?] ");
	expect("AB BH Aa a?", "A* [B?] ");
	expect("AB BH B?", "A B* ");
	expect("AH A?", "A* ");
	expect("AB BC CH BD D?", "A B* [C?] ");
	/* Each way has one of two functions, and one of them leads on to unknown functions. */
	expect("AB AC BH CH C?", "A* [BC] ");
	expect("AB BD AC CD DH C?", "A* [BCD] ");
	/* Functions behind the end, and those that lead nowhere, do not matter. */
	expect("AB BH H? AC CD", "A B ");
}

/* Unknown functions as the end. */
static void test_to_unknown(void **state)
{
	(void)state;
	struct tail_graph graph;
	struct tail_chain chain;
	uint32_t unknown = (uint32_t)(strchr(letters, '?') - letters);
	make_graph(&graph, "AB BC BD C? D? AE");
	assert_int_equal(tail_graph_open(&graph, unknown), 0);
	assert_true(tail_search(&graph, 0, unknown, &chain));
	assert_int_equal(chain.count, 3);
	assert_int_equal(chain.steps[1].node, 1);
	assert_int_equal(chain.steps[2].alternatives, 2);
	assert_false(tail_search(&graph, 4, unknown, &chain));
	tail_graph_release(&graph);
}

/* Limits: a chain of more steps than a result has, and more functions than a search visits. */
static void test_limits(void **state)
{
	(void)state;
	enum { LONG = 200 };
	struct tail_graph graph;
	struct tail_chain chain;
	assert_int_equal(tail_graph_init(&graph), 0);
	for (uint32_t i = 0; i < LONG; i++)
		tail_graph_add_node(&graph, false);
	for (uint32_t i = 0; i + 1 < LONG; i++)
		assert_int_equal(tail_graph_add_jump(&graph, i, i + 1, i), 0);
	assert_true(tail_search(&graph, 0, TAIL_STEPS_MOST, &chain));
	assert_int_equal(chain.count, TAIL_STEPS_MOST);
	assert_false(tail_search(&graph, 0, TAIL_STEPS_MOST + 1, &chain));
	assert_false(tail_search(&graph, 0, LONG - 1, &chain));
	assert_true(tail_search(&graph, LONG - 2, LONG - 1, &chain));
	tail_graph_release(&graph);
}

/* A function that more others jump to than a search visits: which of them are on the ways is not known. */
static void test_many(void **state)
{
	(void)state;
	struct tail_graph graph;
	struct tail_chain chain;
	assert_int_equal(tail_graph_init(&graph), 0);
	for (uint32_t i = 0; i <= TAIL_REACH_MOST; i++)
		tail_graph_add_node(&graph, false);
	for (uint32_t i = 1; i + 1 < TAIL_REACH_MOST; i++)
		assert_int_equal(tail_graph_add_jump(&graph, i, 0, i), 0);
	assert_int_equal(tail_graph_add_jump(&graph, TAIL_REACH_MOST, 1, 1), 0);
	assert_true(tail_search(&graph, TAIL_REACH_MOST, 0, &chain));
	assert_int_equal(chain.count, 2);
	assert_int_equal(tail_graph_add_jump(&graph, TAIL_REACH_MOST - 1, 0, 1), 0);
	assert_false(tail_search(&graph, TAIL_REACH_MOST, 0, &chain));
	tail_graph_release(&graph);
}

/* A function with many jumps, as a hostile file has: each takes the same time to add. Within a second, or for hours. */
static void test_many_jumps(void **state)
{
	(void)state;
	enum { JUMPS = 3000000 };
	struct tail_graph graph;
	struct tail_chain chain;
	assert_int_equal(tail_graph_init(&graph), 0);
	for (uint32_t i = 0; i <= JUMPS; i++)
		tail_graph_add_node(&graph, false);
	for (uint32_t i = 1; i <= JUMPS; i++)
		assert_int_equal(tail_graph_add_jump(&graph, 0, i, i), 0);
	assert_true(tail_search(&graph, 0, JUMPS, &chain));
	assert_int_equal(chain.steps[0].address, JUMPS);
	tail_graph_release(&graph);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unique),     cmocka_unit_test(test_none),
		cmocka_unit_test(test_ambiguous),  cmocka_unit_test(test_several_jumps),
		cmocka_unit_test(test_recursion),  cmocka_unit_test(test_names),
		cmocka_unit_test(test_unknown),    cmocka_unit_test(test_to_unknown),
		cmocka_unit_test(test_many_jumps), cmocka_unit_test(test_limits),
		cmocka_unit_test(test_many),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
