/* The instruction decoder, and the flow between the basic blocks of a function. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arch/instruction.h"
#include "collect/count/flow.h"

static void test_lengths_and_flows(void **state)
{
	static const struct {
		uint8_t code[16];
		size_t bytes;
		uint8_t flow;
		uint64_t target; /* for code at 0x1000; 0: none */
	} cases[] = {
		{ { 0x55 }, 1, INSTRUCTION_NEXT, 0 },                                  /* push %rbp */
		{ { 0x48, 0x89, 0xe5 }, 3, INSTRUCTION_NEXT, 0 },                      /* mov %rsp,%rbp */
		{ { 0xc7, 0x45, 0xec, 0, 0, 0, 0 }, 7, INSTRUCTION_NEXT, 0 },          /* movl $0,-20(%rbp) */
		{ { 0x66, 0xc7, 0x45, 0xec, 1, 0 }, 6, INSTRUCTION_NEXT, 0 },          /* movw $1,-20(%rbp) */
		{ { 0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8 }, 10, INSTRUCTION_NEXT, 0 },   /* movabs */
		{ { 0x8b, 0x84, 0x91, 1, 0, 0, 0 }, 7, INSTRUCTION_NEXT, 0 },          /* mov 1(%rcx,%rdx,4),%eax */
		{ { 0x8b, 0x04, 0x85, 1, 0, 0, 0 }, 7, INSTRUCTION_NEXT, 0 },          /* mov 1(,%rax,4),%eax */
		{ { 0xf7, 0xc1, 1, 0, 0, 0 }, 6, INSTRUCTION_NEXT, 0 },                /* test $1,%ecx */
		{ { 0xf7, 0xd9 }, 2, INSTRUCTION_NEXT, 0 },                            /* neg %ecx */
		{ { 0xc5, 0xf8, 0x77 }, 3, INSTRUCTION_NEXT, 0 },                      /* vzeroupper */
		{ { 0xc4, 0xe3, 0x75, 0x46, 0xc2, 0x31 }, 6, INSTRUCTION_NEXT, 0 },    /* vperm2i128 */
		{ { 0x62, 0xf1, 0x7c, 0x48, 0x10, 0x40, 1 }, 7, INSTRUCTION_NEXT, 0 }, /* vmovups 64(%rax),%zmm0 */
		{ { 0xf3, 0x0f, 0x1e, 0xfa }, 4, INSTRUCTION_NEXT, 0 },                /* endbr64 */
		{ { 0xe8, 0xfb, 0xff, 0xff, 0xff }, 5, INSTRUCTION_CALL, 0x1000 },     /* call . */
		{ { 0xff, 0x15, 0, 0, 0, 0 }, 6, INSTRUCTION_CALL, 0 },                /* call *0(%rip) */
		{ { 0xe9, 0, 1, 0, 0 }, 5, INSTRUCTION_JUMP, 0x1105 },                 /* jmp */
		{ { 0xeb, 0xfe }, 2, INSTRUCTION_JUMP, 0x1000 },                       /* jmp . */
		{ { 0x74, 0x10 }, 2, INSTRUCTION_BRANCH, 0x1012 },                     /* je */
		{ { 0x0f, 0x8f, 0, 0, 0, 0 }, 6, INSTRUCTION_BRANCH, 0x1006 },         /* jg */
		{ { 0x3e, 0xff, 0xe0 }, 3, INSTRUCTION_INDIRECT, 0 },                  /* notrack jmp *%rax */
		{ { 0xc3 }, 1, INSTRUCTION_END, 0 },                                   /* ret */
		{ { 0x0f, 0x0b }, 2, INSTRUCTION_END, 0 },                             /* ud2 */
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct instruction instruction;
		assert_true(instruction_decode(cases[i].code, sizeof(cases[i].code), 0x1000, &instruction));
		assert_int_equal(instruction.bytes, cases[i].bytes);
		assert_int_equal(instruction.flow, cases[i].flow);
		assert_int_equal(instruction.target, cases[i].target);
		/* An incomplete instruction is not decoded. */
		for (size_t left = 0; left < cases[i].bytes; left++) {
			uint8_t *cut = malloc(left + 1);
			assert_non_null(cut);
			memcpy(cut, cases[i].code, left);
			assert_false(instruction_decode(cut, left, 0x1000, &instruction));
			free(cut);
		}
	}
}

static void test_any_bytes_are_decoded_within_bounds(void **state)
{
	uint64_t random = 1;
	(void)state;
	for (size_t i = 0; i < 200000; i++) {
		struct instruction instruction;
		size_t left = i % 17;
		uint8_t *code = malloc(left + 1);
		assert_non_null(code);
		for (size_t at = 0; at < left; at++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			code[at] = (uint8_t)(random >> 56);
		}
		if (instruction_decode(code, left, 0, &instruction))
			assert_in_range(instruction.bytes, 1, left);
		free(code);
	}
}

