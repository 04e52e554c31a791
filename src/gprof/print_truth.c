#include "gprof/print.h"

int print_truth(const struct truth *truth, FILE *out, const struct print_options *options, bool has_output,
		struct error *error)
{
	static const struct choices all = { 0 };
	struct graph graph;
	struct print_options own = *options;
	int code = truth_graph(truth, false, &graph);
	if (code < 0)
		return error_set(error, code, "%s", error_text(code));
	own.true_times = true;
	own.exact_times = truth->is_exact;
	struct gprof_report report = {
		.out = out, .graph = &graph, .choices = &all, .options = &own, .has_output = has_output
	};
	code = print_graph(&report, error);
	if (code == 0)
		code = print_index(&report, error);
	graph_release(&graph);
	return code;
}
