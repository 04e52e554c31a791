/* Functions and positions as compilers identify them in the source. */
#ifndef ANALYZE_SOURCE_NAMES_H
#define ANALYZE_SOURCE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the length of a linkage name without the suffixes that compilers append to clones of a function
 * ("parse.llvm.123", "parse.constprop.0"). The suffix of -funique-internal-linkage-names belongs to the name. */
size_t source_name_length(const char *linkage);

/* Returns whether files of counts, whose fields end at blanks, ':' and '@', can contain the name. */
bool source_name_is_usable(const char *linkage);

/* Returns the part of a discriminator of clang that distinguishes blocks; the other parts distinguish copies of one
 * block. Encoding: getBaseDiscriminatorFromDiscriminator in LLVM's DebugInfoMetadata.h. */
uint32_t source_base_discriminator(uint32_t discriminator);

#endif