/* --- the flow --- */

struct edge {
	uint32_t from, to;
	uint64_t flow; /* the expected result */
};

static void make_graph(struct flow_graph *graph, const struct flow_block *blocks, size_t block_count,
		       const struct edge *edges, size_t edge_count)
{
	*graph = (struct flow_graph){ .blocks = calloc(block_count, sizeof(*graph->blocks)),
				      .edges = calloc(edge_count, sizeof(*graph->edges)),
				      .block_count = block_count,
				      .edge_count = edge_count };
	assert_non_null(graph->blocks);
	assert_non_null(graph->edges);
	for (uint32_t i = 0; i < block_count; i++) {
		graph->blocks[i] = blocks[i];
		graph->blocks[i].first_in = graph->blocks[i].first_out = FLOW_NONE;
	}
	for (uint32_t i = 0; i < edge_count; i++) {
		struct flow_block *from = &graph->blocks[edges[i].from], *to = &graph->blocks[edges[i].to];
		graph->edges[i] = (struct flow_edge){
			.from = edges[i].from, .to = edges[i].to, .next_in = to->first_in, .next_out = from->first_out
		};
		to->first_in = from->first_out = i;
	}
}

static void check(const struct flow_block *blocks, size_t block_count, const struct edge *edges, size_t edge_count,
		  const uint64_t *counts)
{
	struct flow_graph graph;
	make_graph(&graph, blocks, block_count, edges, edge_count);
	assert_int_equal(flow_graph_solve(&graph), 0);
	for (size_t i = 0; i < block_count; i++)
		assert_int_equal(graph.blocks[i].count, counts[i]);
	for (size_t i = 0; i < edge_count; i++) {
		assert_true(graph.edges[i].is_known);
		assert_int_equal(graph.edges[i].flow, edges[i].flow);
	}
	flow_graph_release(&graph);
}

/* if (..) a(); else b(); followed by a block without a hook. */
static void test_a_block_without_hook_has_what_flows_into_it(void **state)
{
	static const struct flow_block blocks[] = { { .count = 10, .is_known = true, .is_open = true },
						    { .count = 3, .is_known = true },
						    { .is_known = false },
						    { .is_known = false } };
	static const struct edge edges[] = { { 0, 1, 3 }, { 0, 2, 7 }, { 1, 3, 3 }, { 2, 3, 7 } };
	static const uint64_t counts[] = { 10, 3, 7, 10 };
	(void)state;
	check(blocks, 4, edges, 4, counts);
}

/* for (..) body: 1 -> cond; cond -> body or end; body -> cond. */
static void test_jumps_of_a_loop_follow_from_its_blocks(void **state)
{
	static const struct flow_block blocks[] = { { .count = 1, .is_known = true, .is_open = true },
						    { .count = 11, .is_known = true },
						    { .is_known = false },
						    { .count = 1, .is_known = true } };
	static const struct edge edges[] = { { 0, 1, 1 }, { 1, 2, 10 }, { 2, 1, 10 }, { 1, 3, 1 } };
	static const uint64_t counts[] = { 1, 11, 10, 1 };
	(void)state;
	check(blocks, 4, edges, 4, counts);
}

/* A call that did not return in 2 of 5 cases: the flow out of its block follows from the next block's count, not
 * from its own. */
static void test_what_is_called_may_not_return(void **state)
{
	static const struct flow_block blocks[] = { { .count = 5, .is_known = true, .is_open = true, .leaks = true },
						    { .count = 3, .is_known = true } };
	static const struct edge edges[] = { { 0, 1, 3 } };
	static const uint64_t counts[] = { 5, 3 };
	(void)state;
	check(blocks, 2, edges, 1, counts);
}

/* Edges between blocks that were never executed have flow 0. */
static void test_nothing_flows_through_what_was_not_executed(void **state)
{
	static const struct flow_block blocks[] = { { .count = 0, .is_known = true, .is_open = true },
						    { .is_known = false },
						    { .is_known = false },
						    { .is_known = false } };
	static const struct edge edges[] = { { 0, 1, 0 }, { 0, 2, 0 }, { 1, 3, 0 }, { 2, 3, 0 } };
	static const uint64_t counts[] = { 0, 0, 0, 0 };
	(void)state;
	check(blocks, 4, edges, 4, counts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lengths_and_flows),
		cmocka_unit_test(test_any_bytes_are_decoded_within_bounds),
		cmocka_unit_test(test_a_block_without_hook_has_what_flows_into_it),
		cmocka_unit_test(test_jumps_of_a_loop_follow_from_its_blocks),
		cmocka_unit_test(test_what_is_called_may_not_return),
		cmocka_unit_test(test_nothing_flows_through_what_was_not_executed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
