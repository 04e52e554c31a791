/*
 * The Profiler: an object in the first line of a function reports when the function is entered and left. It works
 * with any compiler and needs none of the compiler's hooks.
 *
 *     #include <cpprof/profiler.h>
 *
 *     int work(int amount)
 *     {
 *         CPPROF_FUNCTION;
 *         for (int i = 0; i < amount; i++) {
 *             CPPROF_REGION("row");
 *             ...
 *         }
 *     }
 *
 *     cc program.c $(pkg-config --cflags --libs cpprof)
 *     cpprof record --instrumented ./a.out
 *     cpprof report
 *
 * `cpprof cc -- gcc ...` inserts such objects into all functions of a program. In both cases CPPROF_MEASURE selects
 * at start what the library measures (docs/instrumented.md), and `cpprof control` switches each probe point on and off
 * while the program runs.
 *
 * This header includes only the part for the processor, which is installed beside it, and defines only names that
 * begin with cpprof or CPPROF. It may therefore be the first line of any file. It is for C90 and later with GNU
 * extensions and for C++11 and later, and without objects (CPPROF_ENTER) for plain C99.
 */
#ifndef CPPROF_PROFILER_H
#define CPPROF_PROFILER_H

#ifdef __GNUC__
#pragma GCC system_header
#elif !defined(CPPROF_PORTABLE)
#define CPPROF_PORTABLE 1
#endif

#ifdef CPPROF_PORTABLE
#define CPPROF_UINT16_ unsigned short
#define CPPROF_UINT32_ unsigned
#define CPPROF_UINT64_ unsigned long long
#else
#define CPPROF_UINT16_ __UINT16_TYPE__
#define CPPROF_UINT32_ __UINT32_TYPE__
#define CPPROF_UINT64_ __UINT64_TYPE__
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* --- probe points --- */

enum cpprof_kind {
	CPPROF_KIND_FUNCTION,
	CPPROF_KIND_REGION, /* the author names it */
	CPPROF_KIND_LOOP,
	CPPROF_KIND_CALL,  /* a statement that calls something */
	CPPROF_KIND_BLOCK, /* counted, not timed */
	CPPROF_KIND_WAIT   /* a function that waits for others: reports also show its time as `wait` */
};

/* From coarse to fine. `cpprof control PID level N` switches off probe points with a level above N. */
enum cpprof_level { CPPROF_LEVEL_FUNCTION = 1, CPPROF_LEVEL_LOOP, CPPROF_LEVEL_CALL, CPPROF_LEVEL_BLOCK };

enum cpprof_state {
	CPPROF_STATE_OFF,
	CPPROF_STATE_NEW, /* not reached yet, not registered */
	CPPROF_STATE_ON
};

/* The static descriptor of one probe point. The library copies the texts when the program first reaches the probe
 * point. */
struct cpprof_probe {
	CPPROF_UINT32_ state; /* enum cpprof_state; only the library changes it */
	CPPROF_UINT16_ kind;  /* enum cpprof_kind */
	CPPROF_UINT16_ level; /* enum cpprof_level */
	CPPROF_UINT32_ line;
	CPPROF_UINT32_ number; /* set by the library, as `calls` and `reserved` are; 0: NEW */
	const char *name;      /* "work" */
	const char *signature; /* "int work(int)": distinguishes instances of a template; NULL: as the name */
	const char *file;
	const char *group; /* "io"; NULL: none */
	CPPROF_UINT64_ calls;
	CPPROF_UINT64_ reserved;
};

#ifndef CPPROF_PORTABLE
/* The parts of the library's thread state that this header needs to count an entry or exit that occurred before.
 * Only the library and this header use them. A library with another layout names its variable differently
 * (cpprof_thread_1). */
