/* SPDX-License-Identifier: MIT */
/* Find the compatibility library, open it, and pass it the table of functions. */
#include "runtime/library/compat_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <tenon/backend/buffer.h>
#include <unistd.h>

#include "generated/install_paths.h"
#include "lib/brief_errors.h"
#include "lib/fork_gate.h"
#include "runtime/library/tvm_table.h"
#include "runtime/core/error_object.h"
#include "runtime/library/scoped_open.h"

#define COMPAT_PATH 4096

static pthread_mutex_t compat_lock = PTHREAD_MUTEX_INITIALIZER;
static char compat_file[COMPAT_PATH];
static char *compat_path;   /* NULL until opened, then compat_file */
static void *compat_handle; /* NULL until opened */
static bool compat_for_all;

const char *compat_library_path(void)
{
	const char *path = __atomic_load_n(&compat_path, __ATOMIC_ACQUIRE);

	return path ? path : "";
}

static int find_by_name(struct dl_phdr_info *info, size_t size, void *path)
{
	const char *slash = strrchr(info->dlpi_name, '/');

	if (!slash || strncmp(slash + 1, COMPAT_NAME, strlen(COMPAT_NAME)))
		return 0;
	*(const char **)path = info->dlpi_name;
	return 1;
}

/*
 * A library that depends on libtvm_ffi.so gets a real one if the process has loaded it. Its calls
 * are still redirected to libtenon, but not those through function addresses: their errors are in
 * the error slot of the real libtvm_ffi.so.
 */
static void foreign_library_adopt(void)
{
	void (*version)(uint32_t out[3]);
	uint32_t number[3] = { 0, 0, 0 };
	void (*move)(void **out);
	const char *path = NULL;
	void *handle;

	/* The dynamic linker would search all its folders for a bare name: pass the full path. */
	if (!dl_iterate_phdr(find_by_name, &path))
		return;
	handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	if (!handle)
		return;
	*(void **)&version = dlsym(handle, "TVMFFIGetVersion");
	*(void **)&move = dlsym(handle, "TVMFFIErrorMoveFromRaised");
	if (dlsym(handle, "tenon_tvm_bind") || !version || !move)
		return;
	version(number);
	if (number[0] == 0 && number[1] == 1)
		error_object_foreign_source(move);
}

/* Get the folder of the file that contains this code: the library, or a program linked to it. */
static bool own_folder(char *out, size_t size)
{
	Dl_info info;
	ssize_t n;
	char *slash;

	if (dladdr((void *)own_folder, &info) && info.dli_fname && strchr(info.dli_fname, '/')) {
		snprintf(out, size, "%s", info.dli_fname);
	} else {
		n = readlink("/proc/self/exe", out, size - 1);
		if (n <= 0)
			return false;
		out[n] = '\0';
	}
	slash = strrchr(out, '/');
	if (!slash)
		return false;
	*slash = '\0';
	return true;
}

/* Open the library in a folder; append paths that failed to @tried. */
static bool compat_try(const char *folder, const char *below, struct tenon_buffer *tried)
{
	void (*bind)(const struct tenon_tvm_table *table);
	char path[COMPAT_PATH];
	void *handle;

	if (snprintf(path, sizeof(path), "%s%s", folder, below) >= (int)sizeof(path))
		return false;
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (handle) {
		*(void **)&bind = dlsym(handle, "tenon_tvm_bind");
		if (bind) {
			bind(tenon_tvm_table());
			compat_handle = handle;
			memcpy(compat_file, path, sizeof(path));
			__atomic_store_n(&compat_path, compat_file, __ATOMIC_RELEASE);
			return true;
		}
		dlclose(handle);
	}
	tenon_buffer_printf(tried, "%s%s", tried->size ? ", " : "", path);
	if (handle)
		tenon_buffer_printf(tried, " (not Tenon's)");
	else if (!access(path, F_OK))
		tenon_buffer_printf(tried, " (%s)", dlerror());
	return false;
}

static bool compat_search(struct tenon_buffer *tried)
{
	const char *configured = secure_getenv("TENON_COMPAT_LIBRARY");
	/* leaves room for the longest name below it */
	char folder[COMPAT_PATH - sizeof("/../lib/tenon/" COMPAT_NAME)];

	if (configured && *configured)
		return compat_try(configured, "", tried);
	/* A user may hard-link a set-uid program into any folder and put a library next to it. */
	if (!getauxval(AT_SECURE) && own_folder(folder, sizeof(folder))) {
		if (compat_try(folder, "/compat/" COMPAT_NAME, tried) ||
		    compat_try(folder, "/tenon/" COMPAT_NAME, tried) ||
		    compat_try(folder, "/../lib/tenon/" COMPAT_NAME, tried))
			return true;
	}
	return compat_try(TENON_COMPAT_FILE, "", tried);
}

int compat_library_open(bool for_all)
{
	struct tenon_buffer tried = TENON_BUFFER_INIT;
	int err = 0;

	fork_gate_lock(&compat_lock);
	if (!compat_handle && !compat_search(&tried))
		err = tenon_error(
			-TENON_E_UNSUPPORTED,
			"the compatibility library is missing; tried %s. Install it beside "
			"libtenon, or name it in TENON_COMPAT_LIBRARY",
			tried.data ? tried.data : "nothing");
	else if (for_all && !compat_for_all)
		compat_for_all = dlopen(compat_path, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
	fork_gate_unlock(&compat_lock);
	tenon_buffer_fini(&tried);
	return err;
}

/* Address that calls of a name are bound to; NULL for names that are not the runtime's. */
static void *runtime_address(const char *name)
{
	void *address = NULL;

	if (!is_runtime_name(name))
		return NULL;
	address = tvm_table_find(name);
	if (!address && !dlsym(RTLD_DEFAULT, name) && !compat_library_open(false))
		address = dlsym(compat_handle, name);
	return address;
}

/* Refuse a name that lazy binding would not find: the process would end at its first call. */
static int refuse_unserved(void *handle, const char *name, bool is_code)
{
	if (runtime_address(name) || dlsym(handle, name) || dlsym(RTLD_DEFAULT, name))
		return 0;
	return tenon_error(
		-TENON_E_UNSUPPORTED,
		"it imports %s, which neither this build of Tenon nor the program offers", name);
}

int compat_library_open_lazily(const char *path, void **out)
{
	struct loaded_object object;
	void *handle;
	int err;

	*out = NULL;
	if (!loaded_object_can_rebind())
		return 0;
	handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	if (!handle)
		return 0;
	err = loaded_object_init(&object, handle);
	if (!err)
		err = loaded_object_each(&object, false, refuse_unserved, handle);
	if (err)
		dlclose(handle);
	else
		*out = handle;
	return err;
}

int compat_library_dlopen(const char *path, struct tenon_buffer *message, void **handle)
{
	const char *words;
	int err;

	if (!misses_runtime_name(message->data))
		return 0;
	err = compat_library_open(false);
	if (err)
		return tenon_error_in(err, "%s", message->data);
	if (scoped_open(path, compat_path, handle) == SCOPED_OPEN_IMPOSSIBLE) {
		err = compat_library_open(true);
		if (err)
			return err;
		*handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	words = *handle ? NULL : dlerror();
	if (!words)
		return 0;
	message->size = 0;
	return tenon_buffer_slice(message, tenon_slice_of(words));
}

void compat_library_serve(const struct loaded_object *o)
{
	if (loaded_object_needs(o, COMPAT_NAME))
		foreign_library_adopt();
	loaded_object_rebind(o, runtime_address);
}
