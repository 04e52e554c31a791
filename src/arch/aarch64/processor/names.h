/* The system's names for this processor. */
#ifndef ARCH_AARCH64_PROCESSOR_NAMES_H
#define ARCH_AARCH64_PROCESSOR_NAMES_H

#define ARCH_NAME "arm64"
#define ARCH_TARGET "aarch64"               /* the start of a compiler's --target= for it */
#define ARCH_MULTIARCH "aarch64-linux-gnu"  /* folder of its libraries and headers */
#define ARCH_LINKER "ld-linux-aarch64.so.1" /* the dynamic linker of glibc */
#define ARCH_ELF_MACHINE EM_AARCH64         /* of <elf.h> */

#define ARCH_PROFILER_HEADER "aarch64.h" /* in include/cpprof, once programs for arm64 can be instrumented */

/* The starts of the names of compilers for other processors, as patterns for fnmatch. */
#define ARCH_OTHER_COMPILERS \
	"arm-*", "armv*-", "x86_64*-", "riscv*-", "mips*-", "powerpc*-", "s390*-", "i[3-6]86-", "sparc*-", "avr-"

#endif
