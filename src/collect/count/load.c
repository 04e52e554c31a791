/* Makes a profile with names from a tally. */
#include "collect/count/parts.h"
#include "frames/frames.h"
#include "frames/missing_names.h"

static int fill(struct profile *profile, struct tally *tally, const struct frames_options *names, struct error *error)
{
	static const struct frames_options plain = { 0 };
	int result = tally_locations(tally, profile, error);
	if (result == 0)
		result = frames_name_profile(profile, names ? names : &plain, error);
	if (result == 0)
		result = tally_hits(tally, profile, error);
	if (result == 0 && tally_note_taken_addresses(tally, profile, names ? names : &plain) < 0)
		result = error_memory(error);
	/* For functions without names, the paths determine which of them start programs and threads. */
	if (result == 0 && frames_assign_roles(profile) < 0)
		result = error_memory(error);
	if (result == 0 && missing_names_add_all(profile) < 0)
		result = error_memory(error);
	return result;
}

struct profile *tally_load(const char *path, const struct frames_options *names, struct error *error)
{
	struct tally *tally = tally_open(path, error);
	if (!tally)
		return NULL;
	struct profile *profile = profile_new();
	int result = profile ? fill(profile, tally, names, error) : error_memory(error);
	tally_free(tally);
	if (result == 0)
		return profile;
	profile_free(profile);
	return NULL;
}
