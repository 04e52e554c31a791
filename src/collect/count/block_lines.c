#include "collect/count/block_lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash_map.h"
#include "frames/native/line_rows.h"

/* A source line in one function. */
struct key {
	struct block_line line;
	uint32_t first, last; /* indices of its uses; FLOW_NONE: none */
	uint32_t loop;        /* first block of a loop whose jump back has this line; FLOW_NONE: none */
	bool has_code;        /* ... besides such jumps */
};

/* A block that has code of a line. */
struct use {
	uint32_t block;
	uint32_t next;   /* use of the same line at a higher address; FLOW_NONE: none */
	bool is_counted; /* the line is counted at this block */
};

struct counting {
	struct flow_graph graph;
	struct line_rows rows;
	struct key *keys;
	struct use *uses;
	bool *has_lines;   /* by block: it has code of at least one line */
	uint32_t *marks;   /* by block: 1 + the last key that was counted at it */
	uint32_t *visited; /* by block: number of the last search (is_loop) that reached it */
	uint32_t *stack;   /* is_loop's; one entry per block */
	uint32_t visit;
	size_t key_count, key_capacity, use_count, use_capacity;
	struct hash_map by_line;
};

static uint64_t hash_text(const char *text)
{
	return text ? hash_bytes(text, strlen(text)) : 0;
}

/* Returns the key for the line of a row in the function `function`, added if it is new, or a negative error. `end`:
 * end of the row. */
static int64_t key_of(struct counting *counting, const struct line_row *row, uint64_t end, uint64_t function)
{
	uint64_t hash = hash_text(row->file) ^ hash_u64(hash_text(row->function) ^ row->line) ^ hash_u64(function);
	bool is_new;
	int64_t id = HASH_MAP_ITEM(&counting->by_line, hash, counting->keys, counting->key_capacity,
				   counting->key_count, &is_new);
	/* Avoid the first address of a function: it identifies calls of that function. */
	if (is_new)
		counting->keys[id] = (struct key){ .line.address = row->address + (end - row->address > 1),
						   .first = FLOW_NONE,
						   .last = FLOW_NONE,
						   .loop = FLOW_NONE };
	return id;
}

static int add_use(struct counting *counting, uint32_t key, uint32_t block)
{
	struct key *line = &counting->keys[key];
	if (line->last != FLOW_NONE && counting->uses[line->last].block == block)
		return 0;
	if (ARRAY_RESERVE(counting->uses, counting->use_capacity, counting->use_count + 1) < 0)
		return ERROR_MEMORY;
	uint32_t use = (uint32_t)counting->use_count++;
	counting->uses[use] = (struct use){ .block = block, .next = FLOW_NONE };
	if (line->last == FLOW_NONE)
		line->first = use;
	else
		counting->uses[line->last].next = use;
	line->last = use;
	return 0;
}

/* A function whose first block is the target of a jump is a part of a function that begins elsewhere. */
static bool is_entry(const struct flow_block *block, const struct line_row *row)
{
	return block->start == block->function && block->first_in == FLOW_NONE && row->address <= block->start;
}

/* If a row is nothing but the jump that ends a block and leads back to the start of a loop without a condition, returns
 * the first block of the loop; else FLOW_NONE. The line of such a jump is the line of the loop, or of its first statement;
 * a `continue;` or `goto` stands behind it. */
static uint32_t loop_of(const struct counting *counting, const struct flow_block *block, const struct line_row *row)
{
	const struct flow_graph *graph = &counting->graph;
	uint64_t start = row->address > block->body ? row->address : block->body;
	if (start < block->jump || block->jump == block->end || block->first_out == FLOW_NONE)
		return FLOW_NONE;
	uint32_t target = graph->edges[block->first_out].to;
	if (graph->blocks[target].start > block->start)
		return FLOW_NONE;
	const struct line_row *first = line_rows_at(&counting->rows, graph->blocks[target].start);
	return first && first->file == row->file && row->line <= first->line ? target : FLOW_NONE;
}

/* Whether a row is nothing but gcc's jump back to the start of such a loop, with the line of the statement there: gcov
 * does not count it. */
