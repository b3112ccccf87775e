/* SPDX-License-Identifier: MIT */
/* Find what a file uses: by its symbols, its import tree, its payloads and the description of its model. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <tenon/array.h>
#include <tenon/link.h>
#include <tenon/model.h>

#include "lib/slice_text.h"
#include "lib/tvm_versions.h"
#include "link/module/link_host.h"
#include "link/module/link_payload.h"
#include "runtime/library/processor_code.h"
#include "runtime/payload/payload_format.h"
#include "tools/needs/needs.h"
#include "tools/program/program_file.h"

/* A file that is read, and its name without folders. */
struct reading {
	struct needs *needs;
	const char *file;
	const char *name;
};

static int add(struct reading *r, enum needs_sort sort, const char *name)
{
	return needs_add(r->needs, sort, tenon_slice_of(name));
}

static int add_option(struct reading *r, const char *option, const char *part)
{
	return needs_add_option(r->needs, tenon_slice_of(option), r->name, part);
}

static int add_dtype(struct reading *r, DLDataType dtype)
{
	char name[TENON_DTYPE_NAME];

	return dtype.bits ? add(r, NEEDS_DTYPE, tenon_dtype_name(dtype, name)) : 0;
}

/* ---- kinds of modules */

/* Add a name in small letters. */
static int add_small(struct reading *r, enum needs_sort sort, struct tenon_slice name)
{
	char text[64];
	size_t i;

	for (i = 0; i < name.size && i < sizeof(text) - 1; i++)
		text[i] = (char)tolower((unsigned char)name.data[i]);
	return needs_add(r->needs, sort, (struct tenon_slice){ text, i });
}

static bool take_prefix(struct tenon_slice *name, const char *prefix)
{
	const size_t size = strlen(prefix);

	if (name->size <= size || memcmp(name->data, prefix, size) != 0)
		return false;
	name->data += size;
	name->size -= size;
	return true;
}

static bool take_suffix(struct tenon_slice *name, const char *suffix)
{
	const size_t size = strlen(suffix);

	if (name->size <= size || memcmp(name->data + name->size - size, suffix, size) != 0)
		return false;
	name->size -= size;
	return true;
}

static bool begins(struct tenon_slice name, const char *prefix)
{
	return take_prefix(&name, prefix);
}

static bool ends(struct tenon_slice name, const char *suffix)
{
	return take_suffix(&name, suffix);
}

/* Add an option of a kind, and what it is: "DEVICE_OPENCL" is a backend, "RELAX_VM" an executor. */
static int add_part(struct reading *r, struct tenon_slice option, const char *part)
{
	int err = needs_add_option(r->needs, option, r->name, part);

	if (err)
		return err;
	if (take_prefix(&option, "DEVICE_")) {
		err = add_small(r, NEEDS_BACKEND, option);
		return err ? err : add_option(r, "DEVICES", part);
	}
	return take_suffix(&option, "_EXECUTOR") || take_suffix(&option, "_VM")
		       ? add_small(r, NEEDS_EXECUTOR, option)
		       : 0;
}

/*
 * Add the options that the remedy of a format names, "Enable CONFIG_DEVICE_OPENCL …": the message for a
 * module without a loader says the same.
 */
