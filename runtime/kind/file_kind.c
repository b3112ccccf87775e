/* SPDX-License-Identifier: MIT */
/* Name, in messages, what a file is that Tenon does not open: a plug-in knows it (file_look.c). */
#include "runtime/kind/file_kind.h"

#include <tenon/error.h>

#include "lib/brief_errors.h"
#include "lib/error_slot.h"
#include "runtime/core/describer.h"

/* Without the plug-in a message says less; its own error stays as it is. */
static const char *look(struct tenon_slice bytes, const char **advice)
{
	struct error_slot *aside = error_set_aside();
	const char *what;

	if (DESCRIBER(look, bytes, &what, advice)) {
		what = file_kind_unknown(bytes);
		*advice = "";
	}
	error_put_back(aside);
	return what;
}

const char *file_kind(struct tenon_slice bytes)
{
	const char *advice;

	return look(bytes, &advice);
}

const char *file_advice(struct tenon_slice bytes)
{
	const char *advice;

	look(bytes, &advice);
	return advice;
}

int file_open_elf(struct elf_file *elf, struct tenon_slice bytes, const char *path)
{
	if (file_is_elf(bytes))
		return elf_open(elf, bytes, path);
	return tenon_error(-TENON_E_FORMAT, "%s: not an ELF file; it looks like %s%s", path,
			   file_kind(bytes), file_advice(bytes));
}
