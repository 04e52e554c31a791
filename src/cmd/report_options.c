#include "cmd/report_options.h"

#include <stdio.h>

static const char *option_value_name(const struct report *report)
{
	if (report->argument == REPORT_TAKES_KEY)
		return "[KEY]";
	if (report->argument == REPORT_TAKES_PATH)
		return "PATH";
	return report->argument == REPORT_TAKES_FUNCTION && !report->refines ? "FN" : NULL;
}

const struct command_option *report_options_fill(struct command_option *rows, bool (*offers)(const struct report *),
						 const char *first_help, const struct command_option *own)
{
	size_t count = 0;
	for (size_t i = 0; reports[i]; i++) {
		const struct report *report = reports[i];
		if (!report->help || !offers(report))
			continue;
		rows[count] = (struct command_option){
			.id = OPTION_REPORT + (int)i,
			.letter = report->letter,
			.name = report->name,
			.value = option_value_name(report),
			.help = count == 0 ? first_help : report->help,
		};
		count++;
	}
	for (size_t i = 0; own[i].name; i++)
		rows[count++] = own[i];
	rows[count] = (struct command_option){ 0 };
	return rows;
}

const char *report_options_heading(const struct command_option *options, const struct command_option *option)
{
	bool is_report = report_of_option(option->id);
	bool is_first = option == options || is_report != (report_of_option(option[-1].id) != NULL);
	return is_first ? (is_report ? "reports" : "options") : NULL;
}

const struct report *report_of_option(int id)
{
	return id >= OPTION_REPORT ? reports[id - OPTION_REPORT] : NULL;
}
