/* stdio. Reports show the checking functions, which programs compiled with _FORTIFY_SOURCE call, by the usual
 * names. Calls that the headers inline (getc_unlocked) are not counted. */
#include <stdarg.h>
#include <stdio.h>

#include "collect/agent/wrap/wrap.h"

/* <stdio.h> may define these as macros that loop over characters. */
#undef fread_unlocked
#undef fwrite_unlocked

/* Declared here because <stdio.h> does not declare all of them, and redirects other names to some. */
int __isoc99_vscanf(const char *format, va_list values);
int __isoc99_vfscanf(FILE *from, const char *format, va_list values);
int __isoc99_scanf(const char *format, ...);
int __isoc99_fscanf(FILE *from, const char *format, ...);
int __isoc23_vscanf(const char *format, va_list values);
int __isoc23_vfscanf(FILE *from, const char *format, va_list values);
int __isoc23_scanf(const char *format, ...);
int __isoc23_fscanf(FILE *from, const char *format, ...);
int __printf_chk(int flag, const char *format, ...);
int __fprintf_chk(FILE *to, int flag, const char *format, ...);
int __vprintf_chk(int flag, const char *format, va_list values);
int __vfprintf_chk(FILE *to, int flag, const char *format, va_list values);
char *__fgets_chk(char *to, size_t room, int bytes, FILE *from);
size_t __fread_chk(void *to, size_t room, size_t bytes, size_t count, FILE *from);
int _IO_getc(FILE *from);
int _IO_putc(int character, FILE *to);

/* --- files --- */

WRAP(FILE *, fopen, (const char *path, const char *mode), (path, mode))
WRAP_LIKE(fopen, FILE *, fopen64, (const char *path, const char *mode), (path, mode))
WRAP(FILE *, freopen, (const char *path, const char *mode, FILE *file), (path, mode, file))
WRAP_LIKE(freopen, FILE *, freopen64, (const char *path, const char *mode, FILE *file), (path, mode, file))
WRAP(FILE *, fdopen, (int fd, const char *mode), (fd, mode))
WRAP(int, fclose, (FILE * file), (file))
WRAP(FILE *, popen, (const char *command, const char *mode), (command, mode))
WRAP_WAIT(int, pclose, (FILE * file), (file))
WRAP(int, fflush, (FILE * file), (file))
WRAP(int, fseek, (FILE * file, long by, int from), (file, by, from))
WRAP(int, fseeko, (FILE * file, off_t by, int from), (file, by, from))
WRAP_LIKE(fseeko, int, fseeko64, (FILE * file, off64_t by, int from), (file, by, from))
WRAP(long, ftell, (FILE * file), (file))
WRAP(off_t, ftello, (FILE * file), (file))
WRAP_LIKE(ftello, off64_t, ftello64, (FILE * file), (file))
WRAP(void, rewind, (FILE * file), (file))

/* --- reading --- */

WRAP(size_t, fread, (void *to, size_t bytes, size_t count, FILE *from), (to, bytes, count, from))
WRAP_LIKE(fread, size_t, fread_unlocked, (void *to, size_t bytes, size_t count, FILE *from), (to, bytes, count, from))
WRAP_LIKE(fread, size_t, __fread_chk, (void *to, size_t room, size_t bytes, size_t count, FILE *from),
	  (to, room, bytes, count, from))
WRAP(char *, fgets, (char *to, int bytes, FILE *from), (to, bytes, from))
WRAP_LIKE(fgets, char *, fgets_unlocked, (char *to, int bytes, FILE *from), (to, bytes, from))
WRAP_LIKE(fgets, char *, __fgets_chk, (char *to, size_t room, int bytes, FILE *from), (to, room, bytes, from))
WRAP(int, fgetc, (FILE * from), (from))
WRAP(int, getc, (FILE * from), (from))
WRAP_LIKE(getc, int, _IO_getc, (FILE * from), (from))
WRAP(int, getchar, (void), ())
WRAP(int, ungetc, (int character, FILE *to), (character, to))
WRAP(ssize_t, getdelim, (char **line, size_t *bytes, int end, FILE *from), (line, bytes, end, from))
WRAP_LIKE(getdelim, ssize_t, __getdelim, (char **line, size_t *bytes, int end, FILE *from), (line, bytes, end, from))
WRAP(ssize_t, getline, (char **line, size_t *bytes, FILE *from), (line, bytes, from))

/* --- writing --- */

