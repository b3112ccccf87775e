/* SPDX-License-Identifier: MIT */
/* Find what a client names: functions of modules, of files and of the registry. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/module.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"
#include "rpc/server/session_link.h"
#include "rpc/server/time_evaluator.h"
#include "runtime/core/arguments.h"

#define UPLOAD	 "tvm.rpc.server.upload"
#define DOWNLOAD "tvm.rpc.server.download"
#define LINKED	 DOWNLOAD "_linked_module"

static int check_count(int32_t count, int32_t least, int32_t most)
{
	if (count >= least && count <= most)
		return 0;
	return tenon_error(-TENON_E_TYPE, "%d arguments, expected %d", (int)count, (int)least);
}

static bool is_native(const char *path)
{
	static const char *const endings[] = { ".so", ".dylib", ".dll", ".dso" };
	const char *name = strrchr(path, '/');
	size_t i;

	name = name ? name + 1 : path;
	/* a file without an ending is opened as a library */
	if (!strchr(name, '.'))
		return true;
	for (i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		if (strstr(name, endings[i]))
			return true;
	return false;
}

/* The client may measure time from now on: the server builds no kernels meanwhile. */
static void measures_time(struct session *s)
{
	atomic_store(&s->watch->loads, 1);
}

static PACKED_CALL(load_module)
{
	char name[PATH_MAX], path[2 * PATH_MAX];
	struct session *s = self;
	struct tenon_module *module;
	struct tenon_slice text;
	int err = check_count(count, 1, 2); /* the second: a format, known by the name */

	measures_time(s);
	if (!err)
		err = tenon_value_text(&args[0], &text);
	if (!err)
		err = session_check_path(text, name, sizeof(name));
	if (err)
		return err;
	if (!s->options->native_code && is_native(name))
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "%s: this server runs no native code (tenon rpc serve "
				   "--no-native-code)",
				   name);
	if (session_is_linked(name))
		err = session_link(s, name);
	if (err)
		return err;
	snprintf(path, sizeof(path), "%s/%s", s->folder, name);
	err = tenon_module_load(path, &module);
	if (err)
		return err;
	*ret = tenon_arg_object(module);
	return 0;
}

static PACKED_CALL(import_module)
{
	void *parent, *child;
	int err = check_count(count, 2, 2);

	if (!err)
		err = tenon_value_object(&args[0], TENON_TYPE_MODULE, &parent);
	if (!err)
		err = tenon_value_object(&args[1], TENON_TYPE_MODULE, &child);
	return err ? err : tenon_module_import(parent, child);
}

static PACKED_CALL(module_get_function)
{
	struct tenon_function *function;
	struct tenon_slice name;
	bool imports;
	void *module;
	int err = check_count(count, 3, 3);

	if (!err)
		err = tenon_value_object(&args[0], TENON_TYPE_MODULE, &module);
	if (!err)
		err = tenon_value_text(&args[1], &name);
	if (!err)
		err = tenon_value_bool(&args[2], &imports);
	if (!err)
		err = tenon_module_find_function(module, name, imports, &function);
	if (!err)
		*ret = tenon_arg_object(function);
	return err;
}

static PACKED_CALL(system_lib)
{
	struct tenon_slice text = { "", 0 };
	struct tenon_module *module;
	char prefix[256];
	int err = check_count(count, 0, 1);

	measures_time(self);
	if (!err && count)
		err = tenon_value_text(&args[0], &text);
	if (err)
		return err;
	if (text.size >= sizeof(prefix))
		return tenon_error(-TENON_E_VALUE, "a prefix of %zu bytes", text.size);
	memcpy(prefix, text.data, text.size);
	prefix[text.size] = '\0';
	err = tenon_system_lib(prefix, &module);
	if (!err)
		*ret = tenon_arg_object(module);
	return err;
}

/* The block size of copies. Without this function a client asks for it at every copy. */
static PACKED_CALL(packet_most)
{
	const struct session *s = self;

	*ret = tenon_arg_int((int64_t)s->options->packet_most);
	return 0;
}

static int list_name(void *context, const char *name, struct tenon_function *function)
{
	struct tenon_buffer *out = context;

	return tenon_buffer_printf(out, "%s%s", out->size ? "," : "", name);
}

static PACKED_CALL(list_functions);

static int find_offered(void *s, struct tenon_slice name, struct tenon_function **out)
{
	return session_find_function(s, name, out);
}

static PACKED_CALL(time_evaluator)
{
	const struct time_evaluator_globals offered = { find_offered, self };

	measures_time(self);
	return time_evaluator_create(&offered, args, count, ret);
}

static const struct offer {
	const char *name;
	tenon_call_fn call;
} offers[] = {
	{ UPLOAD, session_upload },
	{ DOWNLOAD, session_download },
	{ LINKED, session_download },
	{ "tvm.rpc.server.remove", session_remove },
	{ "tvm.rpc.server.listdir", session_listdir },
	{ "tvm.rpc.server.load_module", load_module },
	{ "ffi.ModuleLoadFromFile", load_module },
	{ "runtime.ModuleLoadFromFile", load_module },
	{ "tvm.rpc.server.ImportModule", import_module },
	{ "tvm.rpc.server.ModuleGetFunction", module_get_function },
	{ "tvm.rpc.server.GetCRTMaxPacketSize", packet_most },
	{ "runtime.RPCTimeEvaluator", time_evaluator },
	{ "runtime.SystemLib", system_lib },
	{ "ffi.SystemLib", system_lib },
	{ "tenon.rpc.list_functions", list_functions },
	{ "tenon.rpc.use_file", session_use_file },
	{ "tenon.trace.begin", session_trace_begin },
	{ "tenon.trace.now", session_trace_now },
	{ "tenon.trace.end", session_trace_end },
};

#define OFFERS (sizeof(offers) / sizeof(offers[0]))

static PACKED_CALL(list_functions)
{
	const struct session *s = self;
	struct tenon_buffer names = TENON_BUFFER_INIT;
	size_t i;
	int err = check_count(count, 0, 0);

	if (err)
		return err;
	for (i = 0; i < OFFERS; i++)
		list_name(&names, offers[i].name, NULL);
	err = s->options->native_code ? tenon_function_each(list_name, &names) : names.status;
	if (!err)
		err = tenon_string_value((struct tenon_slice){ names.data, names.size }, ret);
	tenon_buffer_fini(&names);
	return err;
}

/* One function for all requests: its calls are recognized, and their bytes need not be in memory as a whole. */
static int find_one(struct session *s, tenon_call_fn call, struct tenon_function **one,
		    struct tenon_function **out)
{
	int err = *one ? 0 : tenon_function_create(s, call, NULL, one);

	if (err)
		return err;
	tenon_object_ref(*one);
	*out = *one;
	return 0;
}

int session_find_function(struct session *s, struct tenon_slice name, struct tenon_function **out)
{
	size_t i;

	*out = NULL;
	if (tenon_slice_equal(name, tenon_slice_of(UPLOAD)))
		return find_one(s, session_upload, &s->upload, out);
	if (tenon_slice_equal(name, tenon_slice_of(DOWNLOAD)))
		return find_one(s, session_download, &s->download, out);
	if (tenon_slice_equal(name, tenon_slice_of(LINKED)))
		return find_one(s, session_download, &s->linked, out);
	for (i = 0; i < OFFERS; i++)
		if (tenon_slice_equal(name, tenon_slice_of(offers[i].name)))
			return tenon_function_create(s, offers[i].call, NULL, out);
	/* the runtime's own functions open any file, as uploaded code can anyway */
	return s->options->native_code ? tenon_function_find_slice(name, out) : 0;
}
