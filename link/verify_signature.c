/* SPDX-License-Identifier: MIT */
/* Check the detached signature and the key. */
#include "lib/file_map.h"

#include <tenon/backend/buffer.h>

#include "link/module/signature.h"
#include "link/verify.h"

static int check_bytes(struct verify *v, const char *file, const char *key, const char *signature)
{
	struct tenon_slice bytes, sig = { NULL, 0 };
	bool valid = false;
	int err;

	err = file_map_open(file, &bytes);
	if (err)
		return err;
	err = file_map_open(signature, &sig);
	if (!err)
		err = signature_check(key, bytes, sig, &valid);
	if (!err && !valid)
		verify_fault(v, SIZE_MAX, "%s is not a signature of this file by %s", signature,
			     key);
	file_map_close(&sig);
	file_map_close(&bytes);
	return err;
}

int verify_signature(struct verify *v, const char *file, const char *key, const char *signature)
{
	struct tenon_buffer name = TENON_BUFFER_INIT;
	int err;

	err = tenon_buffer_printf(&name, "%s" TENON_LINK_SIGNATURE_SUFFIX, file);
	if (!err)
		err = check_bytes(v, file, key, signature ? signature : name.data);
	tenon_buffer_fini(&name);
	return err;
}
