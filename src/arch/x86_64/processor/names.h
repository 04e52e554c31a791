/* The system's names for this processor. */
#ifndef ARCH_X86_64_PROCESSOR_NAMES_H
#define ARCH_X86_64_PROCESSOR_NAMES_H

#define ARCH_NAME "x86-64"
#define ARCH_TARGET "x86_64"               /* start of a compiler's --target= */
#define ARCH_MULTIARCH "x86_64-linux-gnu"  /* folder of its libraries and headers */
#define ARCH_LINKER "ld-linux-x86-64.so.2" /* the dynamic linker of glibc */
#define ARCH_ELF_MACHINE EM_X86_64         /* in <elf.h> */

#define ARCH_PROFILER_HEADER "x86_64.h" /* in include/cpprof */

/* Starts of the names of compilers for other processors, as patterns of fnmatch. */
#define ARCH_OTHER_COMPILERS \
	"arm*-", "aarch64*-", "riscv*-", "mips*-", "powerpc*-", "s390*-", "i[3-6]86-", "sparc*-", "avr-"

#endif