struct cpprof_node {
	__UINT64_TYPE__ function;
	void *library_s[3];
	__UINT64_TYPE__ ticks; /* spent in this path, where each call is timed */
	__UINT64_TYPE__ number;
	struct cpprof_edge *recent;
};
struct cpprof_edge {
	__UINT64_TYPE__ caller;
	__UINT64_TYPE__ function;
	__UINT64_TYPE__ count;
	struct cpprof_node *child;
	struct cpprof_edge *next;
	__UINT32_TYPE__ flags;
	__UINT32_TYPE__ code;
	struct cpprof_edge *after;
};
struct cpprof_frame { /* a call that has not returned */
	struct cpprof_node *node;
	__UINT64_TYPE__ return_slot;
	__UINT64_TYPE__ caller;
	struct cpprof_edge *guess;
};
struct cpprof_thread {
	const void *measurement;
	struct cpprof_frame *top;
	__UINT64_TYPE__ low; /* the library counts calls whose return slot is below it, not this header */
	struct cpprof_frame *limit;
	__UINT64_TYPE__ charged; /* time stamp up to which time is charged; 0: calls are not timed */
};

#define CPPROF_EDGE_INLINED_ 2 /* in `flags` */
#define CPPROF_SLOT_BITS_ 3    /* in `return_slot` */
#define CPPROF_FRAME_UNKNOWN ((struct cpprof_frame *)1)

/* The state of an entered probe point until it is left. It is on the stack or in registers. */
struct cpprof_entry {
	struct cpprof_probe *probe;
	struct cpprof_frame *frame; /* the caller's; NULL: this call is not counted, and its exit is not reported */
};

/* `caller` is the return address of the function that contains the probe point. `frame_address` is the CFA of that
 * function, where its caller's part of the stack begins: it is the same for all probe points in one call, also for
 * the probe points of functions that are inlined there. cpprof_probe_enter returns the frame to store in struct cpprof_entry, or
 * NULL if it does not count the call. */
__attribute__((__visibility__("default"))) struct cpprof_frame *cpprof_probe_enter(struct cpprof_probe *probe,
										   const void *caller,
										   const void *frame_address);
/* As cpprof_probe_enter, but called by an out-of-line helper. `code` is an address in the function: where the helper
 * returns to. */
__attribute__((__visibility__("default"))) struct cpprof_frame *cpprof_probe_enter_from(struct cpprof_probe *probe,
											const void *caller,
											const void *frame_address,
											const void *code);
__attribute__((__visibility__("default"))) void cpprof_probe_leave(struct cpprof_probe *probe, const void *caller,
								   const void *frame_address);

/* Enters the probe point and leaves it at once. */
__attribute__((__visibility__("default"))) void cpprof_probe_block(struct cpprof_probe *probe, const void *caller,
								   const void *frame_address);

#define CPPROF_HOT __inline__ __attribute__((__always_inline__, __artificial__, __no_instrument_function__, __unused__))
#define CPPROF_ASIDE static __attribute__((__noinline__, __no_instrument_function__, __unused__))

#if defined(__x86_64__) && !defined(__ILP32__)
#include "x86_64.h"
#else
#define cpprof_enter_here(probe, state)  \
	((state) == CPPROF_STATE_OFF ? 0 \
				     : cpprof_probe_enter(probe, __builtin_return_address(0), __builtin_dwarf_cfa()))
#define cpprof_leave_here(probe, entered) cpprof_probe_leave(probe, __builtin_return_address(0), __builtin_dwarf_cfa())
#endif

#define CPPROF_STATE_OF_(probe) __atomic_load_n(&(probe)->state, __ATOMIC_RELAXED)
#define CPPROF_IS_OFF_(probe) (CPPROF_STATE_OF_(probe) == CPPROF_STATE_OFF)

static CPPROF_HOT struct cpprof_entry cpprof_entered(struct cpprof_probe *probe)
{
	struct cpprof_entry entry;
	entry.probe = probe;
	entry.frame = cpprof_enter_here(probe, CPPROF_STATE_OF_(probe));
	return entry;
}

