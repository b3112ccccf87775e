/* SPDX-License-Identifier: MIT */
/* Errors as objects: convert the thread's error and chain causes and backtraces. */
#include "runtime/core/error_object.h"

#include <stdlib.h>
#include <string.h>
#include <tenon/string.h>

#include "lib/error_slot.h"
#include "runtime/core/nested_delete.h"
#include "runtime/core/reference.h"

static void (*foreign_move)(void **out);

void error_object_foreign_source(void (*move)(void **out))
{
	__atomic_store_n(&foreign_move, move, __ATOMIC_RELEASE);
}

/*
 * Kind, message and first backtrace are stored behind the struct, later backtraces in a block
 * apart.
 */
static bool backtrace_is_inside(const struct tenon_error *e)
{
	return e->backtrace.data == e->message.data + e->message.size + 1;
}

static void error_delete(void *self, int flags)
{
	struct tenon_error *e = self;

	if (flags & TENON_DELETE_CONTENT) {
		if ((e->cause || e->extra) && nested_delete(e, flags))
			return;
		tenon_object_unref(e->cause);
		tenon_object_unref(e->extra);
		if (!backtrace_is_inside(e))
			free((char *)e->backtrace.data);
	}
	if (flags & TENON_DELETE_MEMORY)
		free(e);
}

static void error_update_backtrace(void *self, const struct tenon_slice *text, int32_t mode)
{
	struct tenon_error *e = self;
	size_t keep = mode == 1 ? e->backtrace.size : 0;
	char *fresh;

	if (!text || text->size > SIZE_MAX / 2 || !(fresh = malloc(keep + text->size + 1)))
		return;
	if (keep)
		memcpy(fresh, e->backtrace.data, keep);
	if (text->size)
		memcpy(fresh + keep, text->data, text->size);
	fresh[keep + text->size] = '\0';
	if (!backtrace_is_inside(e))
		free((char *)e->backtrace.data);
	e->backtrace.data = fresh;
	e->backtrace.size = keep + text->size;
}

/* Test whether Tenon made the error, so that all fields of struct tenon_error are valid. */
static bool is_ours(const struct tenon_error *error)
{
	return error->object.deleter == error_delete;
}

static char *put(char *at, struct tenon_slice s, struct tenon_slice *out)
{
	if (s.size)
		memcpy(at, s.data, s.size);
	at[s.size] = '\0';
	out->data = at;
	out->size = s.size;
	return at + s.size + 1;
}

struct tenon_error *error_object_create(struct tenon_slice kind, struct tenon_slice message,
					struct tenon_slice backtrace, struct tenon_object *cause,
					struct tenon_object *extra)
{
	struct tenon_error *e;
	char *at;

	if (kind.size > SIZE_MAX / 8 || message.size > SIZE_MAX / 8 ||
	    backtrace.size > SIZE_MAX / 8)
		return NULL;
	e = malloc(sizeof(*e) + kind.size + message.size + backtrace.size + 3);
	if (!e)
		return NULL;
	tenon_object_init(&e->object, TENON_TYPE_ERROR, error_delete);
	at = put((char *)(e + 1), kind, &e->kind);
	at = put(at, message, &e->message);
	put(at, backtrace, &e->backtrace);
	e->update_backtrace = error_update_backtrace;
	e->cause = cause;
	e->extra = extra;
	tenon_object_ref(cause);
	tenon_object_ref(extra);
	return e;
}

struct tenon_error *tenon_error_create(struct tenon_slice kind, struct tenon_slice message,
				       struct tenon_slice backtrace, struct tenon_error *cause)
{
	return error_object_create(kind, message, backtrace, (struct tenon_object *)cause, NULL);
}

void tenon_error_raise(struct tenon_error *error)
{
	tenon_object_ref(error);
	error_slot_hold(error, tenon_object_unref, error->kind, error->message);
}

struct tenon_error *tenon_error_take(void)
{
	struct tenon_slice kind, message, none = { "", 0 };
	struct tenon_error *e, *cause;
	void *foreign = NULL;
	void (*move)(void **out);

	e = error_slot_take();
	if (e)
		return e;
	if (!tenon_error_status()) {
		move = __atomic_load_n(&foreign_move, __ATOMIC_ACQUIRE);
		if (move)
			move(&foreign);
		return foreign;
	}
	error_slot_read(&kind, &message);
	/* Frames make a new error. Python builds its traceback from this one, not from the cause. */
	cause = error_slot_object();
	e = tenon_error_create(kind, message, cause ? cause->backtrace : none, cause);
	if (e)
		tenon_error_clear();
	else
		error_set_ran_out(true);
	return e;
}

struct tenon_error *tenon_error_cause(const struct tenon_error *error)
{
	return is_ours(error) ? (struct tenon_error *)error->cause : NULL;
}
