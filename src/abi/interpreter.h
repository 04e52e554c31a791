/*
 * The functions of interpreted programs, for walks where a sample is taken: in the kernel, or in the target.
 *
 * An interpreter keeps its own list of frames beside the stack. A walk notes them as a list of entries, innermost
 * first: the frames of each run, which is one call of the function that interprets, and then the place of that call on the
 * stack. So the reader can put each run below its native frame. docs/languages.md describes the whole.
 */
#ifndef ABI_INTERPRETER_H
#define ABI_INTERPRETER_H

#include "abi/integers.h"

enum interpreter_kind {
	INTERPRETER_NONE,
	INTERPRETER_PYTHON, /* CPython: collect/shared/python_walk.h */
};

/* Offsets in the structures of one version of CPython, in bytes. */
struct python_layout {
	uint16_t runtime_interpreters; /* _PyRuntimeState.interpreters.head */
	uint16_t interpreter_next;     /* PyInterpreterState.next */
	uint16_t interpreter_threads;  /* PyInterpreterState.threads.head */
	uint16_t thread_next;          /* PyThreadState.next */
	uint16_t thread_id;            /* PyThreadState.native_thread_id */
	uint16_t thread_frame;         /* PyThreadState.current_frame; 0: the cframe has it */
	uint16_t thread_cframe;        /* PyThreadState.cframe */
	uint16_t cframe_current;       /* _PyCFrame.current_frame */
	uint16_t cframe_previous;      /* _PyCFrame.previous */
	uint8_t frame_bytes;           /* that are read of an _PyInterpreterFrame; below INTERPRETER_FRAME_BYTES */
	uint8_t frame_code;            /* _PyInterpreterFrame.f_code */
	uint8_t frame_previous;        /* .previous */
	uint8_t frame_instruction;     /* .prev_instr, since 3.13 .instr_ptr */
	uint8_t frame_is_entry;        /* .is_entry; 0: there is none, a run ends at a frame that C owns */
	uint8_t frame_owner;           /* .owner; 0: frame_is_entry marks the end of a run */
	uint8_t code_bytes;            /* that are read of a PyCodeObject; below INTERPRETER_CODE_BYTES */
	uint8_t object_type;           /* PyObject.ob_type */
	uint8_t code_first_line;       /* PyCodeObject.co_firstlineno */
	uint8_t code_file;             /* .co_filename */
	uint8_t code_name;             /* .co_qualname */
	uint8_t code_table;            /* .co_linetable */
	uint8_t code_instructions;     /* .co_code_adaptive: not a pointer, the instructions themselves */
	uint8_t text_length;           /* PyASCIIObject.length */
	uint8_t text_state;            /* PyASCIIObject.state */
	uint8_t text_ascii;            /* sizeof(PyASCIIObject): the characters of a text of ASCII */
	uint8_t text_other;            /* sizeof(PyCompactUnicodeObject): the characters of any other text */
	uint8_t bytes_size;            /* PyVarObject.ob_size */
	uint8_t bytes_content;         /* PyBytesObject.ob_sval */
};

enum {
	INTERPRETER_FRAME_BYTES = 128,
	INTERPRETER_CODE_BYTES = 256,
	/* Maximum number of a sample's entries. Python allows some 1000 nested calls, unless a program asks for more. */
	INTERPRETED_MOST = 1024,
	/* Room in a function's description. A longer text or table is cut. */
	INTERPRETED_NAME_BYTES = 256,
	INTERPRETED_FILE_BYTES = 512,
	INTERPRETED_TABLE_BYTES = 32 * 1024,
};

/* The interpreter of one process. */
struct interpreter {
	uint64_t runtime;   /* run-time address of _PyRuntime */
	uint64_t code_type; /* ... of PyCode_Type: the type of each code object */
	uint32_t kind;      /* enum interpreter_kind */
	uint32_t spare;
	struct python_layout python;
};

/* One entry: a frame, or with code 0 the end of a run. */
struct interpreted_frame {
	uint64_t code; /* address of the code object in the process; 0: the run ends */
	union {
		uint64_t stack; /* of an end: an address in the native frame that interprets the run */
		struct {
			uint32_t check; /* of the code object: other values at its address mean another function */
			uint32_t place; /* bytes from the start of the instructions to the instruction that executes */
		};
	};
};

/* How the walk of the interpreter's frames ended. One list defines the enum and its texts. */
#define INTERPRETED_LIST(X)                                                    \
	X(INTERPRETED_WHOLE, "all frames of the interpreter were read")        \
	X(INTERPRETED_NO_THREAD, "the interpreter does not know the thread")   \
	X(INTERPRETED_UNREADABLE, "the interpreter's memory was not there")    \
	X(INTERPRETED_CHANGED, "the interpreter's memory was not as expected") \
	X(INTERPRETED_DEEP, "the interpreter's frames were too many")

enum interpreted_end {
#define X(name, text) name,
	INTERPRETED_LIST(X)
#undef X
		INTERPRETED_END_COUNT
};

/* A function's description: the content of a record SAMPLE_DESCRIPTION. The first table_bytes of the table are there. */
struct interpreted_code {
	uint64_t code;
	uint32_t check;
	uint32_t kind; /* enum interpreter_kind */
	uint32_t first_line;
	uint32_t table_bytes;
	uint32_t is_table_cut; /* lines of its last instructions are not known */
	struct interpreted_text {
		uint32_t characters; /* of the whole text */
		uint8_t width;       /* bytes of a character: 1, 2, 4 */
		uint8_t spare[3];
	} name, file;
	uint32_t spare;
	uint8_t name_content[INTERPRETED_NAME_BYTES];
	uint8_t file_content[INTERPRETED_FILE_BYTES];
	uint8_t table[INTERPRETED_TABLE_BYTES];
};

enum { INTERPRETED_FIXED_BYTES = sizeof(struct interpreted_code) - INTERPRETED_TABLE_BYTES };

_Static_assert(sizeof(struct interpreter) == 24 + 40 && sizeof(struct interpreted_frame) == 16 &&
		       INTERPRETED_FIXED_BYTES == 48 + 256 + 512,
	       "the monitor and the target read them");

#endif
