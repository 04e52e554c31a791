/* Prints the identities of a profile's locations and nodes, in the order of their ids, for comparison with the
 * decoder in tests/decoder/. Usage: print_identities FILE */
#include <inttypes.h>
#include <stdio.h>

#include "profile/identity.h"
#include "profile_file/reader.h"

int main(int argc, char **argv)
{
	struct error error = { .message = "out of memory" };
	struct profile_identities identities = { 0 };
	if (argc != 2)
		return fprintf(stderr, "usage: print_identities FILE\n"), 2;
	struct profile *profile = reader_load(argv[1], 0, &error);
	int code = profile ? profile_identities_init(&identities, profile) : -1;
	for (size_t i = 0; code == 0 && i < profile->location_count; i++)
		printf("location %016" PRIx64 "\n", identities.locations[i]);
	for (size_t i = 0; code == 0 && i < profile->node_count; i++)
		printf("node %016" PRIx64 "\n", identities.nodes[i]);
	if (code < 0)
		fprintf(stderr, "print_identities: %s\n", error.message);
	profile_identities_release(&identities);
	profile_free(profile);
	return code < 0;
}
