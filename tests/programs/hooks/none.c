/* Hooks that do nothing, for programs that are counted by others: the C library's own start a timer whose signals may come when
 * its handler is gone. Each is a function of its own, so that its calls can be told apart. */
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
