/* What stands behind the colon of a resource's name: one parser for each form.
 * They fill in request->target (and request->gtick, where a value is the
 * amount); the request's row and name are set already. Errors: ERROR_USAGE, with
 * the form. Whether there is such a function or tracepoint is asked later
 * (collect/sample/probes/probe_points.h); system calls are known here. */
#ifndef RESOURCES_RESOURCE_PARAMETERS_H
#define RESOURCES_RESOURCE_PARAMETERS_H

#include "resources/resources.h"

int resource_parse_syscall(const char *words, struct resource_request *request, struct error *error);
int resource_parse_requested(const char *words, struct resource_request *request, struct error *error);
int resource_parse_calls(const char *words, struct resource_request *request, struct error *error);
int resource_parse_tracepoint(const char *words, struct resource_request *request, struct error *error);
int resource_parse_uprobe(const char *words, struct resource_request *request, struct error *error);
int resource_parse_usdt(const char *words, struct resource_request *request, struct error *error);
int resource_parse_own(const char *words, struct resource_request *request, struct error *error);

/* "give calls:FUNCTION[@MODULE], not 'calls:'" */
int resource_wrong_form(const struct resource_request *request, struct error *error);

#endif
