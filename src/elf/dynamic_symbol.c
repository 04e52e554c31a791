#include "elf/dynamic_symbol.h"

#include <elf.h>
#include <string.h>

bool dynamic_symbols_open(struct dynamic_symbols *symbols, struct elf_file *file)
{
	symbols->hash = elf_file_section(file, ".gnu.hash");
	symbols->symbols = elf_file_section(file, ".dynsym");
	symbols->names = elf_file_section(file, ".dynstr");
	symbols->versions = elf_file_section(file, ".gnu.version");
	return symbols->hash.bytes && symbols->symbols.bytes && symbols->names.bytes;
}

void dynamic_symbols_close(const struct dynamic_symbols *symbols, struct elf_file *file)
{
	elf_file_release_part(file, &symbols->hash);
	elf_file_release_part(file, &symbols->symbols);
	elf_file_release_part(file, &symbols->names);
	elf_file_release_part(file, &symbols->versions);
}

static uint32_t hash_of(const char *name)
{
	enum { START = 5381, FACTOR = 33 };
	uint32_t hash = START;
	for (; *name; name++)
		hash = hash * FACTOR + (uint8_t)*name;
	return hash;
}

/* Reads a word of the hash table. Returns false if it ends before. */
static bool word_at(const struct elf_bytes *hash, uint64_t at, uint32_t *word)
{
	if (at + sizeof(*word) > hash->size)
		return false;
	memcpy(word, hash->bytes + at, sizeof(*word));
	return true;
}

/* Fills in symbol number `index` if it is defined and has this name. */
static bool is_named(const struct dynamic_symbols *symbols, uint32_t index, const char *name,
		     struct dynamic_symbol *symbol)
{
	Elf64_Sym entry;
	size_t length = strlen(name) + 1;
	if ((index + UINT64_C(1)) * sizeof(entry) > symbols->symbols.size)
		return false;
	memcpy(&entry, symbols->symbols.bytes + index * sizeof(entry), sizeof(entry));
	if (entry.st_shndx == SHN_UNDEF || entry.st_name >= symbols->names.size ||
	    symbols->names.size - entry.st_name < length ||
	    memcmp(symbols->names.bytes + entry.st_name, name, length) != 0)
		return false;
	*symbol = (struct dynamic_symbol){ .address = entry.st_value,
					   .size = entry.st_size,
					   .type = ELF64_ST_TYPE(entry.st_info) };
	return true;
}

/* Returns whether a symbol has a version that only programs get that were linked with it ("memcpy@GLIBC_2.2.5"). */
static bool is_old(const struct dynamic_symbols *symbols, uint32_t index)
{
	enum { HIDDEN = 0x8000 };
	uint16_t version = 0;
	if ((index + UINT64_C(1)) * sizeof(version) <= symbols->versions.size)
		memcpy(&version, symbols->versions.bytes + index * sizeof(version), sizeof(version));
	return version & HIDDEN;
}

/* The table: a header of four words, a filter of 64-bit words, a first symbol for each bucket, and a hash for each
 * symbol from the first one in the table on. The lowest bit of a hash marks the last symbol of its bucket. */
bool dynamic_symbols_find(const struct dynamic_symbols *symbols, const char *name, struct dynamic_symbol *symbol)
{
	enum { WORD = sizeof(uint32_t), HEADER_BYTES = 4 * WORD };
	const struct elf_bytes *table = &symbols->hash;
	uint32_t buckets, first, filter_words, hash = hash_of(name), index, chained;
	if (!word_at(table, 0, &buckets) || !word_at(table, WORD, &first) ||
	    !word_at(table, UINT64_C(2) * WORD, &filter_words) || buckets == 0)
		return false;
	uint64_t buckets_at = HEADER_BYTES + filter_words * (uint64_t)sizeof(uint64_t);
	uint64_t hashes_at = buckets_at + buckets * (uint64_t)WORD;
	bool found = false;
	if (!word_at(table, buckets_at + hash % buckets * (uint64_t)WORD, &index) || index < first)
		return false;
	do {
		if (!word_at(table, hashes_at + (index - first) * (uint64_t)WORD, &chained))
			return found;
		if ((chained | 1) == (hash | 1) && is_named(symbols, index, name, symbol)) {
			found = true;
			if (!is_old(symbols, index))
				return true;
		}
		index++;
	} while (!(chained & 1));
	return found;
}
