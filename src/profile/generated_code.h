/* Code that a run-time compiler generated: the locations of modules of MODULE_ANON. */
#ifndef PROFILE_GENERATED_CODE_H
#define PROFILE_GENERATED_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"

/* The function of generated code that no runtime lists. */
#define GENERATED_CODE_NAMELESS "[anon]"

/* Returns whether a location is in generated code that has no name, or none so far. */
bool generated_code_is_nameless(const struct profile *profile, uint32_t location);

#endif