static bool is_way_back(const struct counting *counting, const struct flow_block *block, const struct line_row *row)
{
	uint32_t loop = counting->graph.has_arguments ? FLOW_NONE : loop_of(counting, block, row);
	return loop != FLOW_NONE &&
	       line_rows_at(&counting->rows, counting->graph.blocks[loop].start)->line == row->line;
}

/* Whether a block of clang's code only leads to another one: by a jump, or by copies of values that the next block,
 * which has a hook behind them, chooses from. clang also makes blocks on the edges of the graph that have only a hook. */
static bool is_between(const struct counting *counting, const struct flow_block *block)
{
	const struct flow_graph *graph = &counting->graph;
	if (block->first_out == FLOW_NONE)
		return false;
	if (block->is_hooked)
		return block->body == block->jump;
	const struct flow_edge *edge = &graph->edges[block->first_out];
	const struct flow_block *next = &graph->blocks[edge->to];
	return block->jump == block->start ||
	       (edge->next_out == FLOW_NONE && next->is_hooked && next->start == block->end);
}

/* Whether a row of the line table counts for a block that it reaches into. A row that began before the block counts
 * only if the line table has an entry at the block's start: otherwise the compiler gave the block no line of its own.
 * clang makes no entry where the line stays the same, as in a loop on one line, but gives jumps no line of their own.
 * gcc's rows for the code that leaves a function do not count: gcov counts a closing brace only if gcc made a statement
 * for it, as in functions that return nothing. */
static bool counts_for(const struct counting *counting, const struct flow_block *block, const struct line_row *row)
{
	if (row->line == 0 || !row->file || is_way_back(counting, block, row))
		return false;
	if (row->address < block->start && !block->resumes)
		return (counting->graph.has_arguments && !is_between(counting, block)) ||
		       line_rows_begin_at(&counting->rows, block->start);
	return counting->graph.has_arguments || row->address < block->epilogue || block->epilogue == block->end;
}

/* The line that a block of gcc's code is counted for, which gcov chooses in the same way: the line with the greatest
 * number in the file of its last row. A condition of several lines has blocks whose comparisons have the line of the
 * previous operand. */
struct chosen {
	uint32_t key;
	const struct line_row *row; /* NULL: none */
};

static void choose_line(struct chosen *chosen, uint32_t key, const struct line_row *row)
{
	if (!chosen->row || row->file != chosen->row->file || row->line >= chosen->row->line)
		*chosen = (struct chosen){ .key = key, .row = row };
}

/* Adds the lines of one block. Moves *row to the last row that begins at or before the block. */
static int add_lines(struct counting *counting, uint32_t number, size_t *row)
{
	const struct line_rows *rows = &counting->rows;
	const struct flow_block *block = &counting->graph.blocks[number];
	struct chosen chosen = { 0 };
	while (*row + 1 < rows->count && rows->rows[*row + 1].address <= block->start)
		++*row;
	for (size_t i = *row; i < rows->count && rows->rows[i].address < block->end; i++) {
		uint64_t end = i + 1 < rows->count ? rows->rows[i + 1].address : block->end;
		if (!counts_for(counting, block, &rows->rows[i]))
			continue;
		counting->has_lines[number] = true;
		int64_t key = key_of(counting, &rows->rows[i], end, block->function);
		int status = key < 0 ? (int)key : add_use(counting, (uint32_t)key, number);
		if (status < 0)
			return status;
		counting->keys[key].line.is_entry |= is_entry(block, &rows->rows[i]);
		uint32_t loop = counting->graph.has_arguments ? loop_of(counting, block, &rows->rows[i]) : FLOW_NONE;
		if (loop != FLOW_NONE)
			counting->keys[key].loop = loop;
		else
			counting->keys[key].has_code = true;
		choose_line(&chosen, (uint32_t)key, &rows->rows[i]);
		counting->uses[counting->keys[key].last].is_counted = counting->graph.has_arguments;
	}
	if (chosen.row)
		counting->uses[counting->keys[chosen.key].last].is_counted = true;
	return 0;
}

