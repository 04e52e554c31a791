/* The record of a sample. The eBPF programs or the agent write it where the sample is taken; the monitor reads it. */
#ifndef ABI_SAMPLE_RECORD_H
#define ABI_SAMPLE_RECORD_H

#include "abi/integers.h"

enum {
	/* The version of struct sample_record and of the data after it. The channel contains it (abi/channel.h). */
	SAMPLE_RECORD_VERSION = 3,

	SAMPLE_REQUESTS = 16, /* as RESOURCE_REQUESTS_MAX */
	SAMPLE_NO_REQUEST = 255,

	/* Maximum number of a walk's frames. The monitor unwinds a deeper stack (user-space fallback). */
	WALK_FRAMES = 1024,
	/* Maximum number of the kernel's own frames. Its stacks are rarely deeper than 30. */
	SAMPLE_KERNEL_FRAMES = 64,
	/* A walk reads the stack in windows of this many words. */
	WALK_WINDOW_WORDS = 64,
	/* Maximum part of a stack that is copied for the user-space fallback. */
	SAMPLE_PAGE_BYTES = 4096,
	SAMPLE_STACK_PAGES = 16,
	SAMPLE_STACK_BYTES = SAMPLE_STACK_PAGES * SAMPLE_PAGE_BYTES,
};

enum sample_record_kind {
	SAMPLE_WALKED,   /* frames follow */
	SAMPLE_FALLBACK, /* struct arch_registers (arch/arch.h) follows, then stack bytes */
	/* In both kinds these follow, from the next multiple of 8 bytes on: the kernel's frames; if `interpreted` is not 0,
	 * the stack pointer in each frame of a walk; the interpreter's entries (abi/interpreter.h). */
};

/* sample_record.kind of the other records. Struct interpreted_code follows, `stack_bytes` of it; see also abi/channel.h. */
enum { SAMPLE_DESCRIPTION = 3 };

/* How a walk ended. One list defines the enum and its texts. */
#define WALK_LIST(X)                                             \
	X(WALK_ROOT, "reached the root")                         \
	X(WALK_NO_STACK, "no user stack")                        \
	X(WALK_OTHER_ABI, "32-bit code")                         \
	X(WALK_NO_CODE, "code that was not loaded yet")          \
	X(WALK_NO_ROWS, "code without unwind rules")             \
	X(WALK_NO_RULE, "no unwind rule at the address")         \
	X(WALK_SLOW, "a rule that is evaluated in full")         \
	X(WALK_NO_FRAME, "generated code that may lack a frame") \
	X(WALK_NO_CALLER, "a return address of 0")               \
	X(WALK_UNREADABLE, "memory that was not there")          \
	X(WALK_NO_PROGRESS, "the stack pointer does not grow")   \
	X(WALK_DEPTH, "too deep")                                \
	X(WALK_KNOWN_DEEP, "too deep a moment ago")              \
	X(WALK_ASLEEP, "asleep when the recording ended")

enum walk_end {
#define X(name, text) name,
	WALK_LIST(X)
#undef X
		WALK_END_COUNT
};

struct sample_record {
	uint64_t time_ns;
	uint32_t pid, tid;
	uint8_t kind;    /* enum sample_record_kind */
	uint8_t end;     /* enum walk_end */
	uint8_t request; /* SAMPLE_NO_REQUEST: the path that started a thread */
	uint8_t flags;
	uint32_t about; /* the started thread; in all other records the label set, 0: none */
	uint64_t hits;
	uint64_t amount;
	int64_t detail;         /* a system call's result, or the address that was accessed */
	int32_t syscall;        /* -1: none */
	uint16_t frames;        /* number of frames that follow */
	uint16_t kernel_frames; /* number of the kernel's frames behind everything else */
	uint32_t stack_bytes;
	uint32_t absent;         /* bit n: page n of the stack could not be read, and is zeros here */
	uint16_t interpreted;    /* number of struct interpreted_frame behind everything else */
	uint8_t interpreted_end; /* enum interpreted_end */
	uint8_t spare[5];
};

enum {
	SAMPLE_TOUCHED = 1, /* detail is an address */
	SAMPLE_SYSCALL = 2, /* detail is a system call's result */
	SAMPLE_IN_KERNEL = 4,
	SAMPLE_GENERATED = 8,  /* the walk went through generated code, by frame pointers */
	SAMPLE_STACK_CUT = 16, /* the ring had no room for more of the stack */
};

/* The kernel and the target write it, the monitor reads it: another layout needs another
 * SAMPLE_RECORD_VERSION. */
_Static_assert(sizeof(struct sample_record) == 72, "a sample record is 72 bytes");

#endif
