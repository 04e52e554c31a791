/* Integers of fixed size for eBPF programs and all other code. */
#ifndef ABI_INTEGERS_H
#define ABI_INTEGERS_H

#ifdef __bpf__
#define UINT8_MAX 0xffu
#define UINT32_MAX 0xffffffffu
#define UINT64_C(value) value##ull
typedef __u8 uint8_t;
typedef __u16 uint16_t;
typedef __u32 uint32_t;
typedef __u64 uint64_t;
typedef __s8 int8_t;
typedef __s16 int16_t;
typedef __s32 int32_t;
typedef __s64 int64_t;
#else
#include <stdbool.h>
#include <stdint.h>
#endif

#endif
