/* Makes code, calls it, and discards it, repeatedly at the same address. There are no unwind rows for the code
 * while it runs. */
#include <sys/mman.h>

#include "moment.h"

enum { PAGE = 4096, TURNS = 20000 };

/* mov edx, TURNS; mov eax, N; loop: inc eax; dec edx; jnz loop; ret: without a frame, or with one of an unusual
 * form. */
static size_t make_code(unsigned char *code, int32_t number, bool with_frame)
{
	static const unsigned char push[] = { 0x53, 0x48, 0x83, 0xec, 0x20 };       /* push rbx; sub rsp, 32 */
	static const unsigned char loop[] = { 0xff, 0xc0, 0xff, 0xca, 0x75, 0xfa }; /* inc eax; dec edx; jnz */
	static const unsigned char pop[] = { 0x48, 0x83, 0xc4, 0x20, 0x5b };        /* add rsp, 32; pop rbx */
	unsigned char *at = code;
	int32_t turns = TURNS;

	if (with_frame)
		at = (unsigned char *)memcpy(at, push, sizeof(push)) + sizeof(push);
	*at++ = 0xba;
	at = (unsigned char *)memcpy(at, &turns, 4) + 4;
	*at++ = 0xb8;
	at = (unsigned char *)memcpy(at, &number, 4) + 4;
	at = (unsigned char *)memcpy(at, loop, sizeof(loop)) + sizeof(loop);
	if (with_frame)
		at = (unsigned char *)memcpy(at, pop, sizeof(pop)) + sizeof(pop);
	*at++ = 0xc3;
	return (size_t)(at - code);
}

int main(void)
{
	for (int32_t turn = 0; moment_goes_on(20); turn++) {
		unsigned char *code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		CHECK(code != MAP_FAILED);
		make_code(code, turn, turn % 2);
		CHECK(mprotect(code, PAGE, PROT_READ | PROT_EXEC) == 0);
		int (*made)(void) = (int (*)(void))code;
		for (int i = 0; i < 10; i++)
			CHECK(made() == turn + TURNS);
		CHECK(munmap(code, PAGE) == 0);
	}
	return moment_ends("each function returned\n");
}