static int find_lines(struct counting *counting)
{
	size_t row = 0;
	counting->has_lines = calloc(counting->graph.block_count + 1, sizeof(*counting->has_lines));
	int status = counting->has_lines ? 0 : ERROR_MEMORY;
	for (size_t i = 0; i < counting->graph.block_count && status == 0; i++)
		status = add_lines(counting, (uint32_t)i, &row);
	return status;
}

/* How much of the flow of an edge comes from the marked line. */
struct within {
	uint64_t flow;
	bool is_all, is_known;
};

/* A block with the mark is within the line. A block without a line passes on what it is reached by, `depth`
 * steps back at most; if it leads to several blocks, only where all of that comes from the line. */
static struct within flow_within(const struct counting *counting, const struct flow_edge *edge, uint32_t mark,
				 int depth)
{
	const struct flow_graph *graph = &counting->graph;
	const struct flow_block *block = &graph->blocks[edge->from];
	struct within all = { .flow = edge->is_known ? edge->flow : 0, .is_all = true, .is_known = edge->is_known };
	struct within sum = { .is_all = true, .is_known = true };
	if (counting->has_lines[edge->from] || block->is_open || depth == 0 || block->first_in == FLOW_NONE)
		return counting->marks[edge->from] == mark ? all : (struct within){ .is_known = true };
	for (uint32_t i = block->first_in; i != FLOW_NONE; i = graph->edges[i].next_in) {
		struct within part = flow_within(counting, &graph->edges[i], mark, depth - 1);
		sum.flow += part.flow;
		sum.is_all &= part.is_all;
		sum.is_known &= part.is_known;
	}
	if (sum.is_all)
		return all;
	bool is_shared = graph->edges[block->first_out].next_out != FLOW_NONE;
	return is_shared ? (struct within){ .is_known = true } : sum;
}

/* Whether edges that may have been taken lead from one block to another within the marked line and blocks without a
 * line. */
static bool is_loop(struct counting *counting, uint32_t from, uint32_t to, uint32_t mark)
{
	const struct flow_graph *graph = &counting->graph;
	size_t depth = 0;
	counting->visit++;
	counting->stack[depth++] = from;
	counting->visited[from] = counting->visit;
	while (depth > 0) {
		uint32_t at = counting->stack[--depth];
		if (at == to)
			return true;
		for (uint32_t i = graph->blocks[at].first_out; i != FLOW_NONE; i = graph->edges[i].next_out) {
			const struct flow_edge *edge = &graph->edges[i];
			if (counting->visited[edge->to] == counting->visit || (edge->is_known && edge->flow == 0) ||
			    (counting->has_lines[edge->to] && counting->marks[edge->to] != mark))
				continue;
			counting->visited[edge->to] = counting->visit;
			counting->stack[depth++] = edge->to;
		}
	}
	return false;
}

/* Counts how often control came to a block from another line, or back to it in a loop within the line. Returns false
 * if that is not known. */
static bool arrivals(struct counting *counting, uint32_t number, uint32_t mark, uint64_t *count)
{
	enum { DEPTH = 4 };
	const struct flow_graph *graph = &counting->graph;
	const struct flow_block *block = &graph->blocks[number];
	uint64_t within = 0;
	for (uint32_t i = block->first_in; i != FLOW_NONE; i = graph->edges[i].next_in) {
		const struct flow_edge *edge = &graph->edges[i];
		if (edge->from >= number && is_loop(counting, number, edge->from, mark))
			continue;
		struct within part = flow_within(counting, edge, mark, DEPTH);
		if (!part.is_known && block->count > 0)
			return false;
		within += part.flow;
	}
	*count = block->count > within ? block->count - within : 0;
	return true;
}

/* Counts a line at the blocks where it is counted. If the flow between them is not known,
 * returns the count of the block that was executed most. */
static uint64_t count_arrivals(struct counting *counting, uint32_t key)
{
	uint64_t sum = 0, most = 0;
	bool is_known = true;
	for (uint32_t i = counting->keys[key].first; i != FLOW_NONE; i = counting->uses[i].next)
		if (counting->uses[i].is_counted)
			counting->marks[counting->uses[i].block] = key + 1;
	for (uint32_t i = counting->keys[key].first; i != FLOW_NONE; i = counting->uses[i].next) {
		uint64_t count = 0, block = counting->graph.blocks[counting->uses[i].block].count;
		if (!counting->uses[i].is_counted)
			continue;
		is_known &= arrivals(counting, counting->uses[i].block, key + 1, &count);
		sum += count;
		most = block > most ? block : most;
	}
	return is_known ? sum : most;
}

