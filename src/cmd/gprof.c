#include "cmd/gprof.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text_output.h"
#include "cmd/message.h"
#include "gprof/print.h"
#include "gprof/truth.h"

#define SUM_FILE "gmon.sum"

/* The outputs to print or write: a set. */
enum output {
	OUTPUT_FLAT = 1 << 0,
	OUTPUT_GRAPH = 1 << 1,
	OUTPUT_COUNTS = 1 << 2,
	OUTPUT_SOURCE = 1 << 3,
	OUTPUT_FUNCTION_ORDER = 1 << 4,
	OUTPUT_FILE_ORDER = 1 << 5,
	OUTPUT_SUM = 1 << 6,
	OUTPUT_FILES = 1 << 7,
};

/* Options that choose an output, or symbols for it, or both. */
static const struct selector {
	int id;
	int kind; /* enum choice_kind of its SPEC; -1: it has no SPEC */
	bool excludes;
	unsigned outputs; /* the outputs to print; with `excludes` and no SPEC: not to print */
} selectors[] = {
	{ 'p', CHOICE_FLAT, false, OUTPUT_FLAT },
	{ 'P', CHOICE_FLAT, true, OUTPUT_FLAT },
	{ 'q', CHOICE_GRAPH, false, OUTPUT_GRAPH },
	{ 'Q', CHOICE_GRAPH, true, OUTPUT_GRAPH },
	{ 'B', -1, false, OUTPUT_GRAPH },
	{ 'C', CHOICE_COUNTS, false, OUTPUT_COUNTS },
	{ 'Z', CHOICE_COUNTS, true, OUTPUT_COUNTS },
	{ 'A', CHOICE_SOURCE, false, OUTPUT_SOURCE },
	{ 'J', CHOICE_SOURCE, true, OUTPUT_SOURCE },
	{ 'r', -1, false, OUTPUT_FUNCTION_ORDER },
	{ 'R', -1, false, OUTPUT_FILE_ORDER },
	{ 's', -1, false, OUTPUT_SUM },
	{ 'i', -1, false, OUTPUT_FILES },
	{ 'e', CHOICE_GRAPH, true, 0 },
	{ 'E', CHOICE_GRAPH, true, 0 },
	{ 'E', CHOICE_TIME, true, 0 },
	{ 'f', CHOICE_GRAPH, false, 0 },
	{ 'F', CHOICE_GRAPH, false, 0 },
	{ 'F', CHOICE_TIME, false, 0 },
	{ 'n', CHOICE_TIME, false, 0 },
	{ 'N', CHOICE_TIME, true, 0 },
	{ 'k', CHOICE_ARCS, true, 0 },
};

/* Options that set a bool. */
static const struct {
	int id;
	size_t offset; /* offset of the bool in struct gprof_run */
} switches[] = {
	{ 'a', offsetof(struct gprof_run, image_options.no_statics) },
	{ 'D', offsetof(struct gprof_run, image_options.only_functions) },
	{ GPROF_CLONES, offsetof(struct gprof_run, image_options.all_clones) },
	{ GPROF_NO_DEMANGLE, offsetof(struct gprof_run, image_options.no_demangle) },
	{ 'b', offsetof(struct gprof_run, print.brief) },
	{ 'T', offsetof(struct gprof_run, print.traditional) },
	{ 'z', offsetof(struct gprof_run, print.all_symbols) },
	{ 'l', offsetof(struct gprof_run, print.by_line) },
	{ 'L', offsetof(struct gprof_run, print.full_paths) },
	{ GPROF_INLINE_FILES, offsetof(struct gprof_run, print.inline_files) },
	{ GPROF_NO_ERRORS, offsetof(struct gprof_run, print.no_errors) },
	{ 'x', offsetof(struct gprof_run, print.all_lines) },
	{ 'y', offsetof(struct gprof_run, print.separate_files) },
	{ 'c', offsetof(struct gprof_run, scans) },
	{ 'i', offsetof(struct gprof_run, shows_files) },
	{ GPROF_TRUE, offsetof(struct gprof_run, wants_truth) },
};

