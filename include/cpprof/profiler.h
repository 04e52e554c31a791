/*
 * The Profiler: an object in the first line of a function tells when that is entered and
 * left, whatever the compiler and without any of its hooks.
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
 * `cpprof cc -- gcc ...` puts such objects into all functions of a program by itself. By
 * hand or by the tool, what is measured is chosen at start (CPPROF_MEASURE, docs/source.md),
 * and each probe point may be switched on and off while the program runs (`cpprof control`).
 *
 * This header includes nothing but the part for the processor, which lies beside it, and
 * defines no name that does not begin with cpprof or CPPROF: it may stand before anything
 * else in any file, in C90 and later with GNU extensions, or C++11 and later; or, without
 * objects (CPPROF_ENTER), in plain C99.
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
	CPPROF_KIND_REGION, /* named by who wrote it */
	CPPROF_KIND_LOOP,
	CPPROF_KIND_CALL,  /* a statement that calls something */
	CPPROF_KIND_BLOCK, /* counted, not timed */
	CPPROF_KIND_WAIT   /* a function that waits for others: time in it is shown as `wait`, too */
};

/* From coarse to fine; `cpprof control PID level N` leaves on what has a level up to N. */
enum cpprof_level { CPPROF_LEVEL_FUNCTION = 1, CPPROF_LEVEL_LOOP, CPPROF_LEVEL_CALL, CPPROF_LEVEL_BLOCK };

enum cpprof_state {
	CPPROF_STATE_OFF,
	CPPROF_STATE_NEW, /* not reached yet: the library does not know it */
	CPPROF_STATE_ON
};

/* One for each probe point, static. Texts are copied when the probe point is reached first. */
struct cpprof_site {
	CPPROF_UINT32_ state; /* enum cpprof_state; the library's, from the first time on */
	CPPROF_UINT16_ kind;  /* enum cpprof_kind */
	CPPROF_UINT16_ level; /* enum cpprof_level */
	CPPROF_UINT32_ line;
	CPPROF_UINT32_ number; /* the library's, and so are the last ones; 0: NEW */
	const char *name;      /* "work" */
	const char *signature; /* "int work(int)": tells instances of templates apart; NULL: as the name */
	const char *file;
	const char *group; /* "io"; NULL: none */
	CPPROF_UINT64_ calls;
	CPPROF_UINT64_ reserved;
};

#ifndef CPPROF_PORTABLE
/* What the library keeps of each thread, as far as entering and leaving a probe point need it that have come before. All of it is the
 * library's; who is on another layout has a variable of another name. */
struct cpprof_node {
	__UINT64_TYPE__ function;
	void *library_s[3];
	__UINT64_TYPE__ ticks; /* spent here, where each call is timed */
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
	__UINT64_TYPE__ low; /* what is below is not for this header to do */
	struct cpprof_frame *limit;
	__UINT64_TYPE__ charged; /* when time was charged last; 0: calls are not timed */
};

#define CPPROF_EDGE_INLINED_ 2 /* in `flags` */
#define CPPROF_SLOT_BITS_ 3    /* in `return_slot` */
#define CPPROF_FRAME_UNKNOWN ((struct cpprof_frame *)1)

/* What is remembered of a probe point that was entered until it is left; on the stack, or in registers. */
struct cpprof_entry {
	struct cpprof_site *site;
	struct cpprof_frame
		*frame; /* its caller's; NULL: nothing is counted here now, and nobody is to be told of the end */
};

/* `caller` is where the function that the probe point is in returns to, `frame_address` where its caller's part of the stack begins
 * (its CFA): the same for all probe points in one call, also of functions that are inlined there. */
__attribute__((__visibility__("default"))) struct cpprof_frame *cpprof_site_enter(struct cpprof_site *site,
										  const void *caller,
										  const void *frame_address);
