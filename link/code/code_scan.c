/* SPDX-License-Identifier: MIT */
/* Read instruction after instruction, beginning anew at each function. */
#include "link/code/code_scan.h"

#include <stdlib.h>
#include <string.h>
#include <tenon/error.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"
#include "runtime/library/processor_code.h"

#define SYMBOL_IFUNC 10

/* bytes of keys that are read: a file could have so many that each function takes long */
#define MOST_KEYS 256

/* bytes of a name in which a key is looked for: all names of a file could be one long text */
#define MOST_NAME 1024

/**
 * struct function - a function, by its symbol
 * @address: of its first byte; in a relocatable file, with the section in the upper half
 * @name: its name
 * @level: see struct code_scan; known if its name says it, or if it is global
 * @sure: @level is known
 */
struct function {
	uint64_t address;
	struct tenon_slice name;
	unsigned int level;
	bool sure;
};

/* All functions of a file by address. */
struct functions {
	struct function *at;
	size_t count;
};

/* ---- levels */

/* Test for a key behind a dot, at the end of a name or in front of what the compiler appended: ".x86_64_v3_compute_". */
static bool has_key(struct tenon_slice name, struct tenon_slice key)
{
	size_t i, end;

	name.size = name.size < MOST_NAME ? name.size : MOST_NAME;
	for (i = 0; i < name.size && key.size < name.size - i; i++) {
		end = i + 1 + key.size;
		if (name.data[i] == '.' && !memcmp(name.data + i + 1, key.data, key.size) &&
		    (end == name.size || name.data[end] == '_' || name.data[end] == '.'))
			return true;
	}
	return false;
}

/* The level of a key of a file. */
static unsigned int level_of(const struct code_machine *machine, struct tenon_slice key)
{
	unsigned int i;

	for (i = 1; i < machine->level_count; i++)
		if (tenon_slice_equal(key, tenon_slice_of(machine->levels[i].key)))
			return i;
	return CODE_LEVEL_OTHER;
}

/* The next word of @keys, which it is removed from; an empty one at the end. */
static struct tenon_slice next_key(struct tenon_slice *keys)
{
	struct tenon_slice key = { keys->data, 0 };

	while (key.size < keys->size && key.data[key.size] && key.data[key.size] != ' ')
		key.size++;
	if (key.size)
		keys->data += key.size;
	keys->size -= key.size;
	if (keys->size && *keys->data == ' ') {
		keys->data++;
		keys->size--;
	}
	return key;
}

static void find_level(const struct code_machine *machine, const struct elf_symbol *symbol,
		       struct tenon_slice keys, struct function *f)
{
	struct tenon_slice key;
	size_t longest = 0;

	f->sure = symbol->global || !keys.size;
	/* a key may begin with another: "x86_64_v4_avx512vnni" */
	while ((key = next_key(&keys)).size) {
		if (key.size <= longest || !has_key(symbol->name, key))
			continue;
		f->level = level_of(machine, key);
		f->sure = true;
		longest = key.size;
	}
}

/* A local function without a key belongs to an object file as its neighbours do; between two of them, to the greater level. */
static void spread_levels(const struct functions *list)
{
	unsigned int level = 0;
	size_t i;

	for (i = 0; i < list->count; i++) {
		if (list->at[i].sure)
			level = list->at[i].level;
		else
			list->at[i].level = level;
	}
	for (i = list->count, level = 0; i--;) {
		if (list->at[i].sure)
			level = list->at[i].level;
		else if (level > list->at[i].level)
			list->at[i].level = level;
	}
}

/* ---- functions */