static CPPROF_HOT void cpprof_left(struct cpprof_entry *entry)
{
	if (entry->frame != 0)
		cpprof_leave_here(entry->probe, entry->frame);
}

/* The same out of line: for functions that something may jump back into (setjmp), for functions that are compiled by
 * other rules than the rest of the file, and where code has to be small or compile fast. */
struct cpprof_entry_aside {
	struct cpprof_probe *probe;
	struct cpprof_frame *frame;
	const void *caller, *frame_address;
};

CPPROF_ASIDE struct cpprof_entry_aside cpprof_entered_aside(struct cpprof_probe *probe, const void *caller,
							    const void *frame_address)
{
	struct cpprof_entry_aside entry;
	entry.probe = probe;
	entry.frame = 0;
	entry.caller = caller;
	entry.frame_address = frame_address;
	if (!CPPROF_IS_OFF_(probe))
		entry.frame = cpprof_probe_enter_from(probe, caller, frame_address, __builtin_return_address(0));
	return entry;
}

CPPROF_ASIDE void cpprof_left_aside(struct cpprof_entry_aside *entry)
{
	if (entry->frame != 0)
		cpprof_probe_leave(entry->probe, entry->caller, entry->frame_address);
}

#else
/* --- other compilers --- */

/* The state of an entered probe point until it is left. */
struct cpprof_entry {
	struct cpprof_probe *probe;
	const void *counted; /* NULL: this call is not counted, and its exit is not reported */
};

/* `caller` and `frame_address` as the compiler provides them (CPPROF_CALLER_), or both NULL if it cannot.
 * cpprof_probe_enter returns NULL if it does not count the call. */
const void *cpprof_probe_enter(struct cpprof_probe *probe, const void *caller, const void *frame_address);
void cpprof_probe_leave(struct cpprof_probe *probe, const void *caller, const void *frame_address);

#if defined(__TINYC__) && defined(__x86_64__)
#define CPPROF_CALLER_ __builtin_return_address(0), (const char *)__builtin_frame_address(0) + 16
#else
#define CPPROF_CALLER_ 0, 0
#endif
#endif

#ifdef __cplusplus
}
#endif

#define CPPROF_JOIN_(a, b) a##b
#define CPPROF_JOIN(a, b) CPPROF_JOIN_(a, b)

/* Defines a static probe descriptor. */
#define CPPROF_DESCRIPTOR_(variable, kind_, level_, name_, signature_, group_)                          \
	static struct cpprof_probe variable = { CPPROF_STATE_NEW, kind_,    level_, __LINE__, 0, name_, \
						signature_,       __FILE__, group_, 0,        0 }

#ifndef CPPROF_PORTABLE
#if defined(__cplusplus) && __cplusplus >= 201103L
namespace cpprof
{
class profiler
{
      public:
	__attribute__((__always_inline__)) inline explicit profiler(cpprof_probe *probe) noexcept
	    : entry(cpprof_entered(probe))
	{
	}
	__attribute__((__always_inline__)) inline ~profiler()
	{
		cpprof_left(&entry);
	}
	profiler(const profiler &) = delete;
	profiler &operator=(const profiler &) = delete;

      private:
	cpprof_entry entry;
};
} // namespace cpprof
#define CPPROF_FAST_OBJECT_(variable, probe) ::cpprof::profiler variable(&probe)
#define CPPROF_SIGNATURE_ __PRETTY_FUNCTION__
#else
#define CPPROF_FAST_OBJECT_(variable, probe) \
	struct cpprof_entry variable __attribute__((__cleanup__(cpprof_left), __unused__)) = cpprof_entered(&probe)
#ifdef __cplusplus
#define CPPROF_SIGNATURE_ __PRETTY_FUNCTION__
#else
#define CPPROF_SIGNATURE_ 0
#endif
#endif

