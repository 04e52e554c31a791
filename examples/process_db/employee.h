/*
 * The employee database: a text file with one record per line, six fields separated by tabs:
 *
 *     id  revision  salary  name  title  address
 *
 * An employee may have several records; the record with the highest revision is valid.
 */
#ifndef EMPLOYEE_H
#define EMPLOYEE_H

#include <stdint.h>

enum { NAME_BYTES = 48, TITLE_BYTES = 40, ADDRESS_BYTES = 96 };

struct employee {
	uint32_t id;
	uint32_t revision;
	int salary;
	char name[NAME_BYTES]; /* "Last, First" */
	char title[TITLE_BYTES];
	char address[ADDRESS_BYTES];
};

#endif