WRAP(size_t, fwrite, (const void *from, size_t bytes, size_t count, FILE *to), (from, bytes, count, to))
WRAP_LIKE(fwrite, size_t, fwrite_unlocked, (const void *from, size_t bytes, size_t count, FILE *to),
	  (from, bytes, count, to))
WRAP(int, fputs, (const char *text, FILE *to), (text, to))
WRAP_LIKE(fputs, int, fputs_unlocked, (const char *text, FILE *to), (text, to))
WRAP(int, puts, (const char *text), (text))
WRAP(int, fputc, (int character, FILE *to), (character, to))
WRAP(int, putc, (int character, FILE *to), (character, to))
WRAP_LIKE(putc, int, _IO_putc, (int character, FILE *to), (character, to))
WRAP(int, putchar, (int character), (character))
WRAP(void, perror, (const char *text), (text))

/* --- formats --- */

WRAP(int, vprintf, (const char *format, va_list values), (format, values))
WRAP(int, vfprintf, (FILE * to, const char *format, va_list values), (to, format, values))
WRAP(int, vdprintf, (int to, const char *format, va_list values), (to, format, values))
WRAP_LIKE(vprintf, int, __vprintf_chk, (int flag, const char *format, va_list values), (flag, format, values))
WRAP_LIKE(vfprintf, int, __vfprintf_chk, (FILE * to, int flag, const char *format, va_list values),
	  (to, flag, format, values))
/* <stdio.h> redirects vscanf and vfscanf to one of these names, depending on the C standard. */
WRAP_PROBE(vscanf_probe, "vscanf", CPPROF_KIND_FUNCTION);
WRAP_PROBE(vfscanf_probe, "vfscanf", CPPROF_KIND_FUNCTION);
WRAP_LIKE(vscanf, int, __isoc99_vscanf, (const char *format, va_list values), (format, values))
WRAP_LIKE(vfscanf, int, __isoc99_vfscanf, (FILE * from, const char *format, va_list values), (from, format, values))
WRAP_LIKE(vscanf, int, __isoc23_vscanf, (const char *format, va_list values), (format, values))
WRAP_LIKE(vfscanf, int, __isoc23_vfscanf, (FILE * from, const char *format, va_list values), (from, format, values))

/* Variadic functions pass their arguments to the real function that accepts a va_list. */
#define UNPACK(...) __VA_ARGS__
#define FORMATTING(descriptor, name, parameters, real_call) \
	INTERPOSED int name(UNPACK parameters, ...)         \
	{                                                   \
		va_list values;                             \
		WRAP_ENTER(descriptor);                     \
		va_start(values, format);                   \
		int result = real_call;                     \
		va_end(values);                             \
		return result;                              \
	}

WRAP_PROBE(printf_probe, "printf", CPPROF_KIND_FUNCTION);
WRAP_PROBE(fprintf_probe, "fprintf", CPPROF_KIND_FUNCTION);
WRAP_PROBE(dprintf_probe, "dprintf", CPPROF_KIND_FUNCTION);
WRAP_PROBE(scanf_probe, "scanf", CPPROF_KIND_FUNCTION);
WRAP_PROBE(fscanf_probe, "fscanf", CPPROF_KIND_FUNCTION);
FORMATTING(printf_probe, printf, (const char *format), REAL(vprintf)(format, values))
FORMATTING(fprintf_probe, fprintf, (FILE * to, const char *format), REAL(vfprintf)(to, format, values))
FORMATTING(dprintf_probe, dprintf, (int to, const char *format), REAL(vdprintf)(to, format, values))
FORMATTING(printf_probe, __printf_chk, (int flag, const char *format), REAL(__vprintf_chk)(flag, format, values))
FORMATTING(fprintf_probe, __fprintf_chk, (FILE * to, int flag, const char *format),
	   REAL(__vfprintf_chk)(to, flag, format, values))
FORMATTING(scanf_probe, __isoc99_scanf, (const char *format), REAL(__isoc99_vscanf)(format, values))
FORMATTING(fscanf_probe, __isoc99_fscanf, (FILE * from, const char *format),
	   REAL(__isoc99_vfscanf)(from, format, values))
FORMATTING(scanf_probe, __isoc23_scanf, (const char *format), REAL(__isoc23_vscanf)(format, values))
FORMATTING(fscanf_probe, __isoc23_fscanf, (FILE * from, const char *format),
	   REAL(__isoc23_vfscanf)(from, format, values))