#define CPPROF_ASIDE_OBJECT_(variable, probe)                                                            \
	struct cpprof_entry_aside variable __attribute__((__cleanup__(cpprof_left_aside), __unused__)) = \
		cpprof_entered_aside(&probe, __builtin_return_address(0), __builtin_dwarf_cfa())
/* Without optimization, or with optimization for size, inlined code would be most of the program's code. */
#if defined(__OPTIMIZE__) && !defined(__OPTIMIZE_SIZE__)
#define CPPROF_OBJECT_ CPPROF_FAST_OBJECT_
#else
#define CPPROF_OBJECT_ CPPROF_ASIDE_OBJECT_
#endif
/* Probe points at calls and blocks are out of line, because a function has many of them. */
#define CPPROF_OBJECT_CPPROF_KIND_FUNCTION CPPROF_OBJECT_
#define CPPROF_OBJECT_CPPROF_KIND_REGION CPPROF_OBJECT_
#define CPPROF_OBJECT_CPPROF_KIND_LOOP CPPROF_OBJECT_
#define CPPROF_OBJECT_CPPROF_KIND_CALL CPPROF_ASIDE_OBJECT_
#define CPPROF_OBJECT_CPPROF_KIND_BLOCK CPPROF_ASIDE_OBJECT_
#define CPPROF_OBJECT_CPPROF_KIND_WAIT CPPROF_OBJECT_

#define CPPROF_PROBE_(kind, level, name, signature, group, number)                                        \
	CPPROF_DESCRIPTOR_(CPPROF_JOIN(cpprof_descriptor_, number), kind, level, name, signature, group); \
	CPPROF_OBJECT_(CPPROF_JOIN(cpprof_object_, number), CPPROF_JOIN(cpprof_descriptor_, number))

/* CPPROF_FUNCTION is the first line of a function, CPPROF_REGION the first line of a block. */
#define CPPROF_FUNCTION \
	CPPROF_PROBE_(CPPROF_KIND_FUNCTION, CPPROF_LEVEL_FUNCTION, __func__, CPPROF_SIGNATURE_, 0, __COUNTER__)
#define CPPROF_REGION(name) \
	CPPROF_PROBE_(CPPROF_KIND_REGION, CPPROF_LEVEL_LOOP, name, CPPROF_TOOL_WITHIN_, 0, __COUNTER__)

/* The cleanup attribute leaves both probe points where their block ends. A compiler without that attribute ignores
 * the two macros. The macros below work with any compiler, but need a CPPROF_LEAVE at each exit (`cpprof cc` can
 * insert them). Evaluate a returned expression before CPPROF_LEAVE:
 *
 *     int work(int amount)
 *     {
 *         int done;
 *         CPPROF_ENTER;
 *         if (amount == 0) {
 *             CPPROF_LEAVE;
 *             return 0;
 *         }
 *         CPPROF_ENTER_REGION(row, "row");
 *         done = ...
 *         CPPROF_LEAVE_REGION(row);
 *         CPPROF_LEAVE;
 *         return done;
 *     } */
#define CPPROF_ENTERED_(probe) cpprof_entered(&probe)
#define CPPROF_LEFT_(entry) cpprof_left(&entry)
#else
#define CPPROF_SIGNATURE_ 0
#define CPPROF_FUNCTION
#define CPPROF_REGION(name)
#define CPPROF_ENTERED_(probe)                                                                           \
	{                                                                                                \
		&probe, probe.state == CPPROF_STATE_OFF ? 0 : cpprof_probe_enter(&probe, CPPROF_CALLER_) \
	}
#define CPPROF_LEFT_(entry) (entry.counted ? cpprof_probe_leave(entry.probe, CPPROF_CALLER_) : (void)0)
#endif