static int by_address(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* Names of what code asks that chooses by itself. */
static bool asks(struct tenon_slice name)
{
	static const char *const names[] = { "__cpu_model",	"__cpu_indicator_init",
					     "__cpu_features2", "__aarch64_cpu_features",
					     "__get_cpuid",	"getauxval",
					     "__riscv_hwprobe" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (tenon_slice_equal(name, tenon_slice_of(names[i])))
			return true;
	return false;
}

static bool is_code(const struct elf_symbol *s)
{
	return s->defined && (s->kind == ELF_SYMBOL_FUNCTION || s->kind == SYMBOL_IFUNC) &&
	       s->section < ELF_SECTION_RESERVED;
}

/* The keys of code for several processors; empty in other files. */
static struct tenon_slice keys_of(const struct elf_file *elf)
{
	struct tenon_slice keys;
	struct elf_symbol s;
	uint64_t i;

	for (i = 0; i < elf->symbols.count; i++) {
		elf_symbol(elf, i, &s);
		if (!s.defined || !tenon_slice_equal(s.name, tenon_slice_of(PROCESSOR_KEYS)))
			continue;
		if (!elf_symbol_bytes(elf, &s, &keys)) {
			keys.size =
				strnlen(keys.data, keys.size < MOST_KEYS ? keys.size : MOST_KEYS);
			return keys;
		}
		tenon_error_clear();
	}
	return (struct tenon_slice){ NULL, 0 };
}

static int list_functions(const struct elf_file *elf, struct code_scan *scan, struct functions *out)
{
	const struct tenon_slice keys = keys_of(elf);
	const bool offsets = elf->type == ELF_RELOCATABLE;
	struct elf_symbol s;
	struct function *f;
	uint64_t i;

	/* not more than the file has bytes */
	out->at = calloc(elf->symbols.count + 1, sizeof(*out->at));
	if (!out->at)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu functions",
				   (size_t)elf->symbols.count);
	for (i = 0; i < elf->symbols.count; i++) {
		elf_symbol(elf, i, &s);
		scan->chooses |= asks(s.name) || s.kind == SYMBOL_IFUNC;
		if (!is_code(&s))
			continue;
		f = &out->at[out->count++];
		f->address = offsets ? (uint64_t)s.section << 48 | s.value : s.value;
		f->name = s.name;
		find_level(scan->machine, &s, keys, f);
	}
	qsort(out->at, out->count, sizeof(*out->at), by_address);
	spread_levels(out);
	return 0;
}

/* ---- code */

static void note(struct code_scan *scan, const struct function *f, uint64_t uses, uint64_t *noted)
{
	const unsigned int level = f ? f->level : 0;
	struct code_use *use;
	unsigned int i;

	scan->uses[level] |= uses;
	for (i = 0; i < scan->machine->count; i++) {
		if (!(uses & ~*noted & UINT64_C(1) << i))
			continue;
		use = &scan->at[level][i];
		if (!use->functions++ && f)
			use->function = f->name;
	}
	*noted |= uses;
}

/* Read the code of a function and what follows it up to the next: @size bytes at @at. */
static void sweep(struct code_scan *scan, const struct function *f, const uint8_t *at, size_t size)
{
	const struct code_machine *m = scan->machine;
	struct code_instruction i;
	uint64_t noted = 0;
	size_t next = 0, skip;

	while (next < size) {
		i = m->read(at + next, size - next);
		scan->chooses |= i.asks;
		if (i.uses & ~noted)
			note(scan, f, i.uses, &noted);
		skip = i.size;
		if (!skip) {
			skip = m->align - next % m->align;
			skip = skip < size - next ? skip : size - next;
			scan->unknown += skip;
		}
		next += skip;
	}
	scan->code += size;
}

/* Sweep a part of the code, function by function; @i is the first function behind its start. */
static void sweep_part(struct code_scan *scan, const struct functions *list,
		       const struct elf_code *part)
{
	uint64_t done = 0, end;
	size_t low = 0, high = list->count, i;

	while (low < high) {
		i = low + (high - low) / 2;
		if (list->at[i].address <= part->address)
			low = i + 1;
		else
			high = i;
	}
	for (i = low; done < part->bytes.size; i++) {
		end = part->bytes.size;
		if (i < list->count && list->at[i].address - part->address < end)
			end = list->at[i].address - part->address;
		sweep(scan, i && list->at[i - 1].address >= part->address ? &list->at[i - 1] : NULL,
		      (const uint8_t *)part->bytes.data + done, (size_t)(end - done));
		done = end;
	}
}

int code_scan(const struct elf_file *elf, struct code_scan *scan)
{
	struct functions list = { 0 };
	struct elf_file all = *elf;
	struct elf_code part;
	uint64_t index = 0;
	int err;

	memset(scan, 0, sizeof(*scan));
	scan->machine = elf->big ? NULL : code_machine_find(elf->machine, elf->wide);
	if (!scan->machine)
		return 0;
	elf_all_symbols(&all);
	err = list_functions(&all, scan, &list);
	/* tables may say that the same bytes are code many times */
	while (!err && scan->code < elf->bytes.size && elf_code(elf, &index, &part))
		sweep_part(scan, &list, &part);
	free(list.at);
	return err;
}
