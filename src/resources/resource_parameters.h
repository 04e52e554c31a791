/* Parse the parameters of a resource, the text behind the colon of its name: one parser for each form. The request's
 * row and name are already set; a parser fills in request->target, and request->gtick if a value is the amount.
 * Errors are ERROR_USAGE, with the expected form. Whether a function or tracepoint exists is checked later
 * (collect/sample/probes/probe_points.h); system calls are checked here. */
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

/* Sets the error "give calls:FUNCTION[@MODULE], not 'calls:'". Returns ERROR_USAGE. */
int resource_wrong_form(const struct resource_request *request, struct error *error);

#endif
