/* The symbols that objects define and use, by their tables of dynamic symbols. Definitions are found by DT_GNU_HASH:
 *
 *     header | Bloom filter: words | buckets: first symbol of each, or 0 | chains: hash of each symbol, bit 0 ends it
 */
#include "collect/agent/core/defined.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct hash_header {
	uint32_t buckets, first_symbol, words, shift;
};

struct object_symbols {
	const struct hash_header *hash;
	const ElfW(Rela) * relocations[2]; /* NULL: none */
	size_t bytes[2];                   /* of the relocations */
	const ElfW(Sym) * symbols;
	const char *names;
	const ElfW(Half) * versions; /* by symbol; NULL: the object has none */
};

/* The dynamic linker adds the object's address to the entries of tables that it can write to. */
static const void *address_of(const struct link_map *map, ElfW(Addr) value)
{
	return (const void *)(value < map->l_addr ? value + map->l_addr : value);
}

static struct object_symbols symbols_of(const struct link_map *map)
{
	struct object_symbols found = { 0 };
	for (const ElfW(Dyn) *entry = map->l_ld; entry && entry->d_tag != DT_NULL; entry++) {
		const void *address = address_of(map, entry->d_un.d_ptr);
		if (entry->d_tag == DT_GNU_HASH)
			found.hash = address;
		else if (entry->d_tag == DT_SYMTAB)
			found.symbols = address;
		else if (entry->d_tag == DT_STRTAB)
			found.names = address;
		else if (entry->d_tag == DT_VERSYM)
			found.versions = address;
		else if (entry->d_tag == DT_RELA)
			found.relocations[0] = address;
		else if (entry->d_tag == DT_JMPREL)
			found.relocations[1] = address;
		else if (entry->d_tag == DT_RELASZ)
			found.bytes[0] = entry->d_un.d_val;
		else if (entry->d_tag == DT_PLTRELSZ)
			found.bytes[1] = entry->d_un.d_val;
	}
	return found;
}

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 5381;
	for (; *name; name++)
		hash = hash * 33 + (uint8_t)*name;
	return hash;
}

/* dlsym without a version does not find symbols of an old version only. */
static bool is_visible(const struct object_symbols *object, uint32_t symbol)
{
	enum { HIDDEN = 0x8000, LAST_UNNAMED = 1 };
	bool is_old = object->versions && (object->versions[symbol] & HIDDEN) &&
		      (object->versions[symbol] & ~HIDDEN) > LAST_UNNAMED;
	return object->symbols[symbol].st_shndx != SHN_UNDEF && !is_old;
}

static bool has_symbol(const struct object_symbols *object, const char *name, uint32_t hash)
{
	enum { WORD_BITS = sizeof(ElfW(Addr)) * 8 };
	const struct hash_header *header = object->hash;
	const ElfW(Addr) *filter = (const ElfW(Addr) *)(header + 1);
	const uint32_t *buckets = (const uint32_t *)(filter + header->words);
	const uint32_t *chains = buckets + header->buckets;
	ElfW(Addr) word = filter[hash / WORD_BITS % header->words];
	if (!(word >> hash % WORD_BITS & word >> (hash >> header->shift) % WORD_BITS & 1))
		return false;
	for (uint32_t symbol = buckets[hash % header->buckets]; symbol >= header->first_symbol && symbol; symbol++) {
		uint32_t own = chains[symbol - header->first_symbol];
		if ((own | 1) == (hash | 1) && is_visible(object, symbol) &&
		    strcmp(object->names + object->symbols[symbol].st_name, name) == 0)
			return true;
		if (own & 1)
			return false;
	}
	return false;
}

static bool may_define(const struct link_map *map, const char *name, uint32_t hash)
{
	struct object_symbols object = symbols_of(map);
	if (!object.symbols || !object.names)
		return false;
	return !object.hash || object.hash->words == 0 || object.hash->buckets == 0 || has_symbol(&object, name, hash);
}

bool defined_somewhere(const char *name, bool behind_us)
{
	struct dl_find_object ours;
	if (_dl_find_object((void *)(uintptr_t)&defined_somewhere, &ours) != 0 || !ours.dlfo_link_map)
		return true;
	uint32_t hash = hash_of(name);
	const struct link_map *map = behind_us ? ours.dlfo_link_map->l_next : ours.dlfo_link_map;
	while (!behind_us && map->l_prev)
		map = map->l_prev;
	for (; map; map = map->l_next)
		if (may_define(map, name, hash))
			return true;
	return false;
}

bool defined_program_uses(const char *name)
{
	enum { SYMBOL_SHIFT = 32 };
	struct object_symbols object = symbols_of(_r_debug.r_map);
	for (size_t i = 0; i < 2 && object.symbols && object.names && object.relocations[i]; i++) {
		const ElfW(Rela) *relocations = object.relocations[i];
		for (size_t at = 0; at < object.bytes[i] / sizeof(*relocations); at++) {
			uint64_t symbol = relocations[at].r_info >> SYMBOL_SHIFT;
			if (symbol && strcmp(object.names + object.symbols[symbol].st_name, name) == 0)
				return true;
		}
	}
	return false;
}
