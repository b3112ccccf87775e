/* SPDX-License-Identifier: MIT */
/* Stubs of public functions that this build leaves out. */
#include <tenon/self_test.h>

#include "lib/option.h"
#include "lib/switched_off.h"

/* clang-format off */

#if !OPTION_ON(SELF_TEST)
#define OFF_REASON tenon_error(-TENON_E_UNSUPPORTED, "CONFIG_SELF_TEST is off in this build")
OFF_OUT(tenon_cases_open, *out = NULL, (const char *file, struct tenon_cases **out))
OFF_VOID(tenon_cases_close, (struct tenon_cases *cases))
OFF_VALUE(size_t, tenon_cases_count, 0, (const struct tenon_cases *cases))
OFF_VALUE(const struct tenon_case *, tenon_cases_at, NULL, (const struct tenon_cases *cases, size_t index))
OFF(tenon_self_test, (struct tenon_model *model, const struct tenon_case *c, struct tenon_model *reference,
	struct tenon_buffer *why))
#endif
