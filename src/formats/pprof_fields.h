/* The numbers of the fields of profile.proto (github.com/google/pprof, proto/profile.proto), and
 * the reader of such profiles. */
#ifndef FORMATS_PPROF_FIELDS_H
#define FORMATS_PPROF_FIELDS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

enum profile_field {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME_NS = 9,
	PROFILE_DURATION_NS = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
};
enum value_type_field { VALUE_TYPE_TYPE = 1, VALUE_TYPE_UNIT = 2 };
enum sample_field { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES = 2, SAMPLE_LABEL = 3 };
enum label_field { LABEL_KEY = 1, LABEL_TEXT = 2, LABEL_NUMBER = 3, LABEL_UNIT = 4 };
enum mapping_field {
	MAPPING_ID = 1,
	MAPPING_START = 2,
	MAPPING_OFFSET = 4,
	MAPPING_FILE = 5,
	MAPPING_BUILD_ID = 6,
	MAPPING_HAS_FUNCTIONS = 7,
	MAPPING_HAS_INLINE = 10
};
enum location_field { LOCATION_ID = 1, LOCATION_MAPPING = 2, LOCATION_ADDRESS = 3, LOCATION_LINE = 4 };
enum line_field { LINE_FUNCTION = 1, LINE_NUMBER = 2 };
enum function_field {
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3,
	FUNCTION_FILE = 4,
	FUNCTION_LINE = 5
};

/* For the format's row. */
bool pprof_recognise(const unsigned char *start, size_t bytes);
struct profile *pprof_import(FILE *in, const char *name, const char *image, struct error *error);

#endif