/* The same by another: `code` is an address in the function, where it goes on. */
__attribute__((__visibility__("default"))) struct cpprof_frame *cpprof_site_enter_from(struct cpprof_site *site,
										       const void *caller,
										       const void *frame_address,
										       const void *code);
__attribute__((__visibility__("default"))) void cpprof_site_leave(struct cpprof_site *site, const void *caller,
								  const void *frame_address);

/* Entered, and left at once. */
__attribute__((__visibility__("default"))) void cpprof_site_block(struct cpprof_site *site, const void *caller,
								  const void *frame_address);

#define CPPROF_HOT __inline__ __attribute__((__always_inline__, __artificial__, __no_instrument_function__, __unused__))
#define CPPROF_ASIDE static __attribute__((__noinline__, __no_instrument_function__, __unused__))

#if defined(__x86_64__) && !defined(__ILP32__)
#include "x86_64.h"
#else
#define cpprof_enter_here(site) cpprof_site_enter(site, __builtin_return_address(0), __builtin_dwarf_cfa())
#define cpprof_leave_here(site, entered) cpprof_site_leave(site, __builtin_return_address(0), __builtin_dwarf_cfa())
#endif

#define CPPROF_IS_OFF_(site) (__atomic_load_n(&(site)->state, __ATOMIC_RELAXED) == CPPROF_STATE_OFF)

static CPPROF_HOT struct cpprof_entry cpprof_entered(struct cpprof_site *site)
{
	struct cpprof_entry entry;
	entry.site = site;
	entry.frame = __builtin_expect(!CPPROF_IS_OFF_(site), 1) ? cpprof_enter_here(site) : 0;
	return entry;
}

static CPPROF_HOT void cpprof_left(struct cpprof_entry *entry)
{
	if (entry->frame != 0)
		cpprof_leave_here(entry->site, entry->frame);
}

/* The same out of line: for functions that something may jump back into, or that are compiled by other rules; and where small
 * code is wanted, or compiled fast. */
struct cpprof_entry_aside {
	struct cpprof_site *site;
	struct cpprof_frame *frame;
	const void *caller, *frame_address;
};

CPPROF_ASIDE struct cpprof_entry_aside cpprof_entered_aside(struct cpprof_site *site, const void *caller,
							    const void *frame_address)
{
	struct cpprof_entry_aside entry;
	entry.site = site;
	entry.frame = 0;
	entry.caller = caller;
	entry.frame_address = frame_address;
	if (!CPPROF_IS_OFF_(site))
		entry.frame = cpprof_site_enter_from(site, caller, frame_address, __builtin_return_address(0));
	return entry;
}

CPPROF_ASIDE void cpprof_left_aside(struct cpprof_entry_aside *entry)
{
	if (entry->frame != 0)
		cpprof_site_leave(entry->site, entry->caller, entry->frame_address);
}

#else
/* --- other compilers --- */

/* What is remembered of a probe point that was entered until it is left. */
struct cpprof_entry {
	struct cpprof_site *site;
	const void *counted; /* NULL: nothing is counted here now, and nobody is to be told of the end */
};

/* `caller` and `frame_address` as the compiler knows them (see below); both NULL: it does not. */
const void *cpprof_site_enter(struct cpprof_site *site, const void *caller, const void *frame_address);
void cpprof_site_leave(struct cpprof_site *site, const void *caller, const void *frame_address);

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

/* A static descriptor. */
#define CPPROF_DESCRIPTOR_(variable, kind_, level_, name_, signature_, group_)                         \
	static struct cpprof_site variable = { CPPROF_STATE_NEW, kind_,    level_, __LINE__, 0, name_, \
					       signature_,       __FILE__, group_, 0,        0 }

