/* SPDX-License-Identifier: MIT */
/* Payloads that a backend of this build takes. */
#include "runtime/payload/payload_kernel.h"

#include <stdlib.h>

#include "runtime/payload/payload_program.h"

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

/* what keeps the bytes of a module that came without a library */
struct kept_bytes {
	struct tenon_object object;
	char *data;
};

static void kept_delete(void *self, int flags)
{
	struct kept_bytes *k = self;

	if (flags & TENON_DELETE_CONTENT)
		free(k->data);
	if (flags & TENON_DELETE_MEMORY)
		free(k);
}

static int keep_bytes(struct tenon_buffer *bytes, struct kept_bytes **out)
{
	struct kept_bytes *k = malloc(sizeof(*k));

	*out = NULL;
	if (!k)
		return tenon_error(-TENON_E_NOMEM, "no memory for a payload");
	tenon_object_init(&k->object, TENON_TYPE_OBJECT, kept_delete);
	k->data = bytes->data;
	*bytes = (struct tenon_buffer)TENON_BUFFER_INIT;
	*out = k;
	return 0;
}

/* tables of TVM 0.20 and later, else those before */
static int find_dialect(const struct payload_format *format, struct tenon_slice payload,
			enum payload_dialect *dialect)
{
	struct tenon_cursor c = tenon_cursor_of(payload.data, payload.size, "payload", 0);
	struct payload_facts facts = { .dialect = PAYLOAD_EXTRA };

	*dialect = PAYLOAD_EXTRA;
	if (!payload_read(format, TENON_GENERATION_NONE, &c, &facts))
		return 0;
	facts.dialect = *dialect = PAYLOAD_PLAIN;
	return payload_read(format, TENON_GENERATION_NONE, &c, &facts);
}

int payload_module_take(struct tenon_slice kind, struct tenon_buffer *bytes, const char *file,
			struct tenon_module **out)
{
	const struct payload_format *format = payload_format_of(kind);
	struct payload_tree tree = { .file = file, .count = 1 };
	struct tenon_slice payload = { NULL, bytes->size };
	struct payload_block *block;
	struct kept_bytes *keep;
	int err;

	*out = NULL;
	/* the kind lies behind the payload: one object keeps both */
	err = tenon_buffer_slice(bytes, kind);
	if (err)
		return err;
	payload.data = bytes->data;
	kind.data = bytes->data + payload.size;
	err = find_dialect(format, payload, &tree.dialect);
	if (!err)
		err = keep_bytes(bytes, &keep);
	if (err)
		return err;
	tree.base = (const uint8_t *)payload.data;
	tree.keep = &keep->object;
	err = payload_block_create(&tree, 1, &block);
	if (!err) {
		*out = payload_block_add(block, 0, kind, format, payload);
		payload_block_close(block);
	}
	tenon_object_unref(keep);
	return err;
}

int payload_module_load(struct tenon_slice kind, struct tenon_slice bytes,
			struct tenon_module **out)
{
	struct tenon_buffer copy = TENON_BUFFER_INIT;
	int err;

	*out = NULL;
	err = tenon_buffer_slice(&copy, bytes);
	if (!err)
		err = payload_module_take(kind, &copy, "", out);
	tenon_buffer_fini(&copy);
	return err;
}
