#include "arch/stack_effect.h"

struct stack_effect arch_stack_effect(const uint8_t *code, size_t size)
{
	(void)code;
	(void)size;
	return (struct stack_effect){ .kind = STACK_LOSES_SP };
}
