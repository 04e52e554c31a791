#include "gprof/choices.h"
#include "gprof/graph.h"

int graph_make(struct graph *graph, const struct image *image, const struct gmon *gmon, struct choices *choices,
	       bool scans)
{
	int code = choices_resolve(choices, image);
	if (code == 0)
		code = graph_init(graph, image);
	if (code == 0)
		graph_assign(graph, gmon, choices);
	if (code == 0)
		code = graph_count(graph, gmon, choices);
	if (code == 0 && scans)
		code = graph_scan(graph, gmon);
	if (code == 0 && gmon->arc_count > 0)
		code = graph_solve(graph, choices);
	return code;
}