/* In printing order. BSD's gprof prints the call graph first. */
static const struct {
	unsigned output;
	enum { EITHER_STYLE, OWN_STYLE, TRADITIONAL_STYLE } style;
	print_function *print;
} reports[] = {
	{ OUTPUT_GRAPH, TRADITIONAL_STYLE, print_graph },
	{ OUTPUT_FLAT, EITHER_STYLE, print_flat },
	{ OUTPUT_GRAPH, OWN_STYLE, print_graph },
	{ OUTPUT_GRAPH, EITHER_STYLE, print_index },
	{ OUTPUT_COUNTS, EITHER_STYLE, print_counts },
	{ OUTPUT_SOURCE, EITHER_STYLE, print_source },
	{ OUTPUT_FUNCTION_ORDER, EITHER_STYLE, print_function_order },
	{ OUTPUT_FILE_ORDER, EITHER_STYLE, print_file_order },
};

/* --- options --- */

struct words {
	struct gprof_run *run;
	unsigned outputs;   /* outputs that were requested */
	unsigned mentioned; /* outputs that were requested or excluded */
	size_t folder_count, folder_capacity;
	const char **folders; /* owned: the values of -I; NULL-terminated */
};

/* Adds a choice of symbols. Where the call graph accepts symbols, FROM/TO means an arc. */
static int choose(struct gprof_run *run, const struct selector *selector, const char *spec)
{
	enum choice_kind kind = (enum choice_kind)selector->kind;
	if (kind == CHOICE_GRAPH && selector->outputs && strchr(spec, '/'))
		kind = CHOICE_ARCS;
	if (kind == CHOICE_ARCS && !strchr(spec, '/'))
		return usage_error(run->invocation, "'%s' is not an arc (FROM/TO)", spec);
	return choices_add(&run->choices, kind, selector->excludes, spec) < 0
		       ? failure(run->invocation, "out of memory")
		       : EXIT_DONE;
}

static int select_outputs(struct words *words, const struct option_use *use)
{
	int status = EXIT_DONE;
	for (size_t i = 0; i < sizeof(selectors) / sizeof(selectors[0]) && status == EXIT_DONE; i++) {
		const struct selector *selector = &selectors[i];
		if (selector->id != use->option->id)
			continue;
		words->mentioned |= selector->outputs;
		if (selector->excludes && !use->value)
			words->outputs &= ~selector->outputs;
		else
			words->outputs |= selector->outputs;
		if (use->value && selector->kind >= 0)
			status = choose(words->run, selector, use->value);
	}
	return status;
}

static void switch_on(struct gprof_run *run, int id)
{
	for (size_t i = 0; i < sizeof(switches) / sizeof(switches[0]); i++)
		if (switches[i].id == id)
			*(bool *)((char *)run + switches[i].offset) = true;
}

/* Reads the value of an option that is a number; `standard` if the option was not given. */
static int read_number(const struct invocation *invocation, int id, uint64_t standard, uint64_t *number)
{
	const char *text = option_value(invocation, id);
	char *end;
	*number = standard;
	if (!text)
		return EXIT_DONE;
	errno = 0;
	*number = strtoull(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || errno || (id != 'm' && *number > UINT16_MAX))
		return usage_error(invocation, "'%s' is not a number in the option's range", text);
	return EXIT_DONE;
}

static int read_numbers(struct gprof_run *run)
{
	enum { WIDTH = 80, TABLE_LENGTH = 10 };
	uint64_t width, length;
	int status = read_number(run->invocation, 'w', WIDTH, &width);
	if (status == EXIT_DONE)
		status = read_number(run->invocation, 't', TABLE_LENGTH, &length);
	if (status == EXIT_DONE)
		status = read_number(run->invocation, 'm', 0, &run->print.min_count);
	if (status == EXIT_DONE) {
		run->print.width = (unsigned)width;
		run->print.table_length = (unsigned)length;
	}
	return status;
}

