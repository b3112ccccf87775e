/* SPDX-License-Identifier: MIT */
/* Names of functions from symbols, without their code. */
#include <stdlib.h>
#include <string.h>

#include "runtime/core/arguments.h"
#include "runtime/library/library_module.h"
#include "lib/brief_errors.h"
#include "runtime/core/describer.h"
#include "runtime/core/visit_field.h"

struct library_module {
	struct tenon_module base;
	struct elf_file elf; /* path behind the struct; no symbols if the file is unknown */
	struct library_symbols symbols;
	struct tenon_object *keep;
};

static struct library_module *library_of(const struct tenon_module *m)
{
	return (struct library_module *)(uintptr_t)m;
}

static int library_each_function(struct tenon_module *m,
				 int (*visit)(void *context, struct tenon_slice name),
				 void *context)
{
	const struct library_module *l = library_of(m);
	struct elf_symbol symbol;
	struct tenon_slice name;
	uint64_t i;
	int err;

	for (i = 0; i < l->elf.symbols.count; i++) {
		elf_symbol(&l->elf, i, &symbol);
		if (!library_symbols_function(l->symbols.generation, &symbol, &name))
			continue;
		err = visit(context, name);
		if (err)
			return err;
	}
	return 0;
}

static PACKED_CALL(library_call)
{
	return tenon_error(-TENON_E_UNSUPPORTED,
			   "%s: opened for inspection only. Load the file to call functions",
			   library_of(self)->elf.path);
}

static int same_name(void *context, struct tenon_slice name)
{
	const struct tenon_slice *wanted = context;

	return tenon_slice_equal(*wanted, name);
}

static int library_get_function(struct tenon_module *m, struct tenon_slice name,
				struct tenon_function **out)
{
	int err;

	*out = NULL;
	if (!library_each_function(m, same_name, &name))
		return 0;
	tenon_object_ref(m);
	err = tenon_function_create(m, library_call, tenon_object_unref, out);
	if (err)
		tenon_object_unref(m);
	return err;
}

static int add_name(void *context, struct tenon_slice name)
{
	return visit_list_text(context, name);
}

static int library_visit(const struct tenon_module *m, const struct tenon_visitor *v)
{
	const struct library_module *l = library_of(m);
	struct visit_list names = { 0 };
	int err;

	if (!l->elf.bytes.size)
		return 0;
	err = visit_text(v, "machine", tenon_slice_of(elf_machine_name(&l->elf)));
	if (!err)
		err = visit_text(v, "generation",
				 tenon_slice_of(!l->symbols.generation ? "none"
						: l->symbols.generation == TENON_GENERATION_FFI
							? "ffi"
							: "legacy"));
	if (!err)
		err = visit_text(v, "tvm", tenon_slice_of(l->symbols.version));
	if (!err)
		err = visit_number(v, "size", l->elf.bytes.size);
	if (err)
		return err;
	library_each_function((struct tenon_module *)(uintptr_t)m, add_name, &names);
	return visit_list_show(&names, v, "functions");
}

static void library_destroy(struct tenon_module *m)
{
	tenon_object_unref(library_of(m)->keep);
}

static const struct tenon_module_ops library_ops = {
	.get_function = library_get_function,
	.each_function = library_each_function,
	.visit = library_visit,
	.destroy = library_destroy,
};

static struct library_module *library_new(const char *path)
{
	size_t length = strlen(path) + 1;
	struct library_module *l;

	l = calloc(1, sizeof(*l) + length);
	if (!l) {
		tenon_error(-TENON_E_NOMEM, "no memory for a module");
		return NULL;
	}
	memcpy(l + 1, path, length);
	l->elf.path = (const char *)(l + 1);
	/* In a saved blob it becomes `_lib` again, like any code compiled into the file. */
	tenon_module_init(&l->base, &library_ops, tenon_slice_of("library"),
			  TENON_MODULE_EXPORTABLE);
	return l;
}

int describe_stand_in(const char *file, struct tenon_module **out)
{
	struct library_module *l = library_new(file);

	*out = l ? &l->base : NULL;
	return l ? 0 : -TENON_E_NOMEM;
}

int library_module_inspect(const struct elf_file *elf, const struct library_symbols *symbols,
			   struct tenon_object *keep, struct tenon_module **out)
{
	struct library_module *l = library_new(elf->path);
	const char *path;

	*out = l ? &l->base : NULL;
	if (!l)
		return -TENON_E_NOMEM;
	path = l->elf.path;
	l->elf = *elf;
	l->elf.path = path;
	tenon_object_ref(keep);
	l->keep = keep;
	l->symbols = *symbols;
	return 0;
}
