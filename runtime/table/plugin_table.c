/* SPDX-License-Identifier: MIT */
/* The parts of this build that an option builds in or makes a plug-in, by their rows (plugin_row.h). */
#include <tenon/backend/backend.h>

#include "lib/option.h"
#include "runtime/core/registry.h"
#include "runtime/kind/loaders.h"
#include "runtime/library/context.h"
#include "runtime/model/executors.h"
#include "runtime/table/plugin_row.h"

/* clang-format off */

/* ---- what is known of each sort before it is opened: <SORT>_KNOWN() defines it, <SORT>_FIELDS() are fields of its struct plugin */

#define KINDS_NO_PAYLOADS(name) NULL
#define KINDS_PAYLOADS(name) name##_payload_kinds
#define KINDS_LISTED_PAYLOADS KINDS_PAYLOADS
#define FORMATS_NO_PAYLOADS(name) NULL
#define FORMATS_PAYLOADS(name) name##_payload_formats
#define FORMATS_LISTED_PAYLOADS FORMATS_PAYLOADS
#define BACKEND_LISTS(name) \
	extern const char *const name##_payload_kinds[]; \
	extern const struct tenon_payload_format *const name##_payload_formats[];
#define BACKEND_KNOWN(backend, type, flag_bits, payloads) \
	BACKEND_LISTS(backend) \
	static const struct tenon_backend backend##_known = { \
		.abi = TENON_PLUGIN_ABI, \
		.size = sizeof(struct tenon_backend), \
		.name = #backend, \
		.device_type = type, \
		.flags = flag_bits, \
		.kinds = KINDS_##payloads(backend), \
	};
#define BACKEND_FIELDS(name, type, flags, payloads) PLUGIN_PART(backend), .backend = &name##_known, .formats = FORMATS_##payloads(name)

#define LOADER_OPENS(kind, load) { kind, loader_open_plugin },
#define LOADER_KNOWN(name, kinds, ...) \
	static const struct tenon_module_loader name##_known[] = { kinds(LOADER_OPENS) { NULL, NULL } };
#define LOADER_FIELDS(name, ...) PLUGIN_PART(loaders), .loaders = name##_known

#define EXECUTOR_KNOWN(name, kinds, functions, ...) \
	LOADER_KNOWN(name, kinds) \
	static const char name##_names[] = __VA_ARGS__ "";
#define EXECUTOR_FIELDS(name, ...) PLUGIN_PART(executor), .executes = true, .loaders = name##_known, .functions = name##_names

/* nothing is: a public function opens it, and a program without that function holds nothing of it: no table lists these */
#define TRACER_KNOWN(...)
#define TRACER_FIELDS(...) PLUGIN_PART(tracer)
#define PARAMS_KNOWN TRACER_KNOWN
#define PARAMS_FIELDS(...) PLUGIN_PART(params)
#define TESTER_KNOWN TRACER_KNOWN
#define TESTER_FIELDS(...) PLUGIN_PART(tester)
#define PROBER_KNOWN TRACER_KNOWN
#define PROBER_FIELDS(...) PLUGIN_PART(prober)
#define DESCRIBER_KNOWN TRACER_KNOWN
#define DESCRIBER_FIELDS(...) PLUGIN_PART(describer)

/* ---- the plug-ins, and what stands in the library for each that is built in */

#define DEFINE(option, name, offer, sort, ...) \
	sort##_KNOWN(name, __VA_ARGS__) \
	struct plugin plugin_##name = { #name, "CONFIG_" #option, offer, sort##_FIELDS(name, __VA_ARGS__) };
#define DEFINE_BUILT_IN(option, name, sort, ...) \
	sort##_DECLARE(name, __VA_ARGS__) \
	static const struct plugin_offer name##_offer = sort##_OFFER(name); \
	DEFINE(option, name, &name##_offer, sort, __VA_ARGS__)
#define DEFINE_PLUGIN(option, name, ...) DEFINE(option, name, NULL, __VA_ARGS__)

/* formats without their backend */
#define DEFINE_OFF(option, name, sort, ...) sort##_OFF(name, __VA_ARGS__)
#define BACKEND_OFF(name, type, flags, payloads) LEFT_OUT_##payloads(name)
#define LEFT_OUT_NO_PAYLOADS(name)
#define LEFT_OUT_PAYLOADS(name)
#ifdef CONFIG_LISTED_PAYLOADS
#define LEFT_OUT_LISTED_PAYLOADS(name) \
	BACKEND_LISTS(name) \
	static struct plugin plugin_##name = { .formats = name##_payload_formats };
#else
#define LEFT_OUT_LISTED_PAYLOADS(name)
#endif
#define LOADER_OFF(...)
#define EXECUTOR_OFF(...)
#define TRACER_OFF(...)
#define PARAMS_OFF(...)
#define TESTER_OFF(...)
#define PROBER_OFF(...)
#define DESCRIBER_OFF(...)

#define PLUGIN(option, ...) OPTION_CHOOSE(option, DEFINE_, option, __VA_ARGS__)
#include "generated/plugins.h"
#undef PLUGIN
#undef LEFT_OUT_LISTED_PAYLOADS

#define LISTED(name) &plugin_##name,
#define BACKEND_LISTED LISTED
#define LOADER_LISTED LISTED
#define EXECUTOR_LISTED LISTED
#define TRACER_LISTED(name)
#define PARAMS_LISTED TRACER_LISTED
#define TESTER_LISTED TRACER_LISTED
#define PROBER_LISTED TRACER_LISTED
#define DESCRIBER_LISTED TRACER_LISTED
#define ADDRESS_BUILT_IN(name, sort, ...) sort##_LISTED(name)
#define ADDRESS_PLUGIN ADDRESS_BUILT_IN
#define ADDRESS_OFF(name, sort, ...) sort##_OFF(name, __VA_ARGS__)
#ifdef CONFIG_LISTED_PAYLOADS
#define LEFT_OUT_LISTED_PAYLOADS(name) &plugin_##name,
#else
#define LEFT_OUT_LISTED_PAYLOADS(name)
#endif
#define PLUGIN(option, ...) OPTION_CHOOSE(option, ADDRESS_, __VA_ARGS__)
struct plugin *const plugin_table[] = {
#include "generated/plugins.h"
	NULL,
};
#undef PLUGIN

/* ---- executors that this build lacks */

#ifdef CONFIG_ERROR_MESSAGES
#define ABSENT_BUILT_IN(...)
#define ABSENT_PLUGIN(...)
#define ABSENT_OFF(option, name, sort, ...) ABSENT_##sort(option, __VA_ARGS__)
#define ABSENT_BACKEND(...)
#define ABSENT_LOADER(...)
#define ABSENT_TRACER(...)
#define ABSENT_PARAMS(...)
#define ABSENT_TESTER(...)
#define ABSENT_PROBER(...)
#define ABSENT_DESCRIBER(...)
#define KIND_NAME(kind, load) kind "\0"
#define ABSENT_EXECUTOR(option, kinds, ...) { "CONFIG_" #option, kinds(KIND_NAME) "" },
#define PLUGIN(option, ...) OPTION_CHOOSE(option, ABSENT_, option, __VA_ARGS__)
const struct executor_absent executors_absent[] = {
#include "generated/plugins.h"
	{ NULL, NULL },
};
#endif
/* clang-format on */

int (*const registry_fill_library)(void) = OPTION_ON(DSO) || OPTION_ON(SYSTEM_LIB)
						   ? abi_register_globals
						   : NULL;