#define CPPROF_ENTER_(variable, kind, level, name, signature)                                              \
	CPPROF_DESCRIPTOR_(CPPROF_JOIN(cpprof_descriptor_of_, variable), kind, level, name, signature, 0); \
	struct cpprof_entry CPPROF_JOIN(cpprof_entry_of_, variable) =                                      \
		CPPROF_ENTERED_(CPPROF_JOIN(cpprof_descriptor_of_, variable))
#define CPPROF_ENTER CPPROF_ENTER_(function_, CPPROF_KIND_FUNCTION, CPPROF_LEVEL_FUNCTION, __func__, CPPROF_SIGNATURE_)
#define CPPROF_LEAVE CPPROF_LEFT_(cpprof_entry_of_function_)
#define CPPROF_ENTER_REGION(variable, name) \
	CPPROF_ENTER_(variable, CPPROF_KIND_REGION, CPPROF_LEVEL_LOOP, name, CPPROF_TOOL_WITHIN_)
#define CPPROF_LEAVE_REGION(variable) CPPROF_LEFT_(CPPROF_JOIN(cpprof_entry_of_, variable))

/* Annotations in front of a function; only the instrumenter reads them. They set the function's group or its level,
 * exclude it, or name the user's code for its entry and exit:
 *
 *     CPPROF_HOOK(count, file, size)                   void *count_enter(FILE *file, size_t size);
 *     int put(FILE *file, size_t size) { ... }         void count_leave(void *what_enter_returned);
 *
 * A comment has the same effect without this header: cpprof: group(io) level(2) off hook(count, file, size) */
#ifdef CPPROF_TOOL
#define CPPROF_GROUP(name) __attribute((annotate("cpprof: group(" name ")")))
#define CPPROF_LEVEL(number) __attribute((annotate("cpprof: level(" #number ")")))
#define CPPROF_OFF __attribute((annotate("cpprof: off")))
#define CPPROF_HOOK(...) __attribute((annotate("cpprof: hook(" #__VA_ARGS__ ")")))
#else
#define CPPROF_GROUP(name)
#define CPPROF_LEVEL(number)
#define CPPROF_OFF
#define CPPROF_HOOK(...)
#endif

#ifndef CPPROF_PORTABLE
struct cpprof_hook {
	void (*leave)(void *);
	void *kept;
};
static __inline__ __attribute__((__no_instrument_function__, __unused__)) void cpprof_hook_left(
	struct cpprof_hook *hook)
{
	hook->leave(hook->kept);
}
/* In C, compilers only warn of an argument of another type, and cpprof cc does not show warnings of the copy. */
#ifdef __cplusplus
#define CPPROF_STRICT_
#define CPPROF_STRICT_END_
#else
#define CPPROF_STRICT_                                                                      \
	_Pragma("GCC diagnostic push") _Pragma("GCC diagnostic error \"-Wint-conversion\"") \
		_Pragma("GCC diagnostic error \"-Wincompatible-pointer-types\"")
#define CPPROF_STRICT_END_ _Pragma("GCC diagnostic pop")
#endif
#define CPPROF_TOOL_HOOK(number, hook, arguments)                                                                      \
	CPPROF_STRICT_                                                                                                 \
	struct cpprof_hook cpprof_hook_##number                                                                        \
		__attribute__((__cleanup__(cpprof_hook_left), __unused__)) = { hook##_leave, hook##_enter arguments }; \
	CPPROF_STRICT_END_

/* The instrumenter writes it behind the end of a file, once for each address of a function that another function
 * takes: "\"what\",\"where\",\"file\",\"line\"". The section is not loaded with the program (cpprof report --lexical
 * reads it). */
#define CPPROF_TOOL_TAKEN(text) \
	__asm__("\t.pushsection cpprof_taken,\"\",@progbits\n\t.asciz " text "\n\t.popsection\n");
/* The same for each function that another function calls by its name: "\"what\",\"where\"". */
#define CPPROF_TOOL_CALLED(text) \
	__asm__("\t.pushsection cpprof_called,\"\",@progbits\n\t.asciz " text "\n\t.popsection\n");
#else
#define CPPROF_TOOL_TAKEN(text)
#define CPPROF_TOOL_CALLED(text)
#endif

/* `cpprof cc` and `cpprof instrument` insert the CPPROF_TOOL_ macros on the line of a `{`. `number` is unique in its
 * file, so that nested probe points do not hide each other. `line` is the line of the function's name. */
#if defined(__clang__) && !defined(__cplusplus)
/* clang warns of static variables in an inline function with external linkage. Here each file's descriptor is
 * intended. */
#define CPPROF_TOOL_QUIET_(text) \
	_Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wstatic-local-in-inline\"") text
