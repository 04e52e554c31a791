/*
 * Hooks that do nothing, for LD_PRELOAD: they measure the cost of calling a hook. With
 * -DTIME_STAMPS the hooks of -finstrument-functions read the time stamp counter when all
 * instructions before are executed, as each hook must that times calls. With -DCOUNT_BLOCKS the hooks of basic blocks count, and print the
 * number of blocks at exit.
 */
#include <stdint.h>
#include <stdio.h>

__asm__(".globl mcount, __fentry__\n"
	".type mcount, @function\n"
	".type __fentry__, @function\n"
	"mcount:\n__fentry__:\n\tret\n");

void __cyg_profile_func_enter(void *function, void *call_site);
void __cyg_profile_func_exit(void *function, void *call_site);
void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc_guard(uint32_t *guard);
void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *end);
void __sanitizer_cov_pcs_init(const uintptr_t *start, const uintptr_t *end);

#ifdef TIME_STAMPS
static _Thread_local uint64_t total __attribute__((tls_model("initial-exec")));
#define STAMP() (__builtin_ia32_lfence(), total += __builtin_ia32_rdtsc())
#else
#define STAMP() ((void)0)
#endif

#ifdef COUNT_BLOCKS
static uint64_t blocks;
#define COUNT() (blocks++)

__attribute__((destructor)) static void print_blocks(void)
{
	fprintf(stderr, "blocks %lu\n", blocks);
}
#else
#define COUNT() ((void)0)
#endif

void __cyg_profile_func_enter(void *function, void *call_site)
{
	(void)function;
	(void)call_site;
	STAMP();
}

void __cyg_profile_func_exit(void *function, void *call_site)
{
	(void)function;
	(void)call_site;
	STAMP();
}

void __sanitizer_cov_trace_pc(void)
{
	COUNT();
}

void __sanitizer_cov_trace_pc_guard(uint32_t *guard)
{
	(void)guard;
	COUNT();
}

void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *end)
{
	(void)start;
	(void)end;
}

void __sanitizer_cov_pcs_init(const uintptr_t *start, const uintptr_t *end)
{
	(void)start;
	(void)end;
}
