/* Empty hooks, for programs whose calls valgrind counts: the C library's own hooks start a timer whose signals may
 * arrive when their handler is gone. Each hook is a separate function, so that its calls can be distinguished. */
#define HOOK(name, number)                                                                                           \
	__asm__(".globl " name "\n.type " name ", @function\n" name ":\n\tnopl " number "(%rax)\n\tret\n.size " name \
		", . - " name "\n")

HOOK("mcount", "1");
HOOK("_mcount", "2");
HOOK("__fentry__", "3");
HOOK("__cyg_profile_func_enter", "4");
HOOK("__cyg_profile_func_exit", "5");
HOOK("__monstartup", "6");
HOOK("_mcleanup", "7");