#define CPPROF_TOOL_LOUD_ _Pragma("clang diagnostic pop")
#else
#define CPPROF_TOOL_QUIET_(text) text
#define CPPROF_TOOL_LOUD_
#endif
#define CPPROF_TOOL_DESCRIPTOR_(variable, kind_, level_, line_, name_, signature_, group_)    \
	CPPROF_TOOL_QUIET_(static)                                                            \
	struct cpprof_probe variable = { CPPROF_STATE_NEW, kind_,    level_, line_, 0, name_, \
					 signature_,       __FILE__, group_, 0,     0 } CPPROF_TOOL_LOUD_
#define CPPROF_TOOL_FUNCTION(number, level, line, group)                                                 \
	CPPROF_TOOL_DESCRIPTOR_(cpprof_descriptor_##number, CPPROF_KIND_FUNCTION, level, line, __func__, \
				CPPROF_SIGNATURE_, group);                                               \
	CPPROF_OBJECT_(cpprof_object_##number, cpprof_descriptor_##number);
/* A region, loop or statement within a function: { CPPROF_TOOL_POINT(...) for (...) ... } */
#ifdef __cplusplus
#define CPPROF_TOOL_WITHIN_ __PRETTY_FUNCTION__
#else
#define CPPROF_TOOL_WITHIN_ __func__
#endif
#define CPPROF_TOOL_POINT(number, kind, level, line, name, group)                                                 \
	CPPROF_TOOL_DESCRIPTOR_(cpprof_descriptor_##number, kind, level, line, name, CPPROF_TOOL_WITHIN_, group); \
	CPPROF_OBJECT_##kind(cpprof_object_##number, cpprof_descriptor_##number);
/* A statement at the start of a basic block. The library counts it as a call that returns at once. */
#define CPPROF_TOOL_BLOCK(number, line, name, group)                                                                   \
	do {                                                                                                           \
		CPPROF_TOOL_DESCRIPTOR_(cpprof_descriptor_##number, CPPROF_KIND_BLOCK, CPPROF_LEVEL_BLOCK, line, name, \
					CPPROF_TOOL_WITHIN_, group);                                                   \
		if (!CPPROF_IS_OFF_(&cpprof_descriptor_##number))                                                      \
			cpprof_probe_block(&cpprof_descriptor_##number, __builtin_return_address(0),                   \
					   __builtin_dwarf_cfa());                                                     \
	} while (0);

/* The same with nothing inlined. Functions that call setjmp or the like use it, because compilers would warn of
 * inlined code there. So do functions that are compiled for another processor or by other rules than the rest of the
 * file (attributes target, no_sanitize, ...), because compilers cannot inline into them. */
#define CPPROF_TOOL_ASIDE_FUNCTION(number, level, line, group)                                           \
	CPPROF_TOOL_DESCRIPTOR_(cpprof_descriptor_##number, CPPROF_KIND_FUNCTION, level, line, __func__, \
				CPPROF_SIGNATURE_, group);                                               \
	CPPROF_ASIDE_OBJECT_(cpprof_object_##number, cpprof_descriptor_##number);
#define CPPROF_TOOL_ASIDE_POINT(number, kind, level, line, name, group)                                           \
	CPPROF_TOOL_DESCRIPTOR_(cpprof_descriptor_##number, kind, level, line, name, CPPROF_TOOL_WITHIN_, group); \
	CPPROF_ASIDE_OBJECT_(cpprof_object_##number, cpprof_descriptor_##number);
#define CPPROF_TOOL_ASIDE_BLOCK CPPROF_TOOL_BLOCK

/* The same where the instrumenter inserts the exits (`--explicit`): CPPROF_TOOL_LEAVE(number) is an expression, one
 * at each exit. */
#ifndef CPPROF_PORTABLE
#define CPPROF_TOOL_EXPLICIT_OBJECT_(variable, probe) \
	struct cpprof_entry_aside variable =          \
		cpprof_entered_aside(&probe, __builtin_return_address(0), __builtin_dwarf_cfa());
#define CPPROF_TOOL_LEAVE(number) cpprof_left_aside(&cpprof_object_##number)
#else
#define CPPROF_TOOL_EXPLICIT_OBJECT_(variable, probe) struct cpprof_entry variable = CPPROF_ENTERED_(probe);
#define CPPROF_TOOL_LEAVE(number) CPPROF_LEFT_(cpprof_object_##number)
#endif
#define CPPROF_TOOL_EXPLICIT_FUNCTION(number, level, line, group)                                        \
	CPPROF_TOOL_DESCRIPTOR_(cpprof_descriptor_##number, CPPROF_KIND_FUNCTION, level, line, __func__, \
				CPPROF_SIGNATURE_, group);                                               \
	CPPROF_TOOL_EXPLICIT_OBJECT_(cpprof_object_##number, cpprof_descriptor_##number)
#define CPPROF_TOOL_EXPLICIT_POINT(number, kind, level, line, name, group)                                        \
	CPPROF_TOOL_DESCRIPTOR_(cpprof_descriptor_##number, kind, level, line, name, CPPROF_TOOL_WITHIN_, group); \
	CPPROF_TOOL_EXPLICIT_OBJECT_(cpprof_object_##number, cpprof_descriptor_##number)
#define CPPROF_TOOL_EXPLICIT_BLOCK(number, line, name, group)                                                \
	do {                                                                                                 \
		CPPROF_TOOL_EXPLICIT_POINT(number, CPPROF_KIND_BLOCK, CPPROF_LEVEL_BLOCK, line, name, group) \
		CPPROF_TOOL_LEAVE(number);                                                                   \
	} while (0);
/* "*&" makes an undeclared function an error: a plain call would declare it. */
#ifdef CPPROF_PORTABLE
#define CPPROF_STRICT_
#define CPPROF_STRICT_END_
#endif
#define CPPROF_TOOL_EXPLICIT_HOOK(number, hook, arguments)      \
	CPPROF_STRICT_                                          \
	void *cpprof_kept_##number = (*&hook##_enter)arguments; \
	CPPROF_STRICT_END_
#define CPPROF_TOOL_LEAVE_HOOK(number, hook) ((*&hook##_leave)(cpprof_kept_##number), CPPROF_TOOL_LEAVE(number))

#if defined(__cplusplus) && __cplusplus >= 201103L && !defined(CPPROF_PORTABLE)
/* The same for code that the compiler may also evaluate: constexpr functions, and lambdas since C++17. Such a
 * function may not have static variables or objects with a destructor. Since C++14 it may have a class with a member
 * function that has a static variable, and a plain variable with a cleanup. Evaluations by the compiler are not
 * counted. */
namespace cpprof
{
__attribute__((__always_inline__)) inline cpprof_entry entered_first(cpprof_probe *probe, const char *name,
								     const char *signature) noexcept
{
	if (__builtin_expect(__atomic_load_n(&probe->state, __ATOMIC_RELAXED) == CPPROF_STATE_NEW, 0)) {
		__atomic_store_n(&probe->name, name, __ATOMIC_RELAXED);
		__atomic_store_n(&probe->signature, signature, __ATOMIC_RELAXED);
	}
	return cpprof_entered(probe);
}
} // namespace cpprof

#if __cplusplus >= 201402L
/* Outside the namespace, because gcc accepts only an unqualified identifier as a cleanup. */
__attribute__((__always_inline__)) constexpr inline cpprof_entry cpprof_entered_unless_constant(
	cpprof_probe *(*probe)(), const char *name, const char *signature) noexcept
{
	return __builtin_is_constant_evaluated() ? cpprof_entry() : cpprof::entered_first(probe(), name, signature);
}
__attribute__((__always_inline__)) constexpr inline void cpprof_left_unless_constant(cpprof_entry *entry) noexcept
{
	if (!__builtin_is_constant_evaluated())
		cpprof_left(entry);
}

#define CPPROF_TOOL_CONSTEXPR_DESCRIPTOR_(number, kind_, level_, line_, group_)                                     \
	struct cpprof_probe_##number {                                                                              \
		static struct cpprof_probe *probe() noexcept                                                        \
		{                                                                                                   \
			CPPROF_TOOL_DESCRIPTOR_(cpprof_descriptor_##number, kind_, level_, line_, nullptr, nullptr, \
						group_);                                                            \
			return &cpprof_descriptor_##number;                                                         \
		}                                                                                                   \
	};
#define CPPROF_TOOL_CONSTEXPR_POINT(number, kind, level, line, name, group)             \
	CPPROF_TOOL_CONSTEXPR_DESCRIPTOR_(number, kind, level, line, group)             \
	struct cpprof_entry cpprof_object_##number                                      \
		__attribute__((__cleanup__(cpprof_left_unless_constant), __unused__)) = \
			cpprof_entered_unless_constant(cpprof_probe_##number::probe, name, __PRETTY_FUNCTION__);
#define CPPROF_TOOL_CONSTEXPR_FUNCTION(number, level, line, group) \
	CPPROF_TOOL_CONSTEXPR_POINT(number, CPPROF_KIND_FUNCTION, level, line, __func__, group)
constexpr inline void cpprof_hook_left_unless_constant(cpprof_hook *hook) noexcept
{
	if (!__builtin_is_constant_evaluated())
		cpprof_hook_left(hook);
}
#define CPPROF_TOOL_CONSTEXPR_HOOK(number, hook, arguments)                                  \
	struct cpprof_hook cpprof_hook_##number                                              \
		__attribute__((__cleanup__(cpprof_hook_left_unless_constant), __unused__)) = \
			__builtin_is_constant_evaluated() ? cpprof_hook()                    \
							  : cpprof_hook{ hook##_leave, hook##_enter arguments };
#define CPPROF_TOOL_CONSTEXPR_BLOCK(number, line, name, group)                                                \
	do {                                                                                                  \
		CPPROF_TOOL_CONSTEXPR_POINT(number, CPPROF_KIND_BLOCK, CPPROF_LEVEL_BLOCK, line, name, group) \
	} while (0);
#endif

/* Follows the object of a member function whose class has cpprof_enter and cpprof_leave, and calls these as well. */
namespace cpprof
{
template <class Last> class ending
{
      public:
	explicit ending(const Last &what) noexcept : last(what)
	{
	}
	~ending()
	{
		last();
	}
	ending(const ending &) = delete;
	ending &operator=(const ending &) = delete;

      private:
	Last last;
};
} // namespace cpprof
#define CPPROF_TOOL_MEMBER(number)                                                                          \
	this->cpprof_enter(&cpprof_descriptor_##number);                                                    \
	auto cpprof_last_##number = [this]() noexcept { this->cpprof_leave(&cpprof_descriptor_##number); }; \
	::cpprof::ending<decltype(cpprof_last_##number)> cpprof_ending_##number(cpprof_last_##number);
#endif

#endif
