/* SPDX-License-Identifier: MIT */
/* Public functions whose work is in runtime/params/: the first call opens the plug-in. */
#include "runtime/model/params_files.h"

#include <string.h>
#include <sys/stat.h>

#include "lib/brief_errors.h"
#include "runtime/kind/file_kind.h"

#define INDEX_ENDS ".safetensors.index.json"

#if OPTION_ON(PARAMS_FILES)
static int open_plugin(void)
{
	return plugin_open(&plugin_params, -TENON_E_NO_LOADER);
}

int params_format_of(struct tenon_slice head, const struct params_format **out)
{
	const struct params_format *const *f;
	int err;

	*out = &params_tvm;
	if (params_tvm.is(head))
		return 0;
	err = open_plugin();
	if (err)
		return tenon_error_in(err, "not of TVM, but %s", file_kind(head));
	for (f = plugin_params.offer->params->formats; *f && !(*f)->is(head); f++)
		;
	if (*f)
		*out = *f;
	return 0;
}

static bool is_folder(const char *path)
{
	const size_t n = strlen(path), k = sizeof(INDEX_ENDS) - 1;
	struct stat st;

	return (n >= k && !strcmp(path + n - k, INDEX_ENDS)) ||
	       (!stat(path, &st) && S_ISDIR(st.st_mode));
}

int tenon_params_open(const char *path, struct tenon_params **out)
{
	int err;

	*out = NULL;
	if (!is_folder(path))
		return params_open_file(path, out);
	err = open_plugin();
	return err ? err : plugin_params.offer->params->open_folder(path, out);
}

/* Before the plug-in is opened, no parameter is quantised. */
const char *tenon_params_block_type(const struct tenon_params *params,
				    const struct tenon_param *param)
{
	const struct plugin_offer *offer = __atomic_load_n(&plugin_params.offer, __ATOMIC_ACQUIRE);

	return offer ? offer->params->block_type(params, param) : NULL;
}

/* clang-format off */

/* a public function: what is cleared first, the slot, its parameters and its arguments */
#define PASS(name, cleared, slot, parameters, arguments)          \
	int name parameters                                       \
	{                                                         \
		int err = open_plugin();                          \
                                                                  \
		cleared;                                          \
		return err ? err : plugin_params.offer->params->slot arguments; \
	}

PASS(tenon_params_join, *out = NULL, join,
     (const struct tenon_params_part *parts, size_t part_count, const struct tenon_params_rename *renames,
      size_t rename_count, struct tenon_params **out),
     (parts, part_count, renames, rename_count, out))
PASS(tenon_params_numbers, *out = NULL, numbers,
     (struct tenon_params *params, const struct tenon_param *param, DLDataType dtype, struct tenon_tensor **out),
     (params, param, dtype, out))
PASS(tenon_params_dequantize, *out = NULL, dequantize,
     (struct tenon_params *params, DLDataType dtype, struct tenon_params **out), (params, dtype, out))
PASS(tenon_params_metadata, , metadata,
     (struct tenon_params *params, tenon_params_visit *visit, void *context), (params, visit, context))
PASS(tenon_params_write, , write,
     (const char *path, const struct tenon_param *params, size_t count, size_t align), (path, params, count, align))
PASS(tenon_params_save, , save,
     (const struct tenon_param *params, size_t count, struct tenon_buffer *out), (params, count, out))
PASS(tenon_params_write_safetensors, , write_safetensors,
     (const char *path, const struct tenon_param *params, size_t count, size_t align), (path, params, count, align))
/* clang-format on */
#else
int params_format_of(struct tenon_slice head, const struct params_format **out)
{
	*out = &params_tvm;
	return 0;
}

int tenon_params_open(const char *path, struct tenon_params **out)
{
	return params_open_file(path, out);
}
#endif
