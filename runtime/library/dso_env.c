/* SPDX-License-Identifier: MIT */
/* Stand-in functions of a mapping, whose targets are looked up at their first call. */
#include "runtime/library/dso_env.h"

#include <stdlib.h>
#include <string.h>

#include "lib/brief_errors.h"
#include "runtime/core/arguments.h"
#include "runtime/core/reference.h"

static int env_function_call_slow(struct dso_env_function *f, const struct tenon_value *args,
				  int32_t count, struct tenon_value *ret)
{
	struct tenon_function *target;
	int err;

	err = dso_env_target(f, &target);
	if (err)
		return err;
	err = target->call(target, args, count, ret);
	object_unref(&target->object);
	return err;
}

static PACKED_CALL(env_function_call)
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
	/* No deleter: the mapping owns it, whatever foreign code does to the count. */
	tenon_object_init(&f->base.object, TENON_TYPE_FUNCTION, NULL);
	f->base.call = env_function_call;
	f->env = env;
	f->size = name.size;
	memcpy(f->name, name.data, name.size);
	f->next = env->functions;
	env->functions = f;
	return f;
}

int dso_env_get(struct dso_env *env, struct tenon_slice name, struct tenon_function **borrowed)
{
	struct tenon_function *target;
	struct dso_env_function *f;
	int err;

	*borrowed = NULL;
	dso_lock();
	for (f = env->functions; f; f = f->next)
		if (f->size == name.size && !memcmp(f->name, name.data, name.size))
			break;
	/* A function that is missing now may exist at the next lookup. */
	if (!f)
		f = env_function_new(env, name);
	dso_unlock();
	if (!f)
		return -TENON_E_NOMEM;
	err = dso_env_target(f, &target);
	if (err)
		return err;
	object_unref(&target->object);
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
