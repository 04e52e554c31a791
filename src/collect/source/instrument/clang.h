/* libclang's C interface. It is loaded at its first use, so that commands that do not instrument do not need it.
 * The newest installed version is chosen, and its own headers (<stddef.h>, ...) are searched beside it. */
#ifndef COLLECT_SOURCE_INSTRUMENT_CLANG_H
#define COLLECT_SOURCE_INSTRUMENT_CLANG_H

#include <clang-c/Index.h>
#include <stdbool.h>

#include "base/error.h"

struct instrument_arena;

/* The functions of libclang that are called, without their prefix "clang_". */
#define CLANG_CALLS(X)                \
	X(createIndex)                \
	X(disposeIndex)               \
	X(parseTranslationUnit2)      \
	X(disposeTranslationUnit)     \
	X(getNumDiagnostics)          \
	X(getDiagnostic)              \
	X(disposeDiagnostic)          \
	X(getDiagnosticSeverity)      \
	X(getDiagnosticSpelling)      \
	X(getDiagnosticLocation)      \
	X(getCString)                 \
	X(disposeString)              \
	X(getClangVersion)            \
	X(getTranslationUnitCursor)   \
	X(visitChildren)              \
	X(getCursorKind)              \
	X(isStatement)                \
	X(isExpression)               \
	X(isAttribute)                \
	X(isCursorDefinition)         \
	X(isInvalid)                  \
	X(getCursorSpelling)          \
	X(getCursorUSR)               \
	X(getCursorDisplayName)       \
	X(getCursorPrettyPrinted)     \
	X(Cursor_getMangling)         \
	X(Cursor_getCXXManglings)     \
	X(disposeStringSet)           \
	X(getCursorPrintingPolicy)    \
	X(PrintingPolicy_setProperty) \
	X(PrintingPolicy_dispose)     \
	X(CXXMethod_isConst)          \
	X(getCXXAccessSpecifier)      \
	X(getTypeDeclaration)         \
	X(getCursorSemanticParent)    \
	X(getCursorReferenced)        \
	X(getCursorDefinition)        \
	X(getCursorLocation)          \
	X(getCursorExtent)            \
	X(getRangeStart)              \
	X(getRangeEnd)                \
	X(getFileLocation)            \
	X(getExpansionLocation)       \
	X(getPresumedLocation)        \
	X(Location_isInSystemHeader)  \
	X(getFile)                    \
	X(getFileName)                \
	X(getFileContents)            \
	X(File_isEqual)               \
	X(getToken)                   \
	X(tokenize)                   \
	X(disposeTokens)              \
	X(getTokenSpelling)           \
	X(getTokenKind)               \
	X(getTokenLocation)           \
	X(Cursor_isFunctionInlined)   \
	X(Cursor_getStorageClass)     \
	X(getCursorTLSKind)           \
	X(getCursorLinkage)           \
	X(getSkippedRanges)           \
	X(disposeSourceRangeList)     \
	X(equalCursors)               \
	X(getCanonicalCursor)         \
	X(getCursorType)              \
	X(getCursorResultType)        \
	X(getCanonicalType)           \
	X(getTypeSpelling)            \
	X(getPointeeType)             \
	X(getArrayElementType)        \
	X(isConstQualifiedType)       \
	X(Type_visitFields)           \
	X(Cursor_getNumArguments)     \
	X(Cursor_getArgument)         \
	X(isFunctionTypeVariadic)     \
	X(CXXMethod_isVirtual)        \
	X(CXXMethod_isStatic)         \
	X(getTemplateCursorKind)      \
	X(getSpecializedCursorTemplate)

struct clang {
#define X(name) __typeof__(clang_##name) *name;
	CLANG_CALLS(X)
#undef X
	char *resource_directory; /* libclang's own headers are in its include/; NULL: not found */
	char *version;            /* "Debian clang version 14.0.6" */
};

/* Loads libclang at the first call. Returns NULL and sets ERROR_UNSUPPORTED, with the package to install, if it is
 * not installed or too old. */
const struct clang *clang_load(struct error *error);

/* Parses a file. `unsaved` [unsaved_count] are texts that replace the texts of files. Returns NULL and sets ERROR_FORMAT if
 * libclang cannot; errors in the text are diagnostics of the unit. */
CXTranslationUnit clang_parse(const struct clang *clang, CXIndex index, const char *path, const char *const *words,
			      size_t word_count, struct CXUnsavedFile *unsaved, size_t unsaved_count,
			      struct error *error);

/* Returns a copy of a string of libclang in the arena, or "" if there is no memory, and disposes of the string. */
const char *clang_text(const struct clang *clang, struct instrument_arena *arena, CXString string);

/* Sets ERROR_FORMAT with "file.c:12: text", and returns it. */
int clang_report(const struct clang *clang, CXDiagnostic diagnostic, struct error *error);

/* Returns whether a location is in the expansion of a macro. Values of libclang's enums differ between versions;
 * the bit of a location that marks macros does not. */
static inline bool clang_is_in_macro(CXSourceLocation location)
{
	return location.int_data >> 31;
}

#endif
