/* SPDX-License-Identifier: MIT */
/* One-time creation of library handles, under one recursive lock: creation may nest. */
#include <pthread.h>

#include "lib/brief_errors.h"
#include "lib/fork_gate.h"
#include "runtime/library/tvm_table.h"

static pthread_mutex_t once_mutex = PTHREAD_MUTEX_INITIALIZER;
static __thread unsigned int once_depth; /* recursion depth of this thread's lock */

static void once_lock(void)
{
	if (!once_depth++)
		fork_gate_lock(&once_mutex);
}

static void once_unlock(void)
{
	if (!--once_depth)
		fork_gate_unlock(&once_mutex);
}

static int init_locked(void **handle, int (*init)(void **result))
{
	void *made = NULL;
	int err;

	if (*handle)
		return 0;
	err = init(&made);
	if (err)
		return err;
	if (!made)
		return ffi_result(tenon_error(-TENON_E_USAGE,
					      "a handle's initialiser succeeded without a handle"));
	__atomic_store_n(handle, made, __ATOMIC_RELEASE);
	return 0;
}

int abi_ffi_init_once(void **handle, int (*init)(void **result))
{
	int err;

	if (__atomic_load_n(handle, __ATOMIC_ACQUIRE))
		return 0;
	once_lock();
	err = init_locked(handle, init);
	once_unlock();
	return err;
}

int abi_ffi_deinit_once(void **handle, int (*deinit)(void *handle))
{
	void *old;
	int err = 0;

	once_lock();
	old = __atomic_exchange_n(handle, NULL, __ATOMIC_ACQ_REL);
	if (old)
		err = deinit(old);
	once_unlock();
	return err;
}

int abi_backend_run_once(void **handle, int (*fn)(void *data), void *data, int size)
{
	int err = 0;

	if (__atomic_load_n(handle, __ATOMIC_ACQUIRE))
		return 0;
	once_lock();
	if (!*handle) {
		err = fn(data);
		if (!err)
			__atomic_store_n(handle, (void *)(uintptr_t)1, __ATOMIC_RELEASE);
	}
	once_unlock();
	return err;
}
