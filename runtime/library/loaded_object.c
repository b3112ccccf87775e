/* SPDX-License-Identifier: MIT */
/* Read the dynamic section and hash tables of a mapped object. */
#include "runtime/library/loaded_object.h"

#include "lib/brief_errors.h"

#include <dlfcn.h>
#include <string.h>
#include <tenon/error.h>

/* glibc relocates the addresses in the dynamic section on most machines, musl on none. */
static const void *dynamic_address(const struct loaded_object *o, ElfW(Addr) value)
{
	return (const void *)(value < o->base ? o->base + value : value);
}

static void gnu_hash_init(struct loaded_object *o, const uint32_t *table)
{
	uint32_t i, last = 0;

	o->bucket_count = table[0];
	o->first_hashed = table[1];
	o->bloom_size = table[2];
	o->bloom_shift = table[3];
	o->bloom = (const ElfW(Addr) *)(const void *)(table + 4);
	o->buckets = (const uint32_t *)(const void *)(o->bloom + o->bloom_size);
	o->chains = o->buckets + o->bucket_count - o->first_hashed;
	for (i = 0; i < o->bucket_count; i++)
		if (o->buckets[i] > last)
			last = o->buckets[i];
	if (last) {
		while (!(o->chains[last] & 1))
			last++;
		last++;
	} else {
		last = o->first_hashed;
	}
	if (last > o->symbol_count)
		o->symbol_count = last;
}

static void sysv_hash_init(struct loaded_object *o, const uint32_t *table)
{
	o->sysv_count = table[0];
	o->sysv_buckets = table + 2;
	o->sysv_chains = table + 2 + table[0];
	o->symbol_count = table[1];
}

int loaded_object_init(struct loaded_object *o, void *handle)
{
	struct link_map *map = NULL;
	const ElfW(Dyn) * d;

	memset(o, 0, sizeof(*o));
	if (dlinfo(handle, RTLD_DI_LINKMAP, &map) || !map)
		return tenon_error(-TENON_E_FORMAT, "the dynamic linker has no address for it");
	o->base = map->l_addr;
	o->dynamic = map->l_ld;
	for (d = map->l_ld; d->d_tag != DT_NULL; d++) {
		switch (d->d_tag) {
		case DT_SYMTAB:
			o->symbols = dynamic_address(o, d->d_un.d_ptr);
			break;
		case DT_STRTAB:
			o->strings = dynamic_address(o, d->d_un.d_ptr);
			break;
		case DT_STRSZ:
			o->strings_size = d->d_un.d_val;
			break;
		case DT_HASH:
			sysv_hash_init(o, dynamic_address(o, d->d_un.d_ptr));
			break;
		case DT_GNU_HASH:
			gnu_hash_init(o, dynamic_address(o, d->d_un.d_ptr));
			break;
		case DT_JMPREL:
			o->slots = dynamic_address(o, d->d_un.d_ptr);
			break;
		case DT_PLTRELSZ:
			o->slots_size = d->d_un.d_val;
			break;
		case DT_PLTREL:
			o->slots_rela = d->d_un.d_val == DT_RELA;
			break;
		case DT_BIND_NOW:
			o->bound_now = true;
			break;
		case DT_FLAGS:
			o->bound_now |= !!(d->d_un.d_val & DF_BIND_NOW);
			break;
		case DT_FLAGS_1:
			o->bound_now |= !!(d->d_un.d_val & DF_1_NOW);
			break;
		default:
			break;
		}
	}
	if (!o->symbols || !o->strings)
		return tenon_error(-TENON_E_FORMAT, "it has no dynamic symbols");
	return 0;
}

static bool symbol_is_defined(const ElfW(Sym) * s)
{
	unsigned int bind = ELF64_ST_BIND(s->st_info);

	return s->st_shndx != SHN_UNDEF && (bind == STB_GLOBAL || bind == STB_WEAK);
}

/* A weak symbol may be missing. */
static bool symbol_is_wanted(const ElfW(Sym) * s)
{
	return s->st_shndx == SHN_UNDEF && ELF64_ST_BIND(s->st_info) != STB_WEAK;
}

static bool symbol_is_code(const ElfW(Sym) * s)
{
	unsigned int type = ELF64_ST_TYPE(s->st_info);

	return type == STT_FUNC || type == STT_NOTYPE;
}

