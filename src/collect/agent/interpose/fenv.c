/*
 * <fenv.h>: each call works on the control words as the program has set them; afterwards the words are hidden again
 * (fp.h). The C library's functions do the work, so the results are theirs.
 */
#include <dlfcn.h>
#include <fenv.h>

#include "collect/agent/core/real.h"
#include "collect/agent/fp/fp.h"

/* Finds a function in a libm that only a plug-in of the program has loaded. */
static void *in_libm(const char *name)
{
	void *libm = REAL(dlopen)("libm.so.6", RTLD_LAZY | RTLD_NOLOAD);
	void *function = libm ? REAL(dlsym)(libm, name) : NULL;
	if (libm)
		REAL(dlclose)(libm);
	return function;
}

#define REAL_FENV(name)                                                              \
	({                                                                           \
		__typeof__(&name) found_function = REAL(name);                       \
		found_function ? found_function : (__typeof__(&name))in_libm(#name); \
	})

/* Defines one of these functions: its name, whether it sets masks, its parameters and arguments. */
#define FENV_CALL(name, sets_masks, parameters, arguments) \
	INTERPOSED int name parameters                     \
	{                                                  \
		__typeof__(&name) real = REAL_FENV(name);  \
		struct fp_thread *fp = fp_show_here();     \
		int result = real arguments;               \
		fp_hide_here(fp, sets_masks);              \
		return result;                             \
	}

FENV_CALL(fegetenv, false, (fenv_t * environment), (environment))
FENV_CALL(fesetenv, true, (const fenv_t *environment), (environment))
FENV_CALL(feholdexcept, true, (fenv_t * environment), (environment))
FENV_CALL(fegetmode, false, (femode_t * modes), (modes))
FENV_CALL(fesetmode, true, (const femode_t *modes), (modes))
FENV_CALL(feenableexcept, true, (int kinds), (kinds))
FENV_CALL(fedisableexcept, true, (int kinds), (kinds))
FENV_CALL(fegetexcept, false, (void), ())
FENV_CALL(fesetround, false, (int mode), (mode))
FENV_CALL(fegetexceptflag, false, (fexcept_t * flags, int kinds), (flags, kinds))
FENV_CALL(fesetexceptflag, false, (const fexcept_t *flags, int kinds), (flags, kinds))
FENV_CALL(fesetexcept, false, (int kinds), (kinds))
FENV_CALL(feclearexcept, false, (int kinds), (kinds))
FENV_CALL(fetestexcept, false, (int kinds), (kinds))

/* A function that raises exceptions: they are events like others, one of each kind. */
INTERPOSED int feraiseexcept(int kinds)
{
	__typeof__(&feraiseexcept) real = REAL_FENV(feraiseexcept);
	struct fp_thread *fp = fp_show_here();
	int result = real(kinds);
	fp_hide_here(fp, false);
	if (fp)
		fp_count_here((uint32_t)kinds & FP_KINDS, (uint64_t)(uintptr_t)real);
	return result;
}

INTERPOSED int feupdateenv(const fenv_t *environment)
{
	__typeof__(&feupdateenv) real = REAL_FENV(feupdateenv);
	struct fp_thread *fp = fp_show_here();
	int result = real(environment);
	fp_hide_here(fp, true);
	return result;
}