static const char *format_word(size_t index)
{
	static const char *const formats[] = { "auto", "magic" };
	return index < sizeof(formats) / sizeof(formats[0]) ? formats[index] : NULL;
}

static const char *style_word(size_t index)
{
	static const char *const styles[] = { "auto", "gnu-v3", "rust" };
	return index < sizeof(styles) / sizeof(styles[0]) ? styles[index] : NULL;
}

static word_at *option_words(int id)
{
	return id == 'O' ? format_word : id == GPROF_DEMANGLE ? style_word : NULL;
}

/* Checks an option's value against its words. */
static int check_word(const struct invocation *invocation, int id, const char *name)
{
	char list[64];
	word_at *allowed = option_words(id);
	const char *value = option_value(invocation, id);
	for (size_t i = 0; value && allowed(i); i++)
		if (strcmp(value, allowed(i)) == 0)
			return EXIT_DONE;
	return value ? usage_error(invocation, "unknown %s '%s' (%s)", name, value,
				   words_list(allowed, list, sizeof(list)))
		     : EXIT_DONE;
}

static int check_words(const struct gprof_run *run)
{
	int status = check_word(run->invocation, 'O', "format of GMON");
	return status == EXIT_DONE ? check_word(run->invocation, GPROF_DEMANGLE, "style of names") : status;
}

static int add_folder(struct words *words, const char *folder)
{
	if (ARRAY_RESERVE(words->folders, words->folder_capacity, words->folder_count + 2) < 0)
		return failure(words->run->invocation, "out of memory");
	words->folders[words->folder_count++] = folder;
	words->folders[words->folder_count] = NULL;
	return EXIT_DONE;
}

/* Collects the folders of -I, followed by the value of GPROF_PATH. A value with several folders is stored as it is. */
static int read_folders(struct words *words)
{
	const struct invocation *invocation = words->run->invocation;
	const char *variable = getenv("GPROF_PATH");
	int status = EXIT_DONE;
	for (size_t i = 0; i < invocation->use_count && status == EXIT_DONE; i++)
		if (invocation->uses[i].option->id == 'I')
			status = add_folder(words, invocation->uses[i].value);
	if (variable && variable[0] && status == EXIT_DONE)
		status = add_folder(words, variable);
	words->run->print.folders = words->folders;
	return status;
}

static int read_options(struct words *words)
{
	struct gprof_run *run = words->run;
	const struct invocation *invocation = run->invocation;
	int status = read_numbers(run);
	if (status == EXIT_DONE)
		status = check_words(run);
	if (status == EXIT_DONE)
		status = read_folders(words);
	for (size_t i = 0; i < invocation->use_count && status == EXIT_DONE; i++) {
		switch_on(run, invocation->uses[i].option->id);
		status = select_outputs(words, &invocation->uses[i]);
	}
	run->print.map_file = option_value(invocation, 'R');
	if (status == EXIT_DONE && (words->outputs & OUTPUT_FUNCTION_ORDER) && (words->outputs & OUTPUT_FILE_ORDER))
		return usage_error(invocation, "-r cannot be combined with -R (choose one order)");
	/* In the index, names of static functions have their file; a SPEC may have one. */
	run->image_options.with_source = true;
	return status;
}

/* --- default outputs and checks --- */

static unsigned standard_outputs(const struct words *words)
{
	const struct gmon *gmon = &words->run->gmon;
	unsigned outputs = 0;
	if (gmon->histogram_count > 0)
		outputs |= OUTPUT_FLAT;
	if (gmon->arc_count > 0 || words->run->wants_truth)
		outputs |= OUTPUT_GRAPH;
	if (outputs == 0)
		outputs = OUTPUT_COUNTS;
	return outputs & ~words->mentioned;
}

