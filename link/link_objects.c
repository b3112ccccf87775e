/* SPDX-License-Identifier: MIT */
/* Read the symbols of objects and find duplicates and missing ones. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"
#include "lib/elf.h"
#include "lib/file_map.h"
#include "lib/slice_text.h"
#include "lib/string_map.h"
#include "link/link_request.h"
#include "runtime/kind/file_kind.h"

/* where a symbol was seen first */
struct definition {
	const struct link_object *object;
	bool weak;
};

struct check {
	struct string_map symbols; /* name to struct definition */
	struct definition *definitions;
	size_t used;
	bool allow_weak;
};

/*
 * Names that compilers define weakly in every object so that they are merged: variables that the
 * runtime fills, and helpers for half precision.
 */
static bool is_shared(struct tenon_slice name)
{
	static const char *const prefixes[] = { "__TVM",       "__tvm_",       ".tvm_func",
						"__truncsfhf", "__extendhfsf", "__gnu_h2f",
						"__gnu_f2h",   "DW.ref." };
	size_t i;

	for (i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (slice_starts(name, prefixes[i]))
			return true;
	return false;
}

static int twice(const struct definition *first, const struct link_object *object,
		 struct tenon_slice name, bool weak)
{
	if (!weak && !first->weak)
		return tenon_error(-TENON_E_EXISTS,
				   "%s and %s both define %.*s: make it static in one of them, or "
				   "rename it",
				   first->object->source, object->source, (int)name.size,
				   name.data);
	return tenon_error(-TENON_E_EXISTS,
			   "%s and %s both define %.*s, %s: the linker would take one of them for "
			   "both. Make it static or rename it, or accept that with --allow weak",
			   first->object->source, object->source, (int)name.size, name.data,
			   weak && first->weak ? "weakly" : "one of them weakly");
}

static int add_symbol(struct check *c, const struct link_object *object,
		      const struct elf_symbol *symbol)
{
	struct definition *d;
	void **slot;
	bool weak;

	slot = string_map_slot(&c->symbols, symbol->name);
	if (!slot)
		return tenon_error(-TENON_E_NOMEM, "no memory for the symbols of %s",
				   object->source);
	if (!*slot) {
		*slot = d = &c->definitions[c->used++];
		d->object = object;
		d->weak = symbol->weak;
		return 0;
	}
	d = *slot;
	weak = symbol->weak || d->weak;
	if (d->object == object || (weak && (c->allow_weak || is_shared(symbol->name))))
		return 0;
	return twice(d, object, symbol->name, symbol->weak);
}

static int add_symbols(struct check *c, const struct link_object *object,
		       const struct elf_file *elf)
{
	struct elf_symbol symbol;
	uint64_t i;
	int err = 0;

	for (i = 0; i < elf->symbols.count && !err; i++) {
		elf_symbol(elf, i, &symbol);
		if (symbol.defined && symbol.global && symbol.name.size &&
		    symbol.section < ELF_SECTION_RESERVED)
			err = add_symbol(c, object, &symbol);
	}
	return err;
}

int link_object_open(const struct link_object *object, struct link_object_file *out)
{
	int err;

	err = file_map_open(object->path, &out->bytes);
	if (err)
		return err;
	if (out->bytes.size >= 7 && !memcmp(out->bytes.data, "!<arch>", 7)) {
		file_map_close(&out->bytes);
		return 0;
	}
	err = file_open_elf(&out->elf, out->bytes, object->source);
	if (!err && out->elf.type != ELF_RELOCATABLE)
		err = tenon_error(
			-TENON_E_FORMAT,
			"%s: an ELF file, but not an object file (.o): compile its source "
			"with -c",
			object->source);
	return err;
}

static int check_machine(const struct link_object *object, const struct elf_file *elf,
			 const struct elf_file *want)
{
	char machine[32];

	if (elf->machine == want->machine && elf->wide == want->wide && elf->big == want->big)
		return 0;
	/* the name of an unknown machine is in a buffer that is used again */
	strncpy(machine, elf_machine_name(elf), sizeof(machine) - 1);
	machine[sizeof(machine) - 1] = 0;
	return tenon_error(-TENON_E_VALUE,
			   "%s is for %s, and the compiler makes code for %s: set CC to a compiler "
			   "for %s, as in CC=aarch64-linux-gnu-gcc, or compile the object anew",
			   object->source, machine, elf_machine_name(want), machine);
}

static int add_object(struct check *c, const struct link_object *object,
		      const struct link_object_file *file, const struct elf_file *want)
{
	int err;

	if (!file->bytes.data)
		return 0;
	err = check_machine(object, &file->elf, want);
	return err ? err : add_symbols(c, object, &file->elf);
}

/* One allocation for all definitions: the map keeps pointers to them. */
static int reserve(struct check *c, const struct link_object_file *files, size_t count)
{
	uint64_t symbols = 1;
	size_t i;

	for (i = 0; i < count; i++)
		symbols += files[i].bytes.data ? files[i].elf.symbols.count : 0;
	c->definitions = calloc((size_t)symbols, sizeof(*c->definitions));
	if (!c->definitions)
		return tenon_error(-TENON_E_NOMEM, "no memory for %" PRIu64 " symbols", symbols);
	return 0;
}

int link_check_objects(const struct link_object *objects, size_t count, const char *machine,
		       bool allow_weak)
{
	const struct link_object made = { .path = (char *)(uintptr_t)machine, .source = machine };
	struct link_object_file *files = calloc(count + 1, sizeof(*files));
	struct check c = { .allow_weak = allow_weak };
	size_t i;
	int err = 0;

	if (!files)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu objects", count);
	err = link_object_open(&made, &files[count]);
	for (i = 0; i < count && !err; i++)
		err = link_object_open(&objects[i], &files[i]);
	if (!err)
		err = reserve(&c, files, count);
	for (i = 0; i < count && !err; i++)
		err = add_object(&c, &objects[i], &files[i], &files[count].elf);
	string_map_fini(&c.symbols);
	free(c.definitions);
	for (i = 0; i <= count; i++)
		file_map_close(&files[i].bytes);
	free(files);
	return err;
}
