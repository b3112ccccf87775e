/* SPDX-License-Identifier: MIT */
/* What the row of each sort of plug-in declares, and what such a plug-in hands over. */
#ifndef RUNTIME_TABLE_PLUGIN_ROW_H
#define RUNTIME_TABLE_PLUGIN_ROW_H

/*
 * A folder whose option is y, m or n has its row in a file plugin.h: PLUGIN(option, name, sort, ...). The build includes
 * those of all folders whose Kconfig the tree's Kconfig names, in this order (generated/plugins.h), several times: they
 * have no include guard. The sorts, and what follows in their rows:
 *
 *	BACKEND, type, flags, payloads	has name_backend; payloads is NO_PAYLOADS, or PAYLOADS: the library has
 *					name_payload_kinds and name_payload_formats; LISTED_PAYLOADS: also in builds
 *					without the backend that inspect modules or find the ends of payloads
 *					in old ones (CONFIG_LISTED_PAYLOADS)
 *	EXECUTOR, kinds, functions, names  has name_executor. kinds(each) is each("kind", loader) for each kind of modules
 *					that are its models; functions(each) is each("name", function) for its global
 *					functions, or NO_FUNCTIONS; names says which names are theirs: "name\0beginning.\0",
 *					nothing without functions
 *	LOADER, kinds			loads modules that are no models
 *	TRACER				has name_tracer
 *	PARAMS				has name_files: files of parameters besides those of TVM
 *	TESTER				has name_tester: self-tests
 *	PROBER				has name_prober: drivers asked in a child process
 *	DESCRIBER			has name_describer: describing files and objects, and writing modules
 *
 * A row of MODEL_FORMAT(name) says that the command has name_format, which describes files of models for an executor
 * (runtime/model/model_format.h).
 * A row of NPU(compatible, name, driver, option, is_vendors) is one that the device tree names, for tools/doctor/doctor_npu.c,
 * which says what the fields are.
 *
 * <SORT>_DECLARE(name, ...) declares these, and <SORT>_OFFER(name) is their struct plugin_offer.
 */

#include <tenon/backend/module_kind.h>

#include "lib/plugin.h"

/* clang-format off */
#define NPU(...)
#define MODEL_FORMAT(...)

#define PLUGIN_OFFER(...) { .version = TENON_VERSION_TEXT, __VA_ARGS__ }

#define BACKEND_DECLARE(name, ...) extern const struct tenon_backend name##_backend;
#define BACKEND_OFFER(name) PLUGIN_OFFER(.backend = &name##_backend)

#define DECLARE_LOADER(kind, load) int load(struct tenon_cursor *, const struct tenon_payload *, struct tenon_module **);
#define LOADER_OF_KIND(kind, load) { kind, load },
#define LOADER_DECLARE(name, kinds, ...) \
	kinds(DECLARE_LOADER) \
	static const struct tenon_module_loader name##_loaders[] = { kinds(LOADER_OF_KIND) { NULL, NULL } };
#define LOADER_OFFER(name) PLUGIN_OFFER(.loaders = name##_loaders)

#define NO_FUNCTIONS(each)
#define DECLARE_FUNCTION(name, call) int call(void *, const struct tenon_value *, int32_t, struct tenon_value *);
#define NAMED_FUNCTION(name, call) { name, call },
#define EXECUTOR_DECLARE(name, kinds, functions, ...) \
	extern const struct executor name##_executor; \
	LOADER_DECLARE(name, kinds) \
	functions(DECLARE_FUNCTION) \
	static const struct global_function name##_functions[] = { functions(NAMED_FUNCTION) { NULL, NULL } };
#define EXECUTOR_OFFER(name) \
	PLUGIN_OFFER(.executor = &name##_executor, .loaders = name##_loaders, .functions = name##_functions)

#define TRACER_DECLARE(name, ...) extern const struct tracer name##_tracer;
#define TRACER_OFFER(name) PLUGIN_OFFER(.tracer = &name##_tracer)

#define PARAMS_DECLARE(name, ...) extern const struct params_files name##_files;
#define PARAMS_OFFER(name) PLUGIN_OFFER(.params = &name##_files)

#define TESTER_DECLARE(name, ...) extern const struct self_tester name##_tester;
#define TESTER_OFFER(name) PLUGIN_OFFER(.tester = &name##_tester)

#define PROBER_DECLARE(name, ...) extern const struct prober name##_prober;
#define PROBER_OFFER(name) PLUGIN_OFFER(.prober = &name##_prober)

#define DESCRIBER_DECLARE(name, ...) extern const struct describer name##_describer;
#define DESCRIBER_OFFER(name) PLUGIN_OFFER(.describer = &name##_describer)
/* clang-format on */

#endif /* RUNTIME_TABLE_PLUGIN_ROW_H */
