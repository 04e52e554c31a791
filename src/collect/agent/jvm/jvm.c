/*
 * libcpprof-jvm.so, which a Java virtual machine loads (-agentpath:): writes a jitdump with the
 * code that the virtual machine generates, its methods, lines and inlined methods. It runs in the
 * virtual machine's own threads, outside of signal handlers.
 */
#include <errno.h>
#include <jvmti.h>
#include <jvmticmlr.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "collect/agent/jvm/parts.h"

/* --- inlined methods --- */

static void append_u32(struct buffer *entries, uint32_t value)
{
	buffer_append(entries, &value, sizeof(value));
}

static void begin_entry(struct buffer *entries, const void *address, uint32_t depth)
{
	uint64_t value = (uintptr_t)address;
	buffer_append(entries, &value, sizeof(value));
	append_u32(entries, depth);
	append_u32(entries, 0);
}

static void append_frame(struct buffer *entries, struct methods *methods, jmethodID id, jint bytecode)
{
	const struct method *method = methods_get(methods, id);
	append_u32(entries, method ? (uint32_t)method_line(method, bytecode) : 0);
	buffer_append_string(entries, method ? method->name : "?");
	buffer_append_byte(entries, 0);
	buffer_append_string(entries, method ? method->file : "");
	buffer_append_byte(entries, 0);
}

static int by_pc(const void *left, const void *right)
{
	const PCStackInfo *a = left, *b = right;
	return COMPARE(a->pc, b->pc);
}

/* The virtual machine describes the code up to each pc, which is a return address or the last
 * instruction of the code with the same methods. An entry is valid from its address on, which is
 * therefore behind the pc before. Returns the number of entries. */
static uint64_t append_inlined(struct buffer *entries, struct methods *methods, const void *code,
			       const jvmtiCompiledMethodLoadInlineRecord *record)
{
	qsort(record->pcinfo, (size_t)record->numpcs, sizeof(*record->pcinfo), by_pc);
	const void *from = code;
	for (jint i = 0; i < record->numpcs; i++) {
		const PCStackInfo *info = &record->pcinfo[i];
		begin_entry(entries, from, (uint32_t)info->numstackframes);
		for (jint frame = 0; frame < info->numstackframes; frame++)
			append_frame(entries, methods, info->methods[frame], info->bcis[frame]);
		from = (const char *)info->pc + 1;
	}
	begin_entry(entries, from, 0);
	return (uint64_t)record->numpcs + 1;
}

static int by_address(const void *left, const void *right)
{
	const jvmtiAddrLocationMap *a = left, *b = right;
	return COMPARE(a->start_address, b->start_address);
}

/* Without inlined methods, the virtual machine describes only the byte code of each address. */
static uint64_t append_lines(struct buffer *entries, struct methods *methods, jmethodID id, const void *code,
			     const jvmtiAddrLocationMap *map, jint length)
{
	jvmtiAddrLocationMap *sorted = malloc(((size_t)length + 1) * sizeof(*sorted));
	const void *from = code;
	if (!sorted)
		return 0;
	memcpy(sorted, map, (size_t)length * sizeof(*sorted));
	qsort(sorted, (size_t)length, sizeof(*sorted), by_address);
	for (jint i = 0; i < length; i++) {
		begin_entry(entries, from, 1);
		append_frame(entries, methods, id, (jint)sorted[i].location);
		from = (const char *)sorted[i].start_address + 1;
	}
	free(sorted);
	return (uint64_t)length;
}

static const jvmtiCompiledMethodLoadInlineRecord *inline_record(const void *info)
{
	const jvmtiCompiledMethodLoadRecordHeader *header = info;
	while (header && header->kind != JVMTI_CMLR_INLINE_INFO)
		header = header->next;
	return (const jvmtiCompiledMethodLoadInlineRecord *)header;
}

/* --- events --- */

static void JNICALL on_method(jvmtiEnv *jvmti, jmethodID id, jint bytes, const void *code, jint map_length,
			      const jvmtiAddrLocationMap *map, const void *info)
{
	struct methods methods = { .jvmti = jvmti };
	struct buffer entries;
	uint64_t count = 0;
	buffer_init(&entries);
	const jvmtiCompiledMethodLoadInlineRecord *record = inline_record(info);
	if (record && record->numpcs > 0)
		count = append_inlined(&entries, &methods, code, record);
	else if (map && map_length > 0)
		count = append_lines(&entries, &methods, id, code, map, map_length);
	const struct method *method = methods_get(&methods, id);
	bool has_entries = count > 0 && buffer_error(&entries) == 0;
	dump_code(method ? method->name : "?", code, (size_t)bytes, has_entries ? &entries : NULL, count);
	buffer_release(&entries);
	methods_release(&methods);
}

/* The interpreter, stubs and adapters. */
static void JNICALL on_other_code(jvmtiEnv *jvmti, const char *name, const void *code, jint bytes)
{
	(void)jvmti;
	dump_code(name, code, (size_t)bytes, NULL, 0);
}

/* --- loading --- */

static jvmtiError enable(jvmtiEnv *jvmti)
{
	static const jvmtiEvent events[] = { JVMTI_EVENT_COMPILED_METHOD_LOAD, JVMTI_EVENT_DYNAMIC_CODE_GENERATED };
	const jvmtiCapabilities capabilities = { .can_generate_compiled_method_load_events = 1,
						 .can_get_source_file_name = 1,
						 .can_get_line_numbers = 1 };
	const jvmtiEventCallbacks callbacks = { .CompiledMethodLoad = on_method,
						.DynamicCodeGenerated = on_other_code };
	jvmtiError error = (*jvmti)->AddCapabilities(jvmti, &capabilities);
	if (error == JVMTI_ERROR_NONE)
		error = (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof(callbacks));
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]) && error == JVMTI_ERROR_NONE; i++)
		error = (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, events[i], NULL);
	return error;
}

/* Returns JNI_OK also where nothing can be written: the program runs without names. */
static jint start(JavaVM *machine, jvmtiEnv **jvmti)
{
	if ((*machine)->GetEnv(machine, (void **)jvmti, JVMTI_VERSION_1_2) != JNI_OK) {
		fputs("cpprof: this virtual machine has no JVM TI: its code has no names\n", stderr);
		return JNI_OK;
	}
	if (!dump_open()) {
		fprintf(stderr, "cpprof: cannot create the jitdump: %s (set TMPDIR to a folder that can be written)\n",
			strerror(errno));
		*jvmti = NULL;
		return JNI_OK;
	}
	if (enable(*jvmti) != JVMTI_ERROR_NONE)
		fputs("cpprof: the virtual machine does not report its code: it has no names\n", stderr);
	return JNI_OK;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *machine, char *options, void *reserved)
{
	(void)options;
	(void)reserved;
	jvmtiEnv *jvmti = NULL;
	return start(machine, &jvmti);
}

/* jcmd PID JVMTI.agent_load: the code that exists is described now. */
JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *machine, char *options, void *reserved)
{
	(void)options;
	(void)reserved;
	jvmtiEnv *jvmti = NULL;
	jint status = start(machine, &jvmti);
	if (jvmti) {
		(*jvmti)->GenerateEvents(jvmti, JVMTI_EVENT_DYNAMIC_CODE_GENERATED);
		(*jvmti)->GenerateEvents(jvmti, JVMTI_EVENT_COMPILED_METHOD_LOAD);
	}
	return status;
}
