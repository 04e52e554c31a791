#include "base/heap_trim.h"

void heap_trim(void)
{
}
