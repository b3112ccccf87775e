/* SPDX-License-Identifier: MIT */
/* Read the symbols that tell generation and version. */
#include <inttypes.h>
#include <string.h>
#include <tenon/error.h>
#include <tenon/string.h>

#include "runtime/library/library_symbols.h"

#include "lib/brief_errors.h"
#include "lib/slice_text.h"
#include "lib/tvm_versions.h"

#define FFI_PREFIX "__tvm_ffi_"

/* symbols that indicate a version, one bit each */
enum mark {
	MARK_FFI_FUNCTION = 1 << 0,  /* __tvm_ffi_<name>: 0.22 and later */
	MARK_FFI_CALL = 1 << 1,	     /* 0.21 and later */
	MARK_FUNC_FROM_ENV = 1 << 2, /* up to 0.25 */
	MARK_LOOKUP = 1 << 3,	     /* 0.26 and later */
	MARK_ERROR_PARTS = 1 << 4,   /* 0.24 and later */
	MARK_LEGACY = 1 << 5,	     /* up to 0.20 */
};

static const struct {
	char name[36];
	uint8_t mark;
} marks[] = {
	{ "__TVMFFIFunctionCall", MARK_FFI_CALL },
	{ "__TVMFFIErrorSetRaisedFromCStr", MARK_FFI_CALL },
	{ "TVMFFIFunctionCall", MARK_FFI_CALL },
	{ "TVMFFIErrorSetRaisedFromCStr", MARK_FFI_CALL },
	{ "__TVMBackendGetFuncFromEnv", MARK_FUNC_FROM_ENV },
	{ "TVMBackendGetFuncFromEnv", MARK_FUNC_FROM_ENV },
	{ "__TVMFFIEnvModLookupFromImports", MARK_LOOKUP },
	{ "TVMFFIEnvModLookupFromImports", MARK_LOOKUP },
	{ "TVMFFIErrorSetRaisedFromCStrParts", MARK_ERROR_PARTS },
	{ "__TVMFuncCall", MARK_LEGACY },
	{ "TVMFuncCall", MARK_LEGACY },
	{ "__TVMAPISetLastError", MARK_LEGACY },
	{ "TVMAPISetLastError", MARK_LEGACY },
	{ "__tvm_main__", MARK_LEGACY },
	{ "__tvm_module_ctx", MARK_LEGACY },
	{ "__tvm_dev_mblob", MARK_LEGACY },
};

static unsigned int mark_of(struct tenon_slice name)
{
	size_t i;

	for (i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (slice_is(name, marks[i].name))
			return marks[i].mark;
	return 0;
}

static const char *version_of(unsigned int seen)
{
	if (seen & MARK_FFI_FUNCTION) {
		if (seen & MARK_LOOKUP)
			return "0.26 or later";
		if (seen & MARK_ERROR_PARTS)
			return seen & MARK_FUNC_FROM_ENV ? "0.24 to 0.25" : "0.24 or later";
		return seen & MARK_FUNC_FROM_ENV ? "0.22 to 0.25" : "0.22 or later";
	}
	if (seen & MARK_FFI_CALL)
		return "0.21";
	return seen & (MARK_LEGACY | MARK_FUNC_FROM_ENV) ? TVM_CALLS_LEGACY : "";
}

static enum tenon_generation blob_generation(struct tenon_slice name)
{
	/* A system library adds its own prefix to the names that it registers. */
	if (slice_ends(name, tenon_slice_of("__tvm_ffi__library_bin")))
		return TENON_GENERATION_FFI;
	if (slice_ends(name, tenon_slice_of("__tvm_ffi_library_bin")) ||
	    slice_ends(name, tenon_slice_of("__tvm_dev_mblob")))
		return TENON_GENERATION_LEGACY;
	return TENON_GENERATION_NONE;
}

static void note_blob(struct library_symbols *out, const struct elf_symbol *symbol)
{
	enum tenon_generation generation = blob_generation(symbol->name);

	if (!generation || !symbol->defined || symbol->kind == ELF_SYMBOL_FUNCTION ||
	    generation <= out->blob_generation)
		return;
	out->blob_generation = generation;
	out->has_blob = true;
	out->blob = *symbol;
}

bool library_symbols_function(enum tenon_generation generation, const struct elf_symbol *symbol,
			      struct tenon_slice *name)
{
	const size_t prefix = sizeof(FFI_PREFIX) - 1;

	*name = symbol->name;
	if (!symbol->defined || !symbol->global || symbol->kind != ELF_SYMBOL_FUNCTION)
		return false;
	if (generation != TENON_GENERATION_FFI)
		return name->size && !slice_starts(*name, "__") && !slice_starts(*name, "_init") &&
		       !slice_starts(*name, "_fini");
	if (!slice_starts(*name, FFI_PREFIX) || name->size == prefix)
		return false;
	name->data += prefix;
	name->size -= prefix;
	/* exclude context variables and descriptions, which are not functions of the model */
	return !slice_starts(*name, "_library_") && !slice_starts(*name, "_metadata_") &&
	       !slice_starts(*name, "_doc_");
}

int library_symbols_read(const struct elf_file *elf, struct library_symbols *out)
{
	unsigned int seen = 0;
	struct elf_symbol symbol;
	struct tenon_slice name;
	uint64_t i, length = 0;

	memset(out, 0, sizeof(*out));
	for (i = 0; i < elf->symbols.count; i++) {
		elf_symbol(elf, i, &symbol);
		length += symbol.name.size;
		if (length > elf->bytes.size)
			return tenon_error(-TENON_E_FORMAT,
					   "%s: the names of its %" PRIu64
					   " symbols are longer together than the file of %zu "
					   "bytes",
					   elf->path, elf->symbols.count, elf->bytes.size);
		seen |= mark_of(symbol.name);
		if (library_symbols_function(TENON_GENERATION_FFI, &symbol, &name))
			seen |= MARK_FFI_FUNCTION;
		note_blob(out, &symbol);
	}
	if (out->blob_generation == TENON_GENERATION_FFI)
		seen |= MARK_FFI_FUNCTION;
	out->version = version_of(seen);
	if (seen & MARK_FFI_FUNCTION)
		out->generation = TENON_GENERATION_FFI;
	else if (*out->version)
		out->generation = TENON_GENERATION_LEGACY;
	for (i = 0; i < elf->symbols.count; i++) {
		elf_symbol(elf, i, &symbol);
		out->function_count += library_symbols_function(out->generation, &symbol, &name);
	}
	return 0;
}
