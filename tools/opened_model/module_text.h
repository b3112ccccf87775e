/* SPDX-License-Identifier: MIT */
/* The modules of a file as text, for tenon inspect. */
#ifndef TOOLS_OPENED_MODEL_MODULE_TEXT_H
#define TOOLS_OPENED_MODEL_MODULE_TEXT_H

#include <tenon/link.h>

/** module_text_kind - append a module's kind, sanitised for a terminal */
void module_text_kind(const struct tenon_link_module *m, struct tenon_buffer *out);

/** module_text_format - append the text next to the kind: "cl source", "host", a name */
void module_text_format(const struct tenon_link_module *m, struct tenon_buffer *out);

/** module_text_facts - append a summary: "6 kernels, 18 KiB at 0x4a1c0" */
void module_text_facts(const struct tenon_link_module *m, struct tenon_buffer *out);

#endif /* TOOLS_OPENED_MODEL_MODULE_TEXT_H */
