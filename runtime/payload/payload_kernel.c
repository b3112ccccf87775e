/* SPDX-License-Identifier: MIT */
/* Payloads that a backend of this build accepts. */
#include "runtime/payload/payload_kernel.h"

#include <stdlib.h>
#include <tenon/backend/buffer.h>

#include "lib/brief_errors.h"
#include "lib/heap.h"
#include "runtime/payload/payload_program.h"

/* The backend of a payload: that of its kind, or the one that the payload names. */
static int find_backend(const struct tenon_payload_format *format,
			const struct tenon_payload_info *info, const struct tenon_backend **out)
{
	struct tenon_slice (*named)(const struct tenon_payload_info *) =
		PAYLOAD_SLOT(format, backend);
	struct tenon_slice name;

	if (!named) {
		*out = tenon_backend_of_kind(info->kind);
		return 0;
	}
	name = named(info);
	*out = tenon_backend_find(name);
	if (*out)
		return 0;
	return tenon_error(-TENON_E_NO_LOADER,
			   "code for \"%.*s\"; no backend of this build has that name. Enable or "
			   "install it, or compile for another target",
			   (int)name.size, name.data);
}

static int make_kernels(const struct payload_place *place, const struct tenon_payload_info *info,
			struct kernel_set **out)
{
	const struct tenon_backend *backend;
	const struct payload_tree *tree = place->tree;
	struct tenon_buffer label = TENON_BUFFER_INIT;
	struct tenon_program *program = NULL;
	int err;

	err = tenon_buffer_printf(&label, "%s%simport %zu of %zu (%.*s)", tree->file,
				  *tree->file ? ": " : "", place->index, tree->count,
				  (int)info->kind.size, info->kind.data);
	if (!err) {
		err = find_backend(place->format, info, &backend);
		if (err)
			err = tenon_error_in(err, "%s", label.data);
	}
	if (!err)
		err = payload_program_make(place->format, info, label.data, &program);
	if (!err)
		err = kernel_set_create(program, tree->keep, backend->device_type, out);
	tenon_buffer_fini(&label);
	return err;
}

int payload_kernels(struct kernel_set **set, const struct payload_place *place,
		    const struct tenon_payload_info *info, struct kernel_set **out)
{
	struct kernel_set *none = NULL;
	struct heap *before;
	int err;

	*out = __atomic_load_n(set, __ATOMIC_ACQUIRE);
	if (*out)
		return 0;
	/* The module keeps them, longer than a model that runs its code. */
	before = heap_enter(NULL);
	err = make_kernels(place, info, out);
	heap_enter(before);
	if (err || __atomic_compare_exchange_n(set, &none, *out, false, __ATOMIC_ACQ_REL,
					       __ATOMIC_ACQUIRE))
		return err;
	kernel_set_free(*out);
	*out = none;
	return 0;
}

/* owner of the bytes of a module that has no library */
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

int payload_module_take(struct tenon_slice kind, struct tenon_buffer *bytes, const char *file,
			struct tenon_module **out)
{
	const struct tenon_payload_format *format = payload_format_of(kind);
	struct tenon_payload_info info = { .generation = TENON_GENERATION_NONE };
	struct payload_tree tree = { .file = file, .count = 1 };
	struct tenon_slice payload = { NULL, bytes->size };
	struct payload_block *block;
	struct kept_bytes *keep;
	struct heap *before;
	int err;

	*out = NULL;
	/* Append the kind to the payload, so that one object keeps both alive. */
	err = tenon_buffer_slice(bytes, kind);
	if (err)
		return err;
	payload.data = bytes->data;
	info.kind = (struct tenon_slice){ bytes->data + payload.size, kind.size };
	before = heap_enter(NULL);
	err = payload_read_either(format, payload, &info);
	heap_enter(before);
	if (!err)
		err = keep_bytes(bytes, &keep);
	if (err)
		goto fini;
	tree.base = (const uint8_t *)payload.data;
	tree.keep = &keep->object;
	tree.dialect = info.extra_tags ? PAYLOAD_EXTRA_TAGS : PAYLOAD_NO_EXTRA_TAGS;
	err = payload_block_create(&tree, 1, &block);
	if (!err) {
		*out = payload_block_add(block, 0, info.kind, format, payload);
		payload_module_made(*out, &info);
		payload_block_close(block);
	}
	tenon_object_unref(keep);
fini:
	payload_info_fini(&info);
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
