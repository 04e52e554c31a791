#include "profile/runtimes.h"

#include <stddef.h>
#include <string.h>

/*
 * node       V8 options that Node.js accepts in NODE_OPTIONS; by the second one, interpreted functions have frames with names, too
 * java       virtual machines before 17 lack DumpPerfMapAtExit: they ignore it and keep the frame pointers
 * python3    from 3.12 on; older versions ignore the variable
 * beam.smp   virtual machines with a JIT, which is the default from OTP 24 on; frame pointers from 25 on
 * dotnet     1: perf map and jitdump
 * php        reads no variable; 16: perf map
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
	  .is_list = true },
	{ .process = "python3",
	  .variable = "PYTHONPERFSUPPORT",
	  .value = "1",
	  .by_hand = "python3 -X perf (from 3.12 on)" },
	{ .process = "beam.smp",
	  .variable = "ERL_FLAGS",
	  .value = "+JPperf true",
	  .by_hand = "erl +JPperf true",
	  .is_list = true },
	{ .process = "dotnet",
	  .variable = "DOTNET_PerfMapEnabled",
	  .value = "1",
	  .by_hand = "DOTNET_PerfMapEnabled=1 dotnet" },
	{ .process = "php", .by_hand = "php -d opcache.jit_debug=16" },
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