static int add_kind(struct reading *r, struct tenon_slice kind,
		    const struct tenon_payload_format *format)
{
	const char *remedy = PAYLOAD_SLOT(format, remedy);
	const char *at = remedy ? strstr(remedy, "CONFIG_") : NULL;
	struct tenon_slice option;
	char part[96];
	int err = 0;

	if (!at)
		return needs_add(r->needs, NEEDS_UNSUPPORTED, kind);
	snprintf(part, sizeof(part), "%.*s", kind.size < sizeof(part) ? (int)kind.size : 90,
		 kind.data);
	for (; at && !err; at = strstr(option.data, "CONFIG_")) {
		option.data = at + strlen("CONFIG_");
		option.size = strspn(option.data, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
		err = add_part(r, option, part);
	}
	return err;
}

/* ---- payloads */

static int add_kernel(struct reading *r, const struct tenon_payload_function *f)
{
	const unsigned char *at = (const unsigned char *)f->arg_types.data;
	size_t i;
	int err = 0;

	for (i = 0; i + 4 <= f->arg_types.size && !err; i += 4)
		err = add_dtype(r, (DLDataType){ at[i], at[i + 1],
						 (uint16_t)(at[i + 2] | at[i + 3] << 8) });
	return err;
}

static int add_format(struct reading *r, struct tenon_slice kind, struct tenon_slice format)
{
	char text[128];

	snprintf(text, sizeof(text), "%.*s%s%.*s", slice_shown(kind, 80), kind.data,
		 format.size ? " " : "", slice_shown(format, 40), format.data ? format.data : "");
	return add(r, NEEDS_FORMAT, text);
}

static int add_called(void *context, struct tenon_slice name)
{
	struct reading *r = context;

	return needs_add(r->needs, NEEDS_CALLED, name);
}

static int read_payload(struct reading *r, const struct link_host *h, size_t module)
{
	const struct import_entry *e = &h->tree.entries[module];
	const struct tenon_payload_format *format = payload_format_of(e->kind);
	struct tenon_payload_info info = { 0 };
	size_t i;
	int err;

	err = add_kind(r, e->kind, format);
	if (!err)
		err = link_payload_check(e->kind, e->bytes, r->file, h->source.generation,
					 h->tree.dialect, &info);
	if (!err)
		err = add_format(r, e->kind, info.format);
	if (!err && info.has_kernels && h->symbols.blob_generation == TENON_GENERATION_LEGACY)
		err = add_option(r, "DEVICES", "a program of a device");
	for (i = 0; i < info.function_count && !err && info.has_kernels; i++)
		err = add_kernel(r, &info.functions[i]);
	if (!err && begins(e->kind, "relax."))
		err = payload_relax_each_called(e->bytes, add_called, r);
	payload_info_fini(&info);
	return err;
}

static int read_payloads(struct reading *r, const struct link_host *h)
{
	size_t i;
	int err = 0;

	for (i = 0; h->symbols.has_blob && i < h->tree.count && !err; i++)
		if (i != h->tree.library)
			err = read_payload(r, h, i);
	return err;
}

/* ---- the code of the host */

/* A symbol of the host's code: functions of the runtime are imported, or called by way of variables. */
static int read_symbol(struct reading *r, const struct elf_symbol *s)
{
	char part[80];
	int err = 0;

	snprintf(part, sizeof(part), "%.*s", slice_shown(s->name, 70), s->name.data);
	if (!s->defined && begins(s->name, "TVM")) {
		err = needs_add(r->needs, NEEDS_RUNTIME, s->name);
		if (!err)
			err = add_option(r, "TVM_FFI_COMPAT", part);
	}
	if (!err && ends(s->name, "TVMBackendParallelLaunch"))
		err = add_option(r, "THREAD_POOL", part);
	if (!err && s->defined && tenon_slice_equal(s->name, tenon_slice_of(PROCESSOR_KEYS)))
		err = add_option(r, "FAST_CALLS", "code for several processors");
	return err;
}

static int read_host(struct reading *r, const struct link_host *h)
{
	struct elf_symbol symbol;
	uint64_t i;
	int err = add_option(r, "DSO", "a shared object");

	if (!err &&
	    (h->symbols.generation == TENON_GENERATION_LEGACY ||
	     (h->symbols.has_blob && h->symbols.blob_generation == TENON_GENERATION_LEGACY)))
		err = add_option(r, "TVM_LEGACY", "TVM " TVM_BLOB_LEGACY);
	for (i = 0; i < h->elf.symbols.count && !err; i++) {
		elf_symbol(&h->elf, i, &symbol);
		err = read_symbol(r, &symbol);
	}
	return err;
}

/* ---- functions of the files, and the model */

static int read_functions(struct reading *r, const struct tenon_link_inspection *in)
{
	const struct tenon_array *names;
	struct tenon_slice name;
	size_t i;
	int64_t k;
	int err = 0;

	for (i = 0; i < in->module_count; i++) {
		names = in->modules[i]->functions;
		for (k = 0; names && k < names->size && !err; k++) {
			err = tenon_value_text(&names->data[k], &name);
			if (!err)
				err = needs_add(r->needs, NEEDS_PROVIDED, name);
		}
	}
	return err;
}

static int read_operator(void *context, size_t index, const struct tenon_op *op)
{
	return op->function.size ? add_called(context, op->function) : 0;
}

static int read_ports(struct reading *r, struct tenon_model *model)
{
	struct tenon_model_value value;
	struct tenon_port port;
	size_t i;
	int err = 0;

	for (i = 0; i < tenon_model_input_count(model) && !err; i++)
		if (!tenon_model_input(model, i, &port))
			err = add_dtype(r, port.dtype);
	for (i = 0; i < tenon_model_output_count(model) && !err; i++)
		if (!tenon_model_output(model, i, &port))
			err = add_dtype(r, port.dtype);
	for (i = 0; i < tenon_model_value_count(model) && !err; i++)
		if (!tenon_model_value_at(model, i, &value))
			err = add_dtype(r, value.port.dtype);
	return err;
}

/* What only an executor of this build tells; files that it cannot describe have their payloads read anyway. */
static int read_model(struct reading *r, struct tenon_module *root)
{
	const struct tenon_model_options o = { .size = sizeof(o), .describe = true };
	struct tenon_model *model;
	int err = tenon_model_open(root, &o, &model);

	if (err) {
		tenon_error_clear();
		return err == -TENON_E_NOMEM ? err : 0;
	}
	err = read_ports(r, model);
	/* the Relax machine's calls are in its table of functions */
	if (!err && strcmp(tenon_model_kind(model), "relax") != 0) {
		err = tenon_model_each_op(model, read_operator, r);
		if (err == -TENON_E_UNSUPPORTED) {
			tenon_error_clear();
			err = 0;
		}
	}
	tenon_model_close(model);
	return err;
}

static int read_module(struct reading *r)
{
	const struct tenon_link_inspection *in = NULL;
	struct link_host h = { 0 };
	int err = link_host_open(r->file, &h);

	if (!err)
		err = tenon_link_inspect(r->file, &in);
	if (!err)
		err = read_host(r, &h);
	if (!err)
		err = read_payloads(r, &h);
	if (!err)
		err = read_functions(r, in);
	if (!err)
		err = read_model(r, in->root);
	tenon_link_inspection_free(in);
	link_host_fini(&h);
	return err;
}

/* ---- files without code of the host */

/* An operator of the model, or of a graph that it calls. */
static int read_model_operator(void *context, const struct model_operator *op)
{
	const struct tenon_payload_format *format = program_format(op);
	struct reading *r = context;
	int err = needs_add(r->needs, NEEDS_BUILTIN, op->name);

	if (err || !format)
		return err;
	err = add_kind(r, tenon_slice_of(format->kinds[0]), format);
	return err ? err : add_format(r, tenon_slice_of(format->kinds[0]), tenon_slice_of(""));
}

static int read_model_file(struct reading *r, const struct program_file *f)
{
	const struct model_format *format = f->model_format;
	const char *const *option = format->options;
	int err = 0;

	for (; *option && !err; option++)
		err = add_option(r, *option, format->what);
	if (!err)
		err = add(r, NEEDS_EXECUTOR, format->kind);
	return err ? err : format->each_operator(f->model, read_model_operator, r);
}

/* A model with programs of a device, or one of these. */
static int read_program(struct reading *r)
{
	struct program_file f = { 0 };
	int err = program_file_open(r->file, NULL, &f);

	if (!err && f.model)
		err = read_model_file(r, &f);
	else if (!err)
		err = add_kind(r, tenon_slice_of(f.format->kinds[0]), f.format);
	program_file_fini(&f);
	return err;
}

int needs_read(struct needs *n, const char *file)
{
	const char *slash = strrchr(file, '/');
	struct reading r = { n, file, slash ? slash + 1 : file };
	struct tenon_slice name = tenon_slice_of(file);
	bool is_program;
	int err;

	if (ends(name, ".safetensors") || ends(name, ".gguf"))
		return add_option(&r, "PARAMS_FILES", "parameters");
	err = program_file_is(file, &is_program);
	if (err)
		return err;
	return is_program ? read_program(&r) : read_module(&r);
}
