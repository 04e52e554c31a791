/*
 * The numbers of the fields of OTLP's profiles, package opentelemetry.proto.profiles.v1development,
 * as in release 1.11 of open-telemetry/opentelemetry-proto. The package is in development: a later
 * release may change it, and then only this file and the messages in the tests
 * (tests/cases/otlp_support.py) change.
 */
#ifndef FORMATS_OTLP_FIELDS_H
#define FORMATS_OTLP_FIELDS_H

#define OTLP_PATH "/v1development/profiles" /* where receivers expect the message, by HTTP */

enum profiles_data_field { DATA_RESOURCE_PROFILES = 1, DATA_DICTIONARY = 2 };
enum resource_profiles_field { RESOURCE_PROFILES_RESOURCE = 1, RESOURCE_PROFILES_SCOPE_PROFILES = 2 };
enum resource_field { RESOURCE_ATTRIBUTE = 1 };
enum scope_profiles_field { SCOPE_PROFILES_SCOPE = 1, SCOPE_PROFILES_PROFILE = 2 };
enum scope_field { SCOPE_NAME = 1, SCOPE_VERSION = 2 };
enum otlp_profile_field {
	OTLP_PROFILE_SAMPLE_TYPE = 1,
	OTLP_PROFILE_SAMPLE = 2,
	OTLP_PROFILE_TIME_UNIX_NS = 3,
	OTLP_PROFILE_DURATION_NS = 4,
	OTLP_PROFILE_PERIOD_TYPE = 5,
	OTLP_PROFILE_PERIOD = 6,
};
enum otlp_value_type_field { OTLP_VALUE_TYPE_TYPE = 1, OTLP_VALUE_TYPE_UNIT = 2 };
enum otlp_sample_field {
	OTLP_SAMPLE_STACK = 1,
	OTLP_SAMPLE_ATTRIBUTES = 2,
	OTLP_SAMPLE_VALUES = 4,
	OTLP_SAMPLE_TIMES_UNIX_NS = 5
};
enum dictionary_field {
	DICTIONARY_MAPPING = 1,
	DICTIONARY_LOCATION = 2,
	DICTIONARY_FUNCTION = 3,
	DICTIONARY_LINK = 4,
	DICTIONARY_STRING = 5,
	DICTIONARY_ATTRIBUTE = 6,
	DICTIONARY_STACK = 7,
};
enum otlp_mapping_field { OTLP_MAPPING_FILE = 4, OTLP_MAPPING_ATTRIBUTES = 5 };
enum otlp_location_field { OTLP_LOCATION_MAPPING = 1, OTLP_LOCATION_LINE = 3 };
enum otlp_line_field { OTLP_LINE_FUNCTION = 1, OTLP_LINE_NUMBER = 2 };
enum otlp_function_field {
	OTLP_FUNCTION_NAME = 1,
	OTLP_FUNCTION_SYSTEM_NAME = 2,
	OTLP_FUNCTION_FILE = 3,
	OTLP_FUNCTION_LINE = 4
};
enum otlp_stack_field { OTLP_STACK_LOCATIONS = 1 };
enum attribute_field { ATTRIBUTE_KEY = 1, ATTRIBUTE_VALUE = 2 }; /* KeyValueAndUnit; the key is a string of the table */
enum key_value_field { KEY_VALUE_KEY = 1, KEY_VALUE_VALUE = 2 }; /* KeyValue; the key is text */
enum any_value_field { ANY_VALUE_TEXT = 1, ANY_VALUE_NUMBER = 3 };

#endif