/* `while (1)` has no code in clang's programs but the jump back, as control falls into the loop's first block from the
 * one before it. Returns how often it did. */
static uint64_t fallen_into(const struct counting *counting, uint32_t loop, uint32_t mark)
{
	const struct flow_graph *graph = &counting->graph;
	const struct flow_block *block = &graph->blocks[loop];
	for (uint32_t i = block->first_in; i != FLOW_NONE; i = graph->edges[i].next_in) {
		const struct flow_edge *edge = &graph->edges[i];
		if (graph->blocks[edge->from].end == block->start && counting->marks[edge->from] != mark)
			return edge->is_known ? edge->flow : 0;
	}
	return 0;
}

/* If control never arrived at the blocks where the line is counted, but other blocks with it
 * were executed, the line counts as often as the block that was executed most. */
static void count_line(struct counting *counting, uint32_t key)
{
	struct block_line *line = &counting->keys[key].line;
	uint64_t sum = 0, most = 0;
	bool has_counted = false;
	for (uint32_t i = counting->keys[key].first; i != FLOW_NONE; i = counting->uses[i].next) {
		uint64_t count = counting->graph.blocks[counting->uses[i].block].count;
		has_counted |= counting->uses[i].is_counted;
		sum += count;
		most = count > most ? count : most;
	}
	line->count = has_counted ? count_arrivals(counting, key) : sum;
	if (counting->keys[key].loop != FLOW_NONE && !counting->keys[key].has_code)
		line->count += fallen_into(counting, counting->keys[key].loop, key + 1);
	if (line->count == 0)
		line->count = most;
}

static int count_lines(struct counting *counting, struct block_lines *lines)
{
	counting->marks = calloc(counting->graph.block_count + 1, sizeof(*counting->marks));
	counting->visited = calloc(counting->graph.block_count + 1, sizeof(*counting->visited));
	counting->stack = calloc(counting->graph.block_count + 1, sizeof(*counting->stack));
	lines->lines = calloc(counting->key_count + 1, sizeof(*lines->lines));
	if (!counting->marks || !counting->visited || !counting->stack || !lines->lines)
		return ERROR_MEMORY;
	for (size_t i = 0; i < counting->key_count; i++) {
		count_line(counting, (uint32_t)i);
		lines->lines[i] = counting->keys[i].line;
	}
	lines->count = counting->key_count;
	return 0;
}

static int read_rows(struct counting *counting, struct module_file *file)
{
	const struct flow_graph *graph = &counting->graph;
	return line_rows_read(&counting->rows, file, graph->blocks[0].start, graph->blocks[graph->block_count - 1].end);
}

int block_lines_read(struct block_lines *lines, struct module_file *file, const struct flow_count *counts, size_t count)
{
	struct counting counting = { 0 };
	*lines = (struct block_lines){ 0 };
	const struct unwind_table *table = module_file_table(file);
	if (!file->bytes || !table)
		return 0;
	hash_map_init(&counting.by_line);
	int status = flow_graph_read(&counting.graph, file->bytes, table, counts, count);
	if (status == 0)
		status = flow_graph_solve(&counting.graph);
	if (status == 0 && counting.graph.block_count > 0) {
		status = read_rows(&counting, file);
		if (status == 0)
			status = find_lines(&counting);
		if (status == 0)
			status = count_lines(&counting, lines);
		line_rows_release(&counting.rows);
	}
	flow_graph_release(&counting.graph);
	hash_map_release(&counting.by_line);
	free(counting.keys);
	free(counting.uses);
	free(counting.has_lines);
	free(counting.marks);
	free(counting.visited);
	free(counting.stack);
	if (status < 0)
		block_lines_release(lines);
	return status;
}

void block_lines_release(struct block_lines *lines)
{
	free(lines->lines);
	*lines = (struct block_lines){ 0 };
}
