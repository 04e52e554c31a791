/*
 * Every kind of finding, one row each:
 *
 *   X(constant, name, severity, output, unit, meaning)
 *
 *   name      in the file, in JSON and in docs/resources.md
 *   output    the first consumer that prints it: see enum finding_output
 *   unit      the unit of `count`, in the singular; "": this kind has no count
 *   meaning   the consequence and the remedy: `info` prints it below the finding's own text, and JSON has it
 *
 * A finding is a NOTE if every figure is right, a WARNING if some figure is too small, charged to a wrong name or
 * costly to measure, and an ERROR if the profile lacks everything from some moment on.
 */
#ifndef PROFILE_FINDING_CODES_H
#define PROFILE_FINDING_CODES_H

/* clang-format off */
#define FINDING_CODES(X) \
	/* the monitor */ \
	X(OUT_OF_MEMORY, "out-of-memory", ERROR, CLOSING, "", \
	  "The recorder ran out of memory; samples after that moment are missing.") \
	X(DISK_FULL, "disk-full", WARNING, CLOSING, "sample", \
	  "Memory keeps the samples for some time, then they are dropped; the recording went on when there was room.") \
	X(DISK_WAS_FULL, "disk-was-full", NOTE, CLOSING, "", \
	  "Memory kept the samples until there was room; nothing is missing.") \
	X(UNSAMPLED, "unsampled", WARNING, RECORDING, "sample", \
	  "This part of the resource was used where no sample was taken: in threads that ended before their first " \
	  "interval, which a shorter interval samples, or in programs that the backend does not reach, which the bpf " \
	  "backend samples.") \
	X(OVERSAMPLED, "oversampled", WARNING, RECORDING, "sample", \
	  "The hits stand for more than the counted total, and by more than chance explains: some code has more hits than " \
	  "it used. Another backend shows which; the cause is a fault of cpprof or of the kernel.") \
	X(SAMPLES_COSTLY, "samples-costly", WARNING, RECORDING, "sample a second of CPU time", \
	  "Each sample takes some microseconds of the thread that it is taken in; -r RES/INTERVAL sets the interval.") \
	X(SAMPLING_PAUSED, "sampling-paused", WARNING, CLOSING, "pause", \
	  "The kernel takes no samples during a pause; raise kernel.perf_event_max_sample_rate, or the interval.") \
	X(RATE_LOWERED, "rate-lowered", NOTE, INFO, "", \
	  "The agent stays below its limits of CPU time and memory; --cpu and --memory of cpprof agent set them. Each " \
	  "sample counts as many hits as it stands for, so that fractions are right and have larger errors.") \
	X(PROCESSES_STILL_RUNNING, "processes-still-running", WARNING, CLOSING, "process", \
	  "The recording ended with the command; what these processes used later is missing.") \
	X(COMMAND_KILLED, "command-killed", NOTE, CLOSING, "", \
	  "The command did not end by itself; the profile has what it did until then.") \
	X(PART_OF_RUN, "part-of-run", NOTE, INFO, "", \
	  "Other recordings have other parts of a run, so that equal programs have unequal counts. A recording of a command from its " \
	  "start to its own end has the whole run.") \
	X(EVENTS_LOST, "events-lost", WARNING, INFO, "event", \
	  "Without these maps, forks and names, some samples may have wrong names.") \
	X(LABELS_LOST, "labels-lost", WARNING, INFO, "sample", \
	  "The events that define these samples' labels were lost; the samples have no labels.") \
	X(LABELS_NOT_RECORDED, "labels-not-recorded", NOTE, CLOSING, "", \
	  "The program sets labels, which only the preload backend records, in commands that cpprof starts.") \
	X(CODE_NOT_LOADED, "code-not-loaded", WARNING, INFO, "failure", \
	  "The monitor unwound the stacks in that code instead, and more samples may be lost; the kernel has room for " \
	  "fewer processes.") \
	X(USER_MODE_ONLY, "user-mode-only", NOTE, CLOSING, "", \
	  "What the program used in the kernel is neither sampled nor counted; sysctl kernel.perf_event_paranoid=1, or " \
	  "root, permits it.") \
	X(KERNEL_NOT_RECORDED, "kernel-not-recorded", NOTE, INFO, "", \
	  "Paths end where they enter the kernel, or in the one function [kernel]. The bpf backend, as root, shows the " \
	  "kernel's functions; so does perf where /proc/kallsyms shows addresses.") \
	X(INTERPRETER_NOT_SHOWN, "interpreter-not-shown", NOTE, CLOSING, "", \
	  "Paths have the functions of the interpreter in place of those of the program. The bpf and preload backends show the " \
	  "program's functions for the interpreters and versions that docs/languages.md lists: none of Perl, PHP, Ruby, Lua, " \
	  "Tcl and R.") \
	X(BACKEND_REFUSED, "backend-refused", NOTE, CLOSING, "", \
	  "cpprof prefers this backend, but it could not measure here; cpprof resources prints what each backend can " \
	  "measure.") \
	X(GENERATED_NAMELESS, "generated-nameless", WARNING, CLOSING, "sample", \
	  "No perf map or jitdump lists the code in which these samples were taken; record --jit sets the environment in " \
	  "which runtimes write one, and a process for -p or -a is started with the same.") \
	X(GENERATED_FRAMELESS, "generated-frameless", WARNING, CLOSING, "call path", \
	  "The run-time compiler keeps no frame pointers in this code and describes no frames: the callers of these paths are unknown.") \
	/* all backends */ \
	X(PROCESSES_NOT_RECORDED, "processes-not-recorded", WARNING, CLOSING, "process", \
	  "What these processes used is missing.") \
	X(THREADS_NOT_RECORDED, "threads-not-recorded", WARNING, CLOSING, "thread", \
	  "What these threads used is missing.") \
	X(STARTS_UNKNOWN, "starts-unknown", WARNING, INFO, "thread", \
	  "The paths of these threads begin at their start functions, not at the stacks that started them.") \
	X(STARTS_NOT_RECORDED, "starts-not-recorded", NOTE, INFO, "", \
	  "The kernel shows where threads are started to root only, or with CAP_PERFMON where tracefs is readable.") \
	X(RINGS_SMALL, "rings-small", NOTE, CLOSING, "", \
	  "The kernel refused larger ring buffers, so samples are lost earlier and less of each stack is copied; raise " \
	  "kernel.perf_event_mlock_kb or 'ulimit -l', or end the user's other recordings.") \
	X(UNWIND_ROWS, "unwind-rows", NOTE, INFO, "unwind row", \
	  "These rows unwind stacks where samples are taken.") \
	/* bpf */ \
	X(KERNEL_STACKS, "kernel-stacks", NOTE, INFO, "user-space fallback", \
	  "These are the stacks of samples and those at which threads were created. The eBPF program unwound the first number; the monitor unwound the others, " \
	  "for the reasons listed.") \
	X(EVENTS_MISSED, "events-missed", WARNING, INFO, "event", \
	  "The totals and samples lack these events.") \
	X(SIGNS_ASSUMED, "signs-assumed", WARNING, CLOSING, "value", \
	  "They count 0, as negative numbers do. The function's debug information would give the type.") \
	X(PROBES_COSTLY, "probes-costly", WARNING, RECORDING, "call", \
	  "Each such call takes a trap of a microsecond or more, which the time resources charge to the function, such as " \
	  "malloc for alloc-bytes; record the time alone for its true shares.") \
	X(FUNCTIONS_UNOBSERVED, "functions-unobserved", WARNING, INFO, "failure", \
	  "The calls of the functions in those processes are not counted.") \
	X(FIRST_CALLS_UNCOUNTED, "first-calls-uncounted", NOTE, INFO, "", \
	  "The calls that the first process of the target made in its first moments are not counted.") \
	X(TOTALS_INCOMPLETE, "totals-incomplete", WARNING, INFO, "failure", \
	  "The totals lack what the living threads had used.") \
	X(SAMPLE_RATE_LIMITED, "sample-rate-limited", WARNING, INFO, "", \
	  "Samples are missing; raise kernel.perf_event_max_sample_rate, or the interval.") \
	/* preload */ \
	X(PROGRAMS_NOT_RECORDED, "programs-not-recorded", WARNING, CLOSING, "program", \
	  "These programs did not load the preload backend's library. Statically linked and set-user-ID programs " \
	  "cannot, nor those started without LD_PRELOAD in their environment, as another user, in another pid " \
	  "namespace, or by another cpprof; the bpf backend records them.") \
	X(LIBRARY_NEVER_LOADED, "library-never-loaded", WARNING, INFO, "", \
	  "Nothing was recorded; something on the way may clear LD_PRELOAD from the environment.") \
	X(TRANSFERS_UNOBSERVED, "transfers-unobserved", WARNING, CLOSING, "", \
	  "The C library transfers for its streams (fread, fgets, getline, printf...) itself, and the program may make " \
	  "system calls directly; the bpf backend, as root, sees both.") \
	X(CALLS_UNOBSERVED, "calls-unobserved", WARNING, CLOSING, "", \
	  "The library calls the C library without the preload backend's library; the bpf backend sees these calls.") \
	X(RESOURCE_UNDECLARED, "resource-undeclared", WARNING, CLOSING, "", \
	  "No call of cpprof_resource had this name; its total is 0.") \
	X(TICKS_LATE, "ticks-late", WARNING, INFO, "tick", \
	  "The program's own alternate signal stack was too small for the timer's handler.") \
	X(SAMPLES_DAMAGED, "samples-damaged", WARNING, INFO, "thread", \
	  "The program itself overwrote the samples of these threads; they are missing from there on.") \
	X(TIMER_SIGNAL_TAKEN, "timer-signal-taken", WARNING, INFO, "", \
	  "Time is not sampled in such threads.") \
	X(SANDBOXED, "sandboxed", WARNING, CLOSING, "", \
	  "From that moment on, time is not sampled in such threads, and nothing is counted that needs a forbidden call; " \
	  "the bpf backend measures the whole run.") \
	X(FP_SIGNAL_TAKEN, "fp-signal-taken", WARNING, INFO, "", \
	  "Floating point exceptions may be missing.") \
	X(FP_FREQUENT, "fp-frequent", WARNING, CLOSING, "", \
	  "A trap for each would take too long. Each thread counts 10,000 of a kind, and 10,000 a second; the fractions are " \
	  "those of the exceptions that were counted.") \
	X(OWN_OPERATOR_NEW, "own-operator-new", WARNING, INFO, "", \
	  "The allocations of an allocator of the program's own are missing; the bpf backend sees them.") \
	X(OWN_MALLOC, "own-malloc", WARNING, INFO, "", \
	  "The allocations of the program are missing; --backend bpf sees them.") \
	X(ALLOCATORS_UNCOUNTED, "allocators-uncounted", WARNING, CLOSING, "library", \
	  "A library that was loaded while the program ran exports malloc, but is not the process's allocator. What it allocates " \
	  "by its own malloc (opened with RTLD_DEEPBIND, or linked with -Bsymbolic) is missing.") \
	X(TIME_COARSE, "time-coarse", NOTE, CLOSING, "sample a second of time", \
	  "Time is sampled less often than requested; each sample stands for as many hits as its time has intervals.") \
	X(WAITS_COARSE, "waits-coarse", NOTE, CLOSING, "times as long a distance", \
	  "The ticks of many waiting threads would take the time of the processors; each sample of a wait stands for as " \
	  "many hits as its time has intervals.") \
	X(PARTS_MEASURED, "parts-measured", NOTE, INFO, "", \
	  "The totals cover the parts between cpprof_start and cpprof_stop only.") \
	/* the compiler's hooks */ \
	X(THREADS_CUT_SHORT, "threads-cut-short", WARNING, CLOSING, "thread", \
	  "What these threads called later is missing.") \
	X(CALLS_UNCOUNTED, "calls-uncounted", WARNING, CLOSING, "call", \
	  "The counts of these calls are missing.") \
	X(TRACE_EVENTS_LOST, "trace-events-lost", WARNING, CLOSING, "event", \
	  "The trace lacks these events.") \
	X(PATHS_FOLDED, "paths-folded", WARNING, CLOSING, "call", \
	  "Further paths end at the last frame that had room.") \
	X(LIBRARIES_MIXED, "libraries-mixed", WARNING, CLOSING, "", \
	  "Calls from libraries that shared addresses stand under names of both.") \
	X(TALLY_CUT, "tally-cut", WARNING, CLOSING, "", \
	  "The disk was full, or the file was cut later.") \
	X(CALLS_UNTIMED, "calls-untimed", WARNING, CLOSING, "", \
	  "The hooks of -pg report when a function is entered, but not when it is left.") \
	X(BLOCKS_UNCOUNTED, "blocks-uncounted", WARNING, CLOSING, "", \
	  "The program has no hooks of basic blocks.") \
	X(RULE_REFUSED, "rule-refused", WARNING, CLOSING, "", \
	  "cpprof ignored this line of the rules that switch probe points on and off, or the library in its place.") \
	X(PROCESSES_UNENDED, "processes-unended", NOTE, INFO, "process", \
	  "These processes were killed, or are still running; the profile has what they counted until then.") \
	X(THREADS_REUSED, "threads-reused", NOTE, INFO, "thread", \
	  "A new thread went on where one that had ended had counted; the counts of both stand together.") \
	X(POINTS_THROTTLED, "points-throttled", NOTE, INFO, "call", \
	  "The probe point turned itself off; later calls are not counted.") \
	X(POINTS_SWITCHED_OFF, "points-switched-off", NOTE, INFO, "", \
	  "The rules, the program or cpprof control switched the probe point off; its calls meanwhile are not counted.") \
	/* readers */ \
	X(FILE_UNREADABLE, "file-unreadable", WARNING, INFO, "address", \
	  "The functions of this file have no names.") \
	X(NAMING_INTERRUPTED, "naming-interrupted", WARNING, CLOSING, "address", \
	  "A signal ended the recorder's last work; 'cpprof name' adds the names to the profile.") \
	X(NAMES_MISSING, "names-missing", WARNING, CLOSING, "hit", \
	  "The functions of this file are shown by their addresses. Once its debug symbols are there, 'cpprof name' adds their " \
	  "names to the profile.") \
	X(DOWNLOADS_FAILED, "downloads-failed", WARNING, CLOSING, "debug file", \
	  "Functions of these files may have no names; 'cpprof name' tries again.") \
	X(DEBUG_FILES_LACKING, "debug-files-lacking", NOTE, INFO, "debug file", \
	  "Functions of these files may have no names.") \
	X(SPLIT_FILES_LACKING, "split-files-lacking", NOTE, INFO, "", \
	  "The program was compiled with -gsplit-dwarf. Without its .dwo files, functions that were inlined are not shown. Keep them where the compiler wrote them, or beside the program; .dwp files are not read.") \
	X(LINES_UNREADABLE, "lines-unreadable", WARNING, INFO, "block", \
	  "The lines of this file have no counts: reading its debug information exceeded a limit.") \
	X(ADDRESSES_OUTSIDE, "addresses-outside", WARNING, INFO, "address", \
	  "The file is of another program or of another build.") \
	X(STACKS_CUT, "stacks-cut", WARNING, READING, "sample", \
	  "perf copied too little of these stacks for their outer frames. With perf record --call-graph dwarf,32768 it copies 32 KiB instead of 8; " \
	  "65528 is the most.") \
	X(RECORDING_CUT, "recording-cut", ERROR, READING, "", \
	  "The recorder was killed or the file was cut; the profile has what was flushed before.") \
	X(BYTES_SKIPPED, "bytes-skipped", WARNING, READING, "byte", \
	  "The file ends within a block, which cannot be read.") \
	X(BLOCKS_SKIPPED, "blocks-skipped", WARNING, READING, "block", \
	  "A newer cpprof wrote these blocks.") \
	X(SAMPLES_LOST, "samples-lost", WARNING, READING, "sample", \
	  "There was no room for these samples when they were taken; with a longer interval, fewer are lost.") \
	X(PATHS_BROKEN, "paths-broken", WARNING, READING, "call path", \
	  "The outer parts of these call paths are missing, for the causes that cpprof info lists.") \
	X(OLD_WARNING, "warning", WARNING, INFO, "", \
	  "") /* of files of format 1.3 and older, which had no codes */
/* clang-format on */

#endif
