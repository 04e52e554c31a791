#include "profile/runtimes.h"

#include <stddef.h>
#include <string.h>

#include "profile/module_name.h"

/*
 * node       V8 options that Node.js accepts in NODE_OPTIONS; by the second one, interpreted functions have frames with names, too
 * java       virtual machines before 17 lack DumpPerfMapAtExit: they ignore it and keep the frame pointers
 * python3    from 3.12 on; older versions ignore the variable. bpf and preload need it for the versions that they do not know
 * beam.smp   virtual machines with a JIT, which is the default from OTP 24 on; frame pointers from 25 on
 * dotnet     1: perf map and jitdump
 * php        reads no variable; 16: perf map
 * luajit     Debian's writes no map
 * sbcl       reads no variable that loads a file
 * julia      builds with USE_PERF_JITEVENTS=1
 */
const struct runtime runtimes[] = {
	{ .process = "node",
	  .variable = "NODE_OPTIONS",
	  .value = "--perf-basic-prof --interpreted-frames-native-stack",
	  .by_hand = "node --perf-basic-prof --interpreted-frames-native-stack",
	  .is_list = true },
	{ .process = "java",
	  .variable = "JAVA_TOOL_OPTIONS",
	  .value = "-XX:+IgnoreUnrecognizedVMOptions -XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions "
		   "-XX:+DumpPerfMapAtExit",
	  .with_jvm_library = "-agentpath:%s -XX:+PreserveFramePointer",
	  .by_hand = "java -XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit",
	  .is_list = true,
	  .running = "jcmd PID Compiler.perfmap, while it is recorded, lists it from JDK 17 on",
	  .frameless = "java -XX:+PreserveFramePointer keeps them" },
	{ .process = "python3",
	  .variable = "PYTHONPERFSUPPORT",
	  .value = "1",
	  .by_hand = "python3 -X perf (from 3.12 on)" },
	{ .process = "beam.smp",
	  .variable = "ERL_FLAGS",
	  .value = "+JPperf true",
	  .by_hand = "erl +JPperf true",
	  .is_list = true,
	  .frameless = "erl +JPperf true keeps them" },
	{ .process = "dotnet",
	  .variable = "DOTNET_PerfMapEnabled",
	  .value = "1",
	  .by_hand = "DOTNET_PerfMapEnabled=1 dotnet" },
	{ .process = "php",
	  .by_hand = "php -d opcache.jit_debug=16",
	  .nameless = "php -d opcache.jit_debug=16 lists it, -d opcache.jit=off interprets",
	  .frameless = "PHP's JIT keeps none; php -d opcache.jit=off interprets" },
	{ .process = "luajit",
	  .by_hand = "luajit -joff, which interprets",
	  .library = "luajit",
	  .nameless = "LuaJIT does not list it; luajit -joff interprets",
	  .frameless = "LuaJIT keeps none; luajit -joff interprets" },
	{ .process = "sbcl", .by_hand = "sbcl --load perf-map.lisp" },
	{ .process = "julia",
	  .variable = "ENABLE_JITPROFILING",
	  .value = "1",
	  .by_hand = "ENABLE_JITPROFILING=1 julia" },
	{ 0 },
};

const struct runtime *runtime_of_process(const char *name)
{
	for (const struct runtime *row = runtimes; row->process; row++)
		if (strncmp(name, row->process, strlen(row->process)) == 0)
			return row;
	return NULL;
}

const struct runtime *runtime_of_profile(const struct profile *profile)
{
	const struct runtime *found = NULL;
	for (size_t i = 0; i < profile->module_count; i++) {
		size_t length;
		const char *name = module_name(profile_string(profile, profile->modules[i].path), &length);
		for (const struct runtime *row = runtimes; row->process; row++)
			if (row->library && profile->modules[i].kind == MODULE_FILE &&
			    memmem(name, length, row->library, strlen(row->library)))
				return row;
	}
	for (size_t i = 0; i < profile->process_count && !found; i++)
		found = runtime_of_process(profile_string(profile, profile->processes[i].name));
	return found;
}