static int check_outputs(const struct words *words)
{
	const struct gmon *gmon = &words->run->gmon;
	if ((words->outputs & OUTPUT_FLAT) && gmon->histogram_count == 0)
		return failure(words->run->invocation, "cannot print a flat profile: nothing was sampled");
	if ((words->outputs & OUTPUT_GRAPH) && gmon->arc_count == 0 && !words->run->wants_truth)
		return failure(words->run->invocation,
			       "cannot print a call graph: no calls were counted (compile and link with -pg)");
	bool is_empty = gmon->histogram_count + gmon->arc_count + gmon->block_count == 0;
	if (is_empty && !words->run->wants_truth && !words->run->print.all_symbols)
		return failure(words->run->invocation,
			       "cannot print a profile: nothing was sampled or counted (compile and link with -pg and "
			       "let the program exit by itself, or run it with 'cpprof record --instrumented')");
	return EXIT_DONE;
}

/* --- output --- */

static int write_sum(const struct gprof_run *run)
{
	struct text_output output;
	struct error error = { 0 };
	if (text_output_open(&output, SUM_FILE, TEXT_OUTPUT_PRIVATE, &error) < 0)
		return failure_of(run->invocation, &error);
	struct sink sink;
	sink_init(&sink, output.stream);
	int code = gmon_write(&run->gmon, &sink, &error);
	if (code < 0)
		text_output_discard(&output);
	else
		code = text_output_commit(&output, &error);
	return code < 0 ? failure_of(run->invocation, &error) : EXIT_DONE;
}

static int make_graph(struct gprof_run *run)
{
	int code = graph_make(&run->graph, &run->image, &run->gmon, &run->choices, run->scans);
	return code < 0 ? failure(run->invocation, "%s: %s", run->image.path, error_text(code)) : EXIT_DONE;
}

/* Returns the selection for the call graph with true times: all of the profile. */
static struct view_options true_view(const struct gprof_run *run)
{
	const char *name = option_value(run->invocation, GPROF_RESOURCE);
	return (struct view_options){
		.resource = name ? profile_find_resource(run->profile, name) : truth_resource(run->profile),
		.thread = VIEW_ANY,
	};
}

static int print_true_graph(struct gprof_run *run)
{
	struct view_options view = true_view(run);
	return call_graph_print(run->invocation, run->profile, &view, &run->print, run->has_output);
}

static int print_reports(struct gprof_run *run, unsigned outputs)
{
	struct error error = { 0 };
	struct gprof_report report = {
		.out = stdout,
		.graph = &run->graph,
		.image = &run->image,
		.gmon = &run->gmon,
		.choices = &run->choices,
		.options = &run->print,
		.has_output = run->has_output,
	};
	for (size_t i = 0; i < sizeof(reports) / sizeof(reports[0]); i++) {
		bool is_of_style = reports[i].style == EITHER_STYLE ||
				   (reports[i].style == TRADITIONAL_STYLE) == run->print.traditional;
		if ((outputs & reports[i].output) && is_of_style && reports[i].print(&report, &error) < 0)
			return failure_of(run->invocation, &error);
	}
	run->has_output = report.has_output;
	return EXIT_DONE;
}

/* Prints the reports. With --true, the call graph with true times replaces gprof's. */
static int report(struct gprof_run *run, unsigned outputs)
{
	bool is_true = run->wants_truth && (outputs & OUTPUT_GRAPH);
	int status = make_graph(run);
	if (status != EXIT_DONE)
		return status;
	gprof_check(run);
	status = print_reports(run, is_true ? outputs & ~(unsigned)OUTPUT_GRAPH : outputs);
	if (status == EXIT_DONE && is_true)
		return print_true_graph(run);
	if (status != EXIT_DONE || run->profile_count == 0 || !(outputs & OUTPUT_GRAPH))
		return status;
	struct view_options view = true_view(run);
	return view.resource == PROFILE_NONE ? status : call_graph_print_error(run->invocation, run->profile, &view);
}

