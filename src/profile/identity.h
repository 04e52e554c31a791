/*
 * Identities are 64-bit hashes of locations and call paths that are equal in all files and on all machines. They do
 * not depend on ids, on the order in which locations were added, on load addresses or, for a module with a build-id,
 * on the path of the module. docs/format.md defines them byte by byte.
 *
 *   location   hash of (build-id or path, address), or of (functions, lines) where the address
 *              does not identify the location
 *   node       hash of (identity of its parent, identity of its location)
 *
 * Two different things have the same identity with a probability of 2^-64.
 */
#ifndef PROFILE_IDENTITY_H
#define PROFILE_IDENTITY_H

#include <stdint.h>

#include "profile/profile.h"

/* The identity of node 0, the root of all paths. */
#define PROFILE_ROOT_IDENTITY UINT64_C(0)

uint64_t profile_location_identity(const struct profile *profile, uint32_t id);

uint64_t profile_node_identity(uint64_t parent_identity, uint64_t location_identity);

/* The identities of all locations and nodes that existed at profile_identities_init. Life cycle:
 * profile_identities_init, profile_identities_release. */
struct profile_identities {
	uint64_t *locations; /* [location_count]; owned */
	uint64_t *nodes;     /* [node_count]; owned */
};

/* Returns 0 or ERROR_MEMORY. */
int profile_identities_init(struct profile_identities *identities, const struct profile *profile);
void profile_identities_release(struct profile_identities *identities);

#endif
