/* SPDX-License-Identifier: MIT */
/* Load a file by its extension, or say what it is and who opens it. */
#include <tenon/backend/buffer.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "lib/elf.h"
#include "lib/file_map.h"
#include "lib/option.h"
#include "runtime/kind/file_kind.h"
#include "runtime/library/dso.h"
#include "runtime/library/file_extension.h"
#include "runtime/library/file_loader.h"
#include "runtime/library/load_policy.h"

static bool is_program(const char *path)
{
	struct tenon_slice bytes;
	struct elf_file elf;
	bool found;

	if (file_map_open(path, &bytes)) {
		tenon_error_clear();
		return false;
	}
	found = !elf_open(&elf, bytes, path) && elf_is_program(&elf);
	tenon_error_clear();
	file_map_close(&bytes);
	return found;
}

/* Append what the file looks like and a remedy: " (this one looks like text)". */
static int describe_file(const char *path, struct tenon_buffer *out)
{
	struct tenon_slice bytes;
	int err;

	if (!OPTION_ON(INSPECT))
		return access(path, R_OK) ? tenon_error(-TENON_E_IO, "%s: cannot be read", path)
					  : out->status;
	/* Report a missing file before an unreadable one. */
	err = file_map_ends(path, FILE_KIND_HEAD, FILE_KIND_TAIL, &bytes);
	if (err)
		return err;
	if (file_is_elf(bytes) && is_program(path))
		tenon_buffer_printf(out, " (this one looks like a program); a module is a shared "
					 "object that TVM writes with export_library()");
	else
		tenon_buffer_printf(out, " (this one looks like %s)%s", file_kind(bytes),
				    file_advice(bytes));
	file_map_close(&bytes);
	return out->status;
}

static int refuse(const char *path, struct tenon_slice extension)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;
	int err;

	if (!ERROR_MESSAGES)
		return tenon_error(access(path, R_OK) ? -TENON_E_IO : -TENON_E_NO_LOADER, "%s",
				   path);
	err = describe_file(path, &text);
	if (!err)
		err = tenon_buffer_printf(&text, ". This build loads: ");
	if (!err)
		err = file_loader_names(&text);
	if (!err)
		err = tenon_error(-TENON_E_NO_LOADER, "%s: no loader for files named .%.*s%s", path,
				  (int)extension.size, extension.data, text.data);
	tenon_buffer_fini(&text);
	return err;
}

int tenon_module_load(const char *path, struct tenon_module **out)
{
	struct tenon_slice extension = file_extension(path);
	struct tenon_function *function;
	int err;

	*out = NULL;
	err = load_policy_check(path);
	if (err)
		return err;
	if (OPTION_ON(DSO) && file_extension_is_library(extension))
		return dso_load(path, out);
	err = file_loader_find(extension, &function);
	if (err)
		return err;
	if (!function)
		return refuse(path, extension);
	err = file_load_by(function, path, out);
	tenon_object_unref(function);
	return err;
}
