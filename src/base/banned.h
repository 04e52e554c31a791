/* The build includes this header first in every file: calls that have a safer sibling do not compile. */
#ifndef BASE_BANNED_H
#define BASE_BANNED_H

#ifndef __ASSEMBLER__
#include <stdio.h>
#include <string.h>

#undef sprintf /* a macro with checked buffers and clang */
#pragma GCC poison sprintf vsprintf strcpy strcat strncpy strncat gets strtok
#endif

#endif