/* Checks that --true has the call paths of exactly one profile, and no restriction of the output. */
static int check_truth(const struct words *words)
{
	const struct gprof_run *run = words->run;
	if (!run->wants_truth)
		return EXIT_DONE;
	if (run->profile_count != 1 || run->gmon_count > 0)
		return failure(run->invocation, "cannot print a true call graph: --true needs the call paths of one "
						"profile (cpprof.data), without gmon.out files");
	if (true_view(run).resource == PROFILE_NONE)
		return failure(run->invocation, "cannot print a true call graph: '%s' has no times", run->profile_path);
	if (run->choices.count > 0 || run->print.by_line || run->scans)
		return usage_error(run->invocation, "--true cannot be combined with a selection: it prints the whole "
						    "call graph ('cpprof report --call-graph' selects)");
	return EXIT_DONE;
}

static int run_words(struct words *words)
{
	struct gprof_run *run = words->run;
	int status = read_options(words);
	if (status == EXIT_DONE)
		status = gprof_read_input(run);
	if (status == EXIT_DONE)
		status = check_truth(words);
	if (status == EXIT_DONE && words->outputs == 0)
		words->outputs = standard_outputs(words);
	if (status == EXIT_DONE && (words->outputs & OUTPUT_SUM))
		status = write_sum(run);
	if (status != EXIT_DONE || !(words->outputs & ~(unsigned)(OUTPUT_SUM | OUTPUT_FILES)))
		return status;
	status = check_outputs(words);
	return status == EXIT_DONE ? report(run, words->outputs) : status;
}

static int run(struct invocation *invocation)
{
	if (option_given(invocation, 'v')) {
		printf("cpprof %s\n", CPPROF_VERSION);
		return EXIT_DONE;
	}
	struct gprof_run gprof = { .invocation = invocation };
	struct words words = { .run = &gprof };
	gmon_init(&gprof.gmon);
	int status = run_words(&words);
	graph_release(&gprof.graph);
	choices_release(&gprof.choices);
	gmon_release(&gprof.gmon);
	if (gprof.has_image)
		image_close(&gprof.image);
	profile_free(gprof.profile);
	free(words.folders);
	return status;
}

static const char *const usage[] = { "[OPTION]... [IMAGE [GMON...]]", NULL };

