/* SPDX-License-Identifier: MIT */
#include "runtime/loader/dso_env.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/core/reference.h"

/*
 * Give the target with a reference, looked up where there is none. One that may hold the library is
 * not kept, or neither would ever go: it is looked up at each call. Lock held.
 */
static int env_function_target(struct dso_env_function *f, struct tenon_function **out)
{
	struct tenon_slice name = { f->name, f->size };
	bool may_hold;
	int err;

	*out = f->target;
	if (f->target) {
		object_ref(&f->target->object);
		return 0;
	}
	if (!f->env->dso)
		return tenon_error(-TENON_E_LOST,
				   "function \"%s\" is called by a library whose module was closed",
				   f->name);
	err = dso_resolve(f->env->dso, name, out, &may_hold);
	if (err || may_hold)
		return err;
	object_ref(&(*out)->object);
	__atomic_store_n(&f->target, *out, __ATOMIC_RELEASE);
	return 0;
}

static int env_function_call_slow(struct dso_env_function *f, const struct tenon_value *args,
				  int32_t count, struct tenon_value *ret)
{
	struct tenon_function *target;
	int err;

	dso_lock();
	err = env_function_target(f, &target);
	dso_unlock();
	if (err)
		return err;
	err = target->call(target, args, count, ret);
	object_unref(&target->object);
	return err;
}

static int env_function_call(void *self, const struct tenon_value *args, int32_t count,
			     struct tenon_value *ret)
{
	struct dso_env_function *f = self;
	struct tenon_function *target = __atomic_load_n(&f->target, __ATOMIC_ACQUIRE);

	if (!target)
		return env_function_call_slow(f, args, count, ret);
	return target->call(target, args, count, ret);
}

static struct dso_env_function *env_function_new(struct dso_env *env, struct tenon_slice name)
{
	struct dso_env_function *f = calloc(1, sizeof(*f) + name.size + 1);

	if (!f) {
		tenon_error(-TENON_E_NOMEM, "no memory for a function handle");
		return NULL;
	}
	/* no deleter: freed with the mapping, whatever foreign code does to the count */
	tenon_object_init(&f->base.object, TENON_TYPE_FUNCTION, NULL);
	f->base.call = env_function_call;
	f->env = env;
	f->size = name.size;
	memcpy(f->name, name.data, name.size);
	return f;
}

int dso_env_get(struct dso_env *env, struct tenon_slice name, struct tenon_function **borrowed)
{
	struct dso_env_function *f, *fresh = NULL;
	struct tenon_function *target;
	int err;

	*borrowed = NULL;
	for (f = env->functions; f; f = f->next)
		if (f->size == name.size && !memcmp(f->name, name.data, name.size))
			break;
	if (!f) {
		f = fresh = env_function_new(env, name);
		if (!f)
			return -TENON_E_NOMEM;
	}
	err = env_function_target(f, &target);
	if (err) {
		free(fresh);
		return err;
	}
	object_unref(&target->object);
	if (fresh) {
		f->next = env->functions;
		env->functions = f;
	}
	*borrowed = &f->base;
	return 0;
}

void dso_env_forget(struct dso_env *env)
{
	struct tenon_function *target;
	struct dso_env_function *f;

	for (f = env->functions; f; f = f->next) {
		target = __atomic_exchange_n(&f->target, NULL, __ATOMIC_ACQ_REL);
		tenon_object_unref(target);
	}
}

void dso_env_free(struct dso_env *env)
{
	struct dso_env_function *f, *next;

	for (f = env->functions; f; f = next) {
		next = f->next;
		free(f);
	}
	free(env);
}
