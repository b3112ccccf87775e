/* SPDX-License-Identifier: MIT */
/* Write C source that registers a module when a program starts. */
#include "link/link_system.h"

#include <string.h>
#include <tenon/backend/buffer.h>

#include "lib/brief_errors.h"
#include "lib/elf.h"
#include "lib/file_map.h"
#include "lib/slice_text.h"
#include "runtime/kind/file_kind.h"

#define FFI_FUNCTION "__tvm_ffi_"

struct source {
	enum tenon_generation generation;
	const char *prefix;
	struct tenon_buffer declarations;
	struct tenon_buffer table;
	size_t count;
	bool has_function;
};

/* Names that can be written in C and in assembler. */
static bool is_plain(struct tenon_slice name)
{
	size_t i;

	for (i = 0; i < name.size; i++)
		if (!(name.data[i] == '_' || (name.data[i] >= '0' && name.data[i] <= '9') ||
		      (name.data[i] >= 'a' && name.data[i] <= 'z') ||
		      (name.data[i] >= 'A' && name.data[i] <= 'Z')))
			return false;
	return name.size > 0;
}

/* Variables that the runtime fills or reads. */
static bool is_variable(struct tenon_slice name)
{
	return slice_starts(name, "__TVM") || slice_starts(name, "__tvm_ffi__library_") ||
	       slice_starts(name, "__tvm_module_ctx") || slice_starts(name, "__tvm_dev_mblob") ||
	       slice_starts(name, "__tenon_artifacts");
}

/*
 * TVM 0.22 and later puts the prefix of a module behind that of functions, and before the name of
 * any other symbol.
 */
static void add_name(struct source *s, struct tenon_slice name)
{
	const size_t mark = strlen(FFI_FUNCTION);

	if (s->generation == TENON_GENERATION_FFI && !is_variable(name))
		tenon_buffer_printf(&s->table, "\t{ \"" FFI_FUNCTION "%s%.*s\"", s->prefix,
				    (int)(name.size - mark), name.data + mark);
	else
		tenon_buffer_printf(&s->table, "\t{ \"%s%.*s\"", s->prefix, (int)name.size,
				    name.data);
}

static bool is_wanted(const struct source *s, const struct elf_symbol *symbol)
{
	if (!symbol->defined || !symbol->global || symbol->section >= ELF_SECTION_RESERVED ||
	    !is_plain(symbol->name))
		return false;
	if (is_variable(symbol->name))
		return true;
	if (s->generation == TENON_GENERATION_FFI)
		return slice_starts(symbol->name, FFI_FUNCTION);
	return symbol->kind == ELF_SYMBOL_FUNCTION && symbol->name.data[0] != '_';
}

static void add_symbols(struct source *s, const struct elf_file *elf)
{
	struct elf_symbol symbol;
	uint64_t i;

	for (i = 0; i < elf->symbols.count; i++) {
		elf_symbol(elf, i, &symbol);
		if (!is_wanted(s, &symbol))
			continue;
		tenon_buffer_printf(&s->declarations, "extern char s%zu[] __asm__(\"%.*s\");\n",
				    s->count, (int)symbol.name.size, symbol.name.data);
		add_name(s, symbol.name);
		s->has_function |= !is_variable(symbol.name);
		tenon_buffer_printf(&s->table, ", s%zu },\n", s->count++);
	}
}

static int write_source(const struct source *s, struct tenon_buffer *out)
{
	const char *name = s->generation == TENON_GENERATION_FFI
				   ? "TVMFFIEnvModRegisterSystemLibSymbol"
				   : "TVMBackendRegisterSystemLibSymbol";

	if (s->declarations.status || s->table.status)
		return tenon_error(-TENON_E_NOMEM, "no memory for names of symbols");
	return tenon_buffer_printf(out,
				   "int %s(const char *name, void *address);\n"
				   "%s"
				   "static const struct {\n"
				   "\tconst char *name;\n"
				   "\tvoid *address;\n"
				   "} symbols[] = {\n"
				   "%s"
				   "};\n"
				   "__attribute__((constructor)) static void tenon_register(void)\n"
				   "{\n"
				   "\tunsigned int i;\n"
				   "\n"
				   "\tfor (i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++)\n"
				   "\t\t%s(symbols[i].name, symbols[i].address);\n"
				   "}\n",
				   name, s->declarations.data, s->table.data, name);
}

int link_system_source(const char *object, enum tenon_generation generation, const char *prefix,
		       struct tenon_buffer *out)
{
	struct source s = { .generation = generation, .prefix = prefix };
	struct tenon_slice bytes;
	struct elf_file elf;
	int err;

	err = file_map_open(object, &bytes);
	if (err)
		return err;
	err = file_open_elf(&elf, bytes, object);
	if (!err)
		add_symbols(&s, &elf);
	if (!err && !s.has_function)
		err = tenon_error(-TENON_E_NOT_FOUND,
				  "no function to register: export one with TENON_LAUNCHER");
	if (!err)
		err = write_source(&s, out);
	tenon_buffer_fini(&s.declarations);
	tenon_buffer_fini(&s.table);
	file_map_close(&bytes);
	return err;
}