/* clang-format off */
static const struct command_option options[] = {
	{ 'p', 'p', "flat-profile", "[=SPEC]", "Print the flat profile, or that of SPEC: FUNCTION, FILE.c, FILE.c:FUNCTION or FILE.c:LINE", NULL },
	{ 'P', 'P', "no-flat-profile", "[=SPEC]", "Print no flat profile, or one without SPEC", NULL },
	{ 'q', 'q', "graph", "[=SPEC]", "Print the call graph, or that of SPEC and its callees; SPEC may be an arc, FROM/TO", NULL },
	{ 'Q', 'Q', "no-graph", "[=SPEC]", "Print no call graph, or one without SPEC", NULL },
	{ 'B', 'B', "call-graph", NULL, "Print the call graph", NULL },
	{ 'A', 'A', "annotated-source", "[=SPEC]", "Print the source with how often its functions were called; with -l, its lines", NULL },
	{ 'J', 'J', "no-annotated-source", "[=SPEC]", "Print no annotated source, or none of SPEC", NULL },
	{ 'C', 'C', "exec-counts", "[=SPEC]", "Print how often each function was called; with -l, each basic block", NULL },
	{ 'Z', 'Z', "no-exec-counts", "[=SPEC]", "Print no such counts, or none of SPEC", NULL },
	{ 'r', 'r', "function-ordering", NULL, "Print in which order a linker best places the functions", NULL },
	{ 'R', 'R', "file-ordering", "MAP", "Print in which order object files are best linked; MAP lists the functions of each", NULL },
	{ 'i', 'i', "file-info", NULL, "Print how many records each GMON has", NULL },
	{ 's', 's', "sum", NULL, "Write the sum of all GMONs to " SUM_FILE, NULL },
	{ 'k', 'k', "no-arcs", "FROM/TO", "Leave arcs from FROM to TO out of the call graph; either may be left empty", NULL },
	{ 'n', 'n', "time", "SPEC", "Pass on the time of SPEC only", NULL },
	{ 'N', 'N', "no-time", "SPEC", "Do not pass on the time of SPEC", NULL },
	{ 'f', 'f', "only", "SPEC", "Print entries for SPEC and its callees only", NULL },
	{ 'F', 'F', "only-time", "SPEC", "The same, and count only time that was spent there", NULL },
	{ 'e', 'e', "without", "SPEC", "Print no entry for SPEC", NULL },
	{ 'E', 'E', "without-time", "SPEC", "The same, and do not count its time", NULL },
	{ 'a', 'a', "no-static", NULL, "Count static functions as the one before them", NULL },
	{ 'c', 'c', "static-call-graph", NULL, "Add calls that are in the code but were not executed, with a count of 0", NULL },
	{ 'D', 'D', "ignore-non-functions", NULL, "Take untyped symbols for no functions", NULL },
	{ 'l', 'l', "line", NULL, "Count by source lines instead of functions", NULL },
	{ 'm', 'm', "min-count", "N", "Leave out counts below N", "0" },
	{ 'z', 'z', "display-unused-functions", NULL, "Show also functions that were neither called nor sampled", NULL },
	{ 'b', 'b', "brief", NULL, "Explain nothing", NULL },
	{ 'L', 'L', "print-path", NULL, "Show all of a source file's path", NULL },
	{ GPROF_INLINE_FILES, 0, "inline-file-names", NULL, "Show each function's source file and line", NULL },
	{ 'I', 'I', "directory-path", "DIR", "Look for source files below DIR; may be given several times", NULL },
	{ 't', 't', "table-length", "N", "List N lines of a source file by their counts", "10" },
	{ 'w', 'w', "width", "N", "Width of the index", "80" },
	{ 'x', 'x', "all-lines", NULL, "Annotate all lines, not only those that a block begins in", NULL },
	{ 'y', 'y', "separate-files", NULL, "Write annotated source to FILE-ann, a file each", NULL },
	{ 'T', 'T', "traditional", NULL, "Print as BSD's gprof did", NULL },
	{ GPROF_DEMANGLE, 0, "demangle", "[=STYLE]", "Show names of C++ and Rust as written; this is the default; STYLE is %s", NULL },
	{ GPROF_NO_DEMANGLE, 0, "no-demangle", NULL, "Show names as the symbol table has them", NULL },
	{ 'O', 'O', "file-format", "FORMAT", "The format of GMON: %s", "auto" },
	{ GPROF_NO_ERRORS, 0, "no-errors", NULL, "Print the flat profile without its errors, byte by byte as gprof does", NULL },
	{ GPROF_CLONES, 0, "clones", NULL, "Take a compiler's clones (parse.isra.0) for functions of their own", NULL },
	{ GPROF_TRUE, 0, "true", NULL, "Print the call graph with the times of the call paths; GMON is a profile", NULL },
	{ GPROF_RESOURCE, 0, "resource", "RES", "Of a profile, the resource that stands for time", "cpu" },
	ROWS_LIMITS,
	{ 'v', 'v', "version", NULL, "Print the version", NULL },
	{ 0 },
};
/* clang-format on */

static const struct command_example examples[] = {
	{ "cpprof gprof ./a.out gmon.out", "what gprof prints of a program that was compiled with -pg" },
	{ "cpprof gprof -b -p ./a.out gmon.out gmon.out.1", "the flat profile of two runs, without explanations" },
	{ "cpprof gprof -b -q ./a.out cpprof.data", "the call graph of what 'record --instrumented' counted" },
	{ "cpprof gprof --true ./a.out cpprof.data", "the same with the times of the call paths themselves" },
	{ "cpprof gprof -l -A -I ~/src ./a.out", "the source with how often each line ran" },
	{ 0 },
};

const struct command command_gprof = {
	.name = "gprof",
	.task = TASK_READ,
	.summary = "print gprof's reports of gmon.out or a profile",
	.usage = usage,
	.options = options,
	.examples = examples,
	.words = option_words,
	.argument_max = SIZE_MAX,
	.run = run,
};
