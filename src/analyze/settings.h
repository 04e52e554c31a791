/*
 * The settings of a view that a user can change. One table has a row for each: its names, its values, and how it is read and shown.
 * The command line, `explore`, the page and `browse` use the table, so that a text means the same everywhere.
 */
#ifndef ANALYZE_SETTINGS_H
#define ANALYZE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/transform.h"
#include "analyze/view.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/words.h"
#include "profile/profile.h"

/* Life cycle: settings_init, settings_release. */
struct settings {
	/* Its arrays and transforms are the next three; its resource is the first of `resources`. */
	struct view_options view;
	bool *processes;               /* owned; NULL: all */
	bool *label_sets;              /* owned; NULL: all */
	struct transforms *transforms; /* owned; NULL: none */
	char *label_texts;             /* the user's texts for label_sets; owned; NULL: all */
	uint32_t *resources;           /* [resource_count]: those to report on, in the order of the texts; owned */
	size_t resource_count;
	double threshold; /* entries with a smaller usage fraction are left out */
	size_t limit;     /* at most so many entries are shown; 0: all */
	double spread;    /* of a comparison: struct diff_run */
	bool is_long;     /* on a terminal: names in full, and rows of any length */
};

struct setting_use; /* settings.c */

/* Sets of settings: those that a report refuses, and those that a format accepts. */
enum setting_bit {
	SETTING_RESOURCE = 1 << 0,
	SETTING_THRESHOLD = 1 << 1,
	SETTING_LIMIT = 1 << 2,
	SETTING_BY = 1 << 3,
	SETTING_THREAD = 1 << 4,
	SETTING_PROCESS = 1 << 5,
	SETTING_CGROUP = 1 << 6,
	SETTING_LABEL = 1 << 7,
	SETTING_TIME = 1 << 8,   /* both ends */
	SETTING_FRAMES = 1 << 9, /* each of those that change which frames are shown */
	SETTING_ZEROS = 1 << 10,
	SETTING_TRANSFORM = 1 << 11,
	SETTING_END = 1 << 12, /* the first bit for options of a command's own */
	SETTING_HITS = SETTING_THREAD | SETTING_PROCESS | SETTING_CGROUP | SETTING_LABEL | SETTING_TIME,
};

enum {
	SETTING_REPEATS = 1 << 0, /* it takes several values */
	SETTING_SPLITS = 1 << 1,  /* in `explore`, each word of the arguments is a value */
	SETTING_DRAWS = 1 << 2,   /* it changes what a terminal shows, and no figure: the page has none of these */
	SETTING_INVERTS = 1 << 3, /* on for the command is off for the option: inlines, no-inlines */
};

struct setting {
	const char *
		option; /* its option on a command line; with '_' for '-', its key in a request of the page; NULL: none */
	const char *command;   /* its command in `explore`; NULL: none */
	unsigned bit;          /* enum setting_bit; 0: none */
	const char *shown_as;  /* the name that `explore` prints in front of its value; NULL: the command's name */
	const char *arguments; /* "[on|off]", as the help of `explore` shows them */
	const char *summary;   /* one line, no full stop */
	const char *detail;    /* text that follows in its help: lines that end in '\n'; or NULL */
	word_at *words;        /* its values; NULL: any */
	/* Returns name number `index` of the profile's rows of which it chooses some, or NULL past the last. NULL: it
	 * chooses no rows. */
	const char *(*row_name)(const struct profile *profile, size_t index);
	unsigned flags;
	size_t member;            /* of a switch, or of a choice of words: its offset in struct settings */
	const char *kind_of_word; /* of a choice of words, for errors */
	int (*read)(const struct setting_use *use);
	void (*show)(const struct setting_use *use); /* appends its value; NULL: `explore` prints a list */
};

/* The table, in the order of the help of `explore`; rows without a command come last, and an empty row. The first row stands for the
 * resources. */
extern const struct setting settings_table[];

const struct setting *setting_of_option(
	const char *option); /* Returns NULL if there is none; "no_inlines" is "no-inlines". */
const struct setting *setting_of_command(const char *command); /* Returns NULL if there is none. */

/* One use of a setting's option. */
struct setting_text {
	const struct setting *setting;
	const char *text;
};

/* Sets what holds if a user sets nothing. No resource is chosen. */
void settings_init(struct settings *settings);
void settings_release(struct settings *settings);

/* Chooses the resources that `resources` [count] lists. Returns 0 or ERROR_MEMORY. */
int settings_choose(struct settings *settings, const uint32_t *resources, size_t count, struct error *error);

/* Reads all options of a command line or request. Processes that several settings choose must be chosen by each. Returns 0;
 * ERROR_USAGE, with a message that repeats the text; the errors of analyze/lookup.h; or ERROR_MEMORY. */
int settings_read(struct settings *settings, const struct profile *profile, const struct setting_text *texts,
		  size_t count, struct error *error);

/* Reads the values of one setting, as a command in `explore`; without values, resets it: to its default, or to all rows. Returns 0 or an
 * error as above, after which the setting is as before. */
int setting_read(const struct setting *setting, struct settings *settings, const struct profile *profile,
		 const char *const *values, size_t count, struct error *error);

/* Appends the value of a setting that has `show`. */
void setting_show(const struct setting *setting, struct settings *settings, const struct profile *profile,
		  struct buffer *text);

/* Reads the ends of a time range: "1.5", "1.5s" or "200ms" since the start of the recording. Either may be NULL or "": open. Refuses
 * an empty range. Sets from_ns and to_ns (0: no end). Returns 0 or ERROR_USAGE. */
int settings_read_time(const char *from, const char *to, struct view_options *view, struct error *error);

/* Reads "0.5" or "50%". Returns 0 or ERROR_USAGE. */
int settings_read_fraction(const char *text, double *fraction);

/* Reads "on" or "off" (also yes, no, 1, 0). Returns 0 or ERROR_USAGE. */
int settings_read_switch(const char *text, bool *on, struct error *error);

/* The words of settings. */
const char *view_by_word(size_t by);         /* by enum view_by, without VIEW_FRAME */
const char *view_kernel_word(size_t kernel); /* by enum view_kernel */

#endif