#ifndef CPPROF_PORTABLE
#if defined(__cplusplus) && __cplusplus >= 201103L
namespace cpprof
{
class profiler
{
      public:
	__attribute__((__always_inline__)) inline explicit profiler(cpprof_site *site) noexcept
	    : entry(cpprof_entered(site))
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
#define CPPROF_FAST_OBJECT_(variable, site) ::cpprof::profiler variable(&site)
#define CPPROF_SIGNATURE_ __PRETTY_FUNCTION__
#else
#define CPPROF_FAST_OBJECT_(variable, site) \
	struct cpprof_entry variable __attribute__((__cleanup__(cpprof_left), __unused__)) = cpprof_entered(&site)
#ifdef __cplusplus
#define CPPROF_SIGNATURE_ __PRETTY_FUNCTION__
#else
#define CPPROF_SIGNATURE_ 0
#endif
#endif

#define CPPROF_ASIDE_OBJECT_(variable, site)                                                             \
	struct cpprof_entry_aside variable __attribute__((__cleanup__(cpprof_left_aside), __unused__)) = \
		cpprof_entered_aside(&site, __builtin_return_address(0), __builtin_dwarf_cfa())
/* Where nothing is optimized, or for size, what is inlined would be most of the code. */
#if defined(__OPTIMIZE__) && !defined(__OPTIMIZE_SIZE__)
#define CPPROF_OBJECT_ CPPROF_FAST_OBJECT_
#else
#define CPPROF_OBJECT_ CPPROF_ASIDE_OBJECT_
#endif
/* Statements that call something are many. */
#define CPPROF_OBJECT_CPPROF_KIND_FUNCTION CPPROF_OBJECT_
#define CPPROF_OBJECT_CPPROF_KIND_REGION CPPROF_OBJECT_
#define CPPROF_OBJECT_CPPROF_KIND_LOOP CPPROF_OBJECT_
#define CPPROF_OBJECT_CPPROF_KIND_CALL CPPROF_ASIDE_OBJECT_
#define CPPROF_OBJECT_CPPROF_KIND_BLOCK CPPROF_ASIDE_OBJECT_
#define CPPROF_OBJECT_CPPROF_KIND_WAIT CPPROF_OBJECT_

#define CPPROF_PROBE_(kind, level, name, signature, group, number)                                  \
	CPPROF_DESCRIPTOR_(CPPROF_JOIN(cpprof_site_, number), kind, level, name, signature, group); \
	CPPROF_OBJECT_(CPPROF_JOIN(cpprof_object_, number), CPPROF_JOIN(cpprof_site_, number))

/* As the first line of a function, and of a block. */
#define CPPROF_FUNCTION \
	CPPROF_PROBE_(CPPROF_KIND_FUNCTION, CPPROF_LEVEL_FUNCTION, __func__, CPPROF_SIGNATURE_, 0, __COUNTER__)
#define CPPROF_REGION(name) \
	CPPROF_PROBE_(CPPROF_KIND_REGION, CPPROF_LEVEL_LOOP, name, CPPROF_TOOL_WITHIN_, 0, __COUNTER__)

/* Both of them are left where they end. So much a compiler must be told that knows no cleanup: there the two do nothing, and each exit
 * is to be said (`cpprof cc` says it by itself); these may be used with any compiler. An expression that is returned is
 * evaluated before:
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
#define CPPROF_ENTERED_(site) cpprof_entered(&site)
#define CPPROF_LEFT_(entry) cpprof_left(&entry)
#else
#define CPPROF_SIGNATURE_ 0
#define CPPROF_FUNCTION
#define CPPROF_REGION(name)
#define CPPROF_ENTERED_(site)                                                                        \
	{                                                                                            \
		&site, site.state == CPPROF_STATE_OFF ? 0 : cpprof_site_enter(&site, CPPROF_CALLER_) \
	}
#define CPPROF_LEFT_(entry) (entry.counted ? cpprof_site_leave(entry.site, CPPROF_CALLER_) : (void)0)
#endif

#define CPPROF_ENTER_(variable, kind, level, name, signature)                                        \
	CPPROF_DESCRIPTOR_(CPPROF_JOIN(cpprof_site_of_, variable), kind, level, name, signature, 0); \
	struct cpprof_entry CPPROF_JOIN(cpprof_entry_of_, variable) =                                \
		CPPROF_ENTERED_(CPPROF_JOIN(cpprof_site_of_, variable))
#define CPPROF_ENTER CPPROF_ENTER_(function_, CPPROF_KIND_FUNCTION, CPPROF_LEVEL_FUNCTION, __func__, CPPROF_SIGNATURE_)
#define CPPROF_LEAVE CPPROF_LEFT_(cpprof_entry_of_function_)
#define CPPROF_ENTER_REGION(variable, name) \
	CPPROF_ENTER_(variable, CPPROF_KIND_REGION, CPPROF_LEVEL_LOOP, name, CPPROF_TOOL_WITHIN_)
#define CPPROF_LEAVE_REGION(variable) CPPROF_LEFT_(CPPROF_JOIN(cpprof_entry_of_, variable))

/* Said of a function, before it, to the tool alone: the group that it is in; its level; that it is left alone; and code of the
 * user's for its entry and exit:
 *
 *     CPPROF_HOOK(count, file, size)                   void *count_enter(FILE *file, size_t size);
 *     int put(FILE *file, size_t size) { ... }         void count_leave(void *what_enter_returned);
 *
 * A comment says the same without this header: cpprof: group(io) level(2) off hook(count, file, size) */
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
#define CPPROF_TOOL_HOOK(number, hook, arguments) \
	struct cpprof_hook cpprof_hook_##number   \
		__attribute__((__cleanup__(cpprof_hook_left), __unused__)) = { hook##_leave, hook##_enter arguments };

/* Behind the end of a file: functions whose addresses others have taken, "\"what\",\"where\",\"file\",\"line\"", in a section that
 * no program loads (cpprof report --lexical). */
#define CPPROF_TOOL_TAKEN(text) \
	__asm__("\t.pushsection cpprof_taken,\"\",@progbits\n\t.asciz " text "\n\t.popsection\n");
#else
#define CPPROF_TOOL_TAKEN(text)
#endif

/* What `cpprof cc` and `cpprof instrument` insert, on the line of a `{`. `number` is unique in its file, so that probe points within
 * probe points do not hide each other; `line` is that of the function's name. */
#if defined(__clang__) && !defined(__cplusplus)
/* An inline function with external linkage is compiled with the descriptor of its own file: clang would warn of it. */
#define CPPROF_TOOL_QUIET_(text) \
	_Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wstatic-local-in-inline\"") text
#define CPPROF_TOOL_LOUD_ _Pragma("clang diagnostic pop")
#else
#define CPPROF_TOOL_QUIET_(text) text
#define CPPROF_TOOL_LOUD_
#endif
#define CPPROF_TOOL_DESCRIPTOR_(variable, kind_, level_, line_, name_, signature_, group_)   \
	CPPROF_TOOL_QUIET_(static)                                                           \
	struct cpprof_site variable = { CPPROF_STATE_NEW, kind_,    level_, line_, 0, name_, \
					signature_,       __FILE__, group_, 0,     0 } CPPROF_TOOL_LOUD_
#define CPPROF_TOOL_FUNCTION(number, level, line, group)                                                              \
	CPPROF_TOOL_DESCRIPTOR_(cpprof_site_##number, CPPROF_KIND_FUNCTION, level, line, __func__, CPPROF_SIGNATURE_, \
				group);                                                                               \
	CPPROF_OBJECT_(cpprof_object_##number, cpprof_site_##number);
/* Within a function: a region, loop or statement: { CPPROF_TOOL_PLACE(...) for (...) ... } */
#ifdef __cplusplus
#define CPPROF_TOOL_WITHIN_ __PRETTY_FUNCTION__
#else
#define CPPROF_TOOL_WITHIN_ __func__
#endif
#define CPPROF_TOOL_PLACE(number, kind, level, line, name, group)                                           \
	CPPROF_TOOL_DESCRIPTOR_(cpprof_site_##number, kind, level, line, name, CPPROF_TOOL_WITHIN_, group); \
	CPPROF_OBJECT_##kind(cpprof_object_##number, cpprof_site_##number);
/* A basic block begins: counted, as a call that is over at once. A statement. */
#define CPPROF_TOOL_BLOCK(number, line, name, group)                                                                  \
	do {                                                                                                          \
		CPPROF_TOOL_DESCRIPTOR_(cpprof_site_##number, CPPROF_KIND_BLOCK, CPPROF_LEVEL_BLOCK, line, name,      \
					CPPROF_TOOL_WITHIN_, group);                                                  \
		if (!CPPROF_IS_OFF_(&cpprof_site_##number))                                                           \
			cpprof_site_block(&cpprof_site_##number, __builtin_return_address(0), __builtin_dwarf_cfa()); \
	} while (0);

/* The same with nothing inlined: in functions that call setjmp or its like, where compilers would warn of what was, and in those
 * that are compiled for another processor or by other rules than the rest of the file (attributes target, no_sanitize, ...),
 * into which they could not. */
#define CPPROF_TOOL_ASIDE_FUNCTION(number, level, line, group)                                                        \
	CPPROF_TOOL_DESCRIPTOR_(cpprof_site_##number, CPPROF_KIND_FUNCTION, level, line, __func__, CPPROF_SIGNATURE_, \
				group);                                                                               \
	CPPROF_ASIDE_OBJECT_(cpprof_object_##number, cpprof_site_##number);
#define CPPROF_TOOL_ASIDE_PLACE(number, kind, level, line, name, group)                                     \
	CPPROF_TOOL_DESCRIPTOR_(cpprof_site_##number, kind, level, line, name, CPPROF_TOOL_WITHIN_, group); \
	CPPROF_ASIDE_OBJECT_(cpprof_object_##number, cpprof_site_##number);
#define CPPROF_TOOL_ASIDE_BLOCK CPPROF_TOOL_BLOCK

/* The same where the tool says when a probe point is left (`--explicit`): CPPROF_TOOL_LEAVE(number) is an expression, and stands at each
 * exit. */
#ifndef CPPROF_PORTABLE
#define CPPROF_TOOL_EXPLICIT_OBJECT_(variable, site) \
	struct cpprof_entry_aside variable =         \
		cpprof_entered_aside(&site, __builtin_return_address(0), __builtin_dwarf_cfa());
#define CPPROF_TOOL_LEAVE(number) cpprof_left_aside(&cpprof_object_##number)
#else
#define CPPROF_TOOL_EXPLICIT_OBJECT_(variable, site) struct cpprof_entry variable = CPPROF_ENTERED_(site);
#define CPPROF_TOOL_LEAVE(number) CPPROF_LEFT_(cpprof_object_##number)
#endif
#define CPPROF_TOOL_EXPLICIT_FUNCTION(number, level, line, group)                                                     \
	CPPROF_TOOL_DESCRIPTOR_(cpprof_site_##number, CPPROF_KIND_FUNCTION, level, line, __func__, CPPROF_SIGNATURE_, \
				group);                                                                               \
	CPPROF_TOOL_EXPLICIT_OBJECT_(cpprof_object_##number, cpprof_site_##number)
#define CPPROF_TOOL_EXPLICIT_PLACE(number, kind, level, line, name, group)                                  \
	CPPROF_TOOL_DESCRIPTOR_(cpprof_site_##number, kind, level, line, name, CPPROF_TOOL_WITHIN_, group); \
	CPPROF_TOOL_EXPLICIT_OBJECT_(cpprof_object_##number, cpprof_site_##number)
#define CPPROF_TOOL_EXPLICIT_BLOCK(number, line, name, group)                                                \
	do {                                                                                                 \
		CPPROF_TOOL_EXPLICIT_PLACE(number, CPPROF_KIND_BLOCK, CPPROF_LEVEL_BLOCK, line, name, group) \
		CPPROF_TOOL_LEAVE(number);                                                                   \
	} while (0);
#define CPPROF_TOOL_EXPLICIT_HOOK(number, hook, arguments) void *cpprof_kept_##number = hook##_enter arguments;
#define CPPROF_TOOL_LEAVE_HOOK(number, hook) (hook##_leave(cpprof_kept_##number), CPPROF_TOOL_LEAVE(number))

#if defined(__cplusplus) && __cplusplus >= 201103L && !defined(CPPROF_PORTABLE)
/* The same where the code may run while it is compiled too: in constexpr functions, and in lambdas from C++17 on. Such a function
 * may have no static variables and no objects with destructors of their own, but a class with a member function that has one, and
 * a plain variable with a cleanup: from C++14 on. What the compiler evaluates itself is not counted. */
namespace cpprof
{
__attribute__((__always_inline__)) inline cpprof_entry entered_first(cpprof_site *site, const char *name,
								     const char *signature) noexcept
{
	if (__builtin_expect(__atomic_load_n(&site->state, __ATOMIC_RELAXED) == CPPROF_STATE_NEW, 0)) {
		__atomic_store_n(&site->name, name, __ATOMIC_RELAXED);
		__atomic_store_n(&site->signature, signature, __ATOMIC_RELAXED);
	}
	return cpprof_entered(site);
}
} // namespace cpprof

#if __cplusplus >= 201402L
/* (Not in the namespace: gcc takes an identifier alone as a cleanup.) */
__attribute__((__always_inline__)) constexpr inline cpprof_entry cpprof_entered_unless_constant(
	cpprof_site *(*site)(), const char *name, const char *signature) noexcept
{
	return __builtin_is_constant_evaluated() ? cpprof_entry() : cpprof::entered_first(site(), name, signature);
}
__attribute__((__always_inline__)) constexpr inline void cpprof_left_unless_constant(cpprof_entry *entry) noexcept
{
	if (!__builtin_is_constant_evaluated())
		cpprof_left(entry);
}

#define CPPROF_TOOL_CONSTEXPR_DESCRIPTOR_(number, kind_, level_, line_, group_)                                        \
	struct cpprof_probe_##number {                                                                                 \
		static struct cpprof_site *site() noexcept                                                             \
		{                                                                                                      \
			CPPROF_TOOL_DESCRIPTOR_(cpprof_site_##number, kind_, level_, line_, nullptr, nullptr, group_); \
			return &cpprof_site_##number;                                                                  \
		}                                                                                                      \
	};
#define CPPROF_TOOL_CONSTEXPR_PLACE(number, kind, level, line, name, group)             \
	CPPROF_TOOL_CONSTEXPR_DESCRIPTOR_(number, kind, level, line, group)             \
	struct cpprof_entry cpprof_object_##number                                      \
		__attribute__((__cleanup__(cpprof_left_unless_constant), __unused__)) = \
			cpprof_entered_unless_constant(cpprof_probe_##number::site, name, __PRETTY_FUNCTION__);
#define CPPROF_TOOL_CONSTEXPR_FUNCTION(number, level, line, group) \
	CPPROF_TOOL_CONSTEXPR_PLACE(number, CPPROF_KIND_FUNCTION, level, line, __func__, group)
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
		CPPROF_TOOL_CONSTEXPR_PLACE(number, CPPROF_KIND_BLOCK, CPPROF_LEVEL_BLOCK, line, name, group) \
	} while (0);
#endif

/* Behind the object of a member function whose class has cpprof_enter and cpprof_leave: these are called too. */
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
#define CPPROF_TOOL_MEMBER(number)                                                                    \
	this->cpprof_enter(&cpprof_site_##number);                                                    \
	auto cpprof_last_##number = [this]() noexcept { this->cpprof_leave(&cpprof_site_##number); }; \
	::cpprof::ending<decltype(cpprof_last_##number)> cpprof_ending_##number(cpprof_last_##number);
#endif

#endif
