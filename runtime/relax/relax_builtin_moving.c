/* SPDX-License-Identifier: MIT */
/*
 * What moves a key-value cache to another process or machine. Tenon keeps a cache where it was
 * made, so these are refused; they are registered since programs may look them up and not call
 * them.
 */
#include "lib/brief_errors.h"
#include "runtime/relax/relax_builtin.h"

#define REFUSED(builtin)                                                                           \
	int relax_builtin_##builtin(void *self, const struct tenon_value *args, int32_t count,     \
				    struct tenon_value *ret)                                       \
	{                                                                                          \
		return tenon_error(-TENON_E_UNSUPPORTED,                                           \
				   #builtin ": Tenon does not move a key-value cache to another "  \
					    "process or machine. Run prefill and decoding in one " \
					    "process");                                            \
	}

REFUSED(attention_kv_cache_get_checkpoint_metadata)
REFUSED(attention_kv_cache_get_layout_hash)
REFUSED(attention_kv_cache_export_page_group)
REFUSED(attention_kv_cache_prepare_import)
REFUSED(attention_kv_cache_import_page_group)
REFUSED(attention_kv_cache_finish_import)
REFUSED(kv_cache_disagg_prepare_recv)
REFUSED(kv_cache_disagg_mark_send)
