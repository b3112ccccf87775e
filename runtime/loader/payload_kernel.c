/* SPDX-License-Identifier: MIT */
/* Payloads that a backend of this build takes. */
#include "runtime/loader/payload_kernel.h"

#include "runtime/loader/device_program.h"

static int make_kernels(const struct payload_tree *tree, size_t index, struct tenon_slice kind,
			const struct payload_facts *facts, struct kernel_set **out)
{
	const struct tenon_backend *backend = tenon_backend_of_kind(kind);
	struct tenon_buffer label = TENON_BUFFER_INIT;
	struct tenon_program *program = NULL;
	int err;

	err = tenon_buffer_printf(&label, "%s%simport %zu of %zu (%.*s)", tree->file,
				  *tree->file ? ": " : "", index, tree->count, (int)kind.size,
				  kind.data);
	if (!err)
		err = device_program_make(kind, facts, label.data, &program);
	if (!err)
		err = kernel_set_create(program, tree->keep, backend->device_type, out);
	tenon_buffer_fini(&label);
	return err;
}

/* The module's kernels; whoever comes first reads the table. */
static int get_kernels(struct kernel_set **set, const struct payload_tree *tree, size_t index,
		       struct tenon_slice kind, const struct payload_facts *facts,
		       struct kernel_set **out)
{
	struct kernel_set *none = NULL;
	int err;

	*out = __atomic_load_n(set, __ATOMIC_ACQUIRE);
	if (*out)
		return 0;
	err = make_kernels(tree, index, kind, facts, out);
	if (err || __atomic_compare_exchange_n(set, &none, *out, false, __ATOMIC_ACQ_REL,
					       __ATOMIC_ACQUIRE))
		return err;
	kernel_set_free(*out);
	*out = none;
	return 0;
}

int payload_kernel(struct kernel_set **set, const struct payload_tree *tree, size_t index,
		   struct tenon_module *m, const struct payload_facts *facts,
		   struct tenon_slice name, struct tenon_function **out)
{
	struct kernel_set *kernels;
	int err;

	err = get_kernels(set, tree, index, m->kind, facts, &kernels);
	return err ? err : kernel_set_function(kernels, name, m, out);
}

int payload_module_load(struct tenon_slice kind, struct tenon_slice bytes,
			struct tenon_module **out)
{
	const struct payload_format *format = payload_format_of(kind);
	struct payload_tree tree = { .file = "", .count = 1, .dialect = PAYLOAD_EXTRA };
	struct tenon_slice copy, own_kind = { NULL, kind.size };
	struct payload_block *block;
	struct tenon_buffer both = TENON_BUFFER_INIT;
	struct payload_facts facts = { .dialect = PAYLOAD_EXTRA };
	struct tenon_value keep = tenon_arg_none();
	struct tenon_cursor c;
	int err;

	*out = NULL;
	/* the kind lies behind the payload: one object keeps both */
	err = tenon_buffer_slice(&both, bytes);
	if (!err)
		err = tenon_buffer_slice(&both, kind);
	copy = (struct tenon_slice){ both.data, both.size };
	if (!err)
		err = tenon_bytes_value(copy, &keep);
	tenon_buffer_fini(&both);
	if (!err)
		err = tenon_value_text(&keep, &copy);
	if (err)
		goto release;
	own_kind.data = copy.data + bytes.size;
	copy.size = bytes.size;
	c = tenon_cursor_of(copy.data, copy.size, "payload", 0);
	/* tables of TVM 0.20 and later, else those before */
	if (payload_read(format, TENON_GENERATION_NONE, &c, &facts)) {
		facts.dialect = tree.dialect = PAYLOAD_PLAIN;
		err = payload_read(format, TENON_GENERATION_NONE, &c, &facts);
		if (err)
			goto release;
	}
	tree.base = (const uint8_t *)copy.data;
	tree.keep = keep.type >= TENON_TYPE_OBJECT ? keep.as.object : NULL;
	err = payload_block_create(&tree, 1, &block);
	if (err)
		goto release;
	*out = payload_block_add(block, 0, own_kind, format, copy);
	payload_block_close(block);
release:
	tenon_value_release(&keep);
	return err;
}