/* Skip indirect functions: their address needs a resolver call, and module compilers emit none. */
static bool symbol_matches(const struct loaded_object *o, const ElfW(Sym) * s, const char *name)
{
	return symbol_is_defined(s) && ELF64_ST_TYPE(s->st_info) != STT_GNU_IFUNC &&
	       ELF64_ST_TYPE(s->st_info) != STT_TLS && !strcmp(o->strings + s->st_name, name);
}

static uint32_t gnu_hash(const char *text)
{
	uint32_t hash = GNU_HASH_START;

	while (*text)
		hash = hash * 33 + (unsigned char)*text++;
	return hash;
}

#ifdef CONFIG_FAST_CALLS
struct loaded_name loaded_name(const char *text)
{
	return (struct loaded_name){ text, gnu_hash(text) };
}

static uint32_t hash_of(struct loaded_name name)
{
	return name.hash;
}
#else
static uint32_t hash_of(struct loaded_name name)
{
	return gnu_hash(name.text);
}
#endif

static const ElfW(Sym) * gnu_find(const struct loaded_object *o, struct loaded_name name)
{
	const unsigned int bits = 8 * sizeof(ElfW(Addr));
	const uint32_t hash = hash_of(name);
	ElfW(Addr) word;
	uint32_t i;

	word = o->bloom[hash / bits & (o->bloom_size - 1)];
	if (!(word >> hash % bits & word >> (hash >> o->bloom_shift) % bits & 1))
		return NULL;
	i = o->buckets[hash % o->bucket_count];
	if (!i)
		return NULL;
	for (;; i++) {
		if ((o->chains[i] | 1) == (hash | 1) &&
		    symbol_matches(o, &o->symbols[i], name.text))
			return &o->symbols[i];
		if (o->chains[i] & 1)
			return NULL;
	}
}

static const ElfW(Sym) * sysv_find(const struct loaded_object *o, const char *name)
{
	uint32_t hash = 0, high, i;
	const char *p;

	for (p = name; *p; p++) {
		hash = (hash << 4) + (unsigned char)*p;
		high = hash & 0xf0000000;
		hash = (hash ^ high >> 24) & ~high;
	}
	for (i = o->sysv_buckets[hash % o->sysv_count]; i; i = o->sysv_chains[i])
		if (symbol_matches(o, &o->symbols[i], name))
			return &o->symbols[i];
	return NULL;
}

bool loaded_object_find(const struct loaded_object *o, struct loaded_name name,
			struct loaded_symbol *out)
{
	const ElfW(Sym) *s = NULL;

	if (o->bucket_count)
		s = gnu_find(o, name);
	else if (o->sysv_count)
		s = sysv_find(o, name.text);
	if (!s)
		return false;
	out->address = (void *)(o->base + s->st_value);
	out->size = s->st_size;
	out->is_code = symbol_is_code(s);
	return true;
}

int loaded_object_each(const struct loaded_object *o, bool defined,
		       int (*visit)(void *context, const char *name, bool is_code), void *context)
{
	const ElfW(Sym) * s;
	int stop = 0;
	size_t i;

	for (i = 1; i < o->symbol_count && !stop; i++) {
		s = &o->symbols[i];
		if (s->st_name && s->st_name < o->strings_size &&
		    (defined ? symbol_is_defined(s) : symbol_is_wanted(s)))
			stop = visit(context, o->strings + s->st_name, symbol_is_code(s));
	}
	return stop;
}

bool loaded_object_needs(const struct loaded_object *o, const char *prefix)
{
	const ElfW(Dyn) * d;

	for (d = o->dynamic; d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_NEEDED && d->d_un.d_val < o->strings_size &&
		    !strncmp(o->strings + d->d_un.d_val, prefix, strlen(prefix)))
			return true;
	return false;
}

bool loaded_object_segment(const struct loaded_object *o, const void *address, uint64_t *offset,
			   size_t *left)
{
	const ElfW(Ehdr) *header = (const void *)o->base;
	uintptr_t at = (uintptr_t)address - o->base;
	const ElfW(Phdr) * p;
	unsigned int i;

	if (!o->base || memcmp(header->e_ident, ELFMAG, SELFMAG))
		return false;
	p = (const void *)(o->base + header->e_phoff);
	for (i = 0; i < header->e_phnum; i++, p++) {
		if (p->p_type != PT_LOAD || at < p->p_vaddr || at >= p->p_vaddr + p->p_filesz)
			continue;
		*offset = p->p_offset + (at - p->p_vaddr);
		*left = p->p_vaddr + p->p_filesz - at;
		return true;
	}
	return false;
}
