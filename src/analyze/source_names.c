#include "analyze/source_names.h"

#include <string.h>

size_t source_name_length(const char *linkage)
{
	static const char *const suffixes[] = { ".llvm.", ".part.", ".constprop.", ".isra.", ".cold", ".lto_priv." };
	size_t length = strlen(linkage);
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		const char *at = strstr(linkage, suffixes[i]);
		if (at && at != linkage && (size_t)(at - linkage) < length)
			length = (size_t)(at - linkage);
	}
	return length;
}

bool source_name_is_usable(const char *linkage)
{
	return linkage[0] && !strpbrk(linkage, " \t\r\n:@[]#");
}

uint32_t source_base_discriminator(uint32_t discriminator)
{
	if (discriminator & 1)
		return 0;
	discriminator >>= 1;
	/* The numbers up to 31 take 5 bits. A bit behind them announces 7 more. */
	return discriminator & 0x20 ? ((discriminator >> 1) & 0xfe0) | (discriminator & 0x1f) : discriminator & 0x1f;
}
