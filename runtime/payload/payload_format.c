/* SPDX-License-Identifier: MIT */
/* Find the format of a kind, registered, built in or of a backend. */
#include "lib/brief_errors.h"
#include "lib/fork_gate.h"
#include "lib/plugin.h"
#include "runtime/device/device_table.h"
#include "runtime/payload/payload_format.h"

#include <pthread.h>
#include <stdlib.h>

struct registered {
	const struct tenon_payload_format *format;
	struct registered *next;
};

static pthread_mutex_t register_lock = PTHREAD_MUTEX_INITIALIZER;
static struct registered *registered; /* insertion at the front only: readers take no lock */

typedef int (*visit_fn)(void *context, const struct tenon_payload_format *format);

static int each_registered(visit_fn visit, void *context)
{
	const struct registered *r;
	int result = 0;

	for (r = __atomic_load_n(&registered, __ATOMIC_ACQUIRE); r && !result; r = r->next)
		result = visit(context, r->format);
	return result;
}

static int each_of(const struct tenon_payload_format *const *list, visit_fn visit, void *context)
{
	int result = 0;

	for (; list && *list && !result; list++)
		result = visit(context, *list);
	return result;
}

struct foreign_visit {
	visit_fn visit;
	void *context;
};

static int visit_foreign(void *context, const struct tenon_backend *b)
{
	const struct foreign_visit *v = context;
	struct plugin *const *p = plugin_table;

	while (*p && (*p)->backend != b)
		p++;
	return *p ? 0 : each_of(BACKEND_SLOT(b, formats), v->visit, v->context);
}

static int each_foreign(visit_fn visit, void *context)
{
	struct foreign_visit v = { visit, context };

	return OPTION_ON(DEVICES) ? tenon_backend_each(visit_foreign, &v) : 0;
}

/* Those of the backends in the table; or of those that are left out. */
static int each_of_table(bool left_out, visit_fn visit, void *context)
{
	struct plugin *const *p;
	int result = 0;

	for (p = plugin_table; *p && !result; p++)
		if (left_out == !(*p)->backend)
			result = each_of((*p)->formats, visit, context);
	return result;
}

int payload_format_each(bool plugins, visit_fn visit, void *context)
{
	int result;

	result = each_registered(visit, context);
	if (!result)
		result = each_of(payload_own_formats, visit, context);
	if (!result)
		result = each_of_table(false, visit, context);
	if (!result && plugins)
		result = each_foreign(visit, context);
	if (!result)
		result = each_of_table(true, visit, context);
	return result ? result : each_of(payload_listed_formats, visit, context);
}

struct wanted {
	struct tenon_slice kind;
	const struct tenon_payload_format *found;
};

static int has_kind(void *context, const struct tenon_payload_format *format)
{
	struct wanted *w = context;
	const char *const *kind;

	for (kind = format->kinds; *kind; kind++)
		if (tenon_slice_equal(tenon_slice_of(*kind), w->kind)) {
			w->found = format;
			return 1;
		}
	return 0;
}

const struct tenon_payload_format *payload_format_of(struct tenon_slice kind)
{
	struct wanted w = { kind, NULL };

	payload_format_each(true, has_kind, &w);
	return w.found;
}

/* Test whether a registered format has one of the kinds of @format. */
static bool is_taken(const struct tenon_payload_format *format)
{
	struct wanted w = { .found = NULL };
	const char *const *kind;

	for (kind = format->kinds; *kind && !w.found; kind++) {
		w.kind = tenon_slice_of(*kind);
		each_registered(has_kind, &w);
	}
	return w.found;
}

int tenon_payload_format_register(const struct tenon_payload_format *format)
{
	struct registered *r;
	int err = 0;

	if (format->size < offsetof(struct tenon_payload_format, remedy) || !format->kinds ||
	    !format->kinds[0] || !format->fields)
		return tenon_error(-TENON_E_USAGE,
				   "a payload format of %zu bytes: want kinds and fields",
				   format->size);
	r = malloc(sizeof(*r));
	if (!r)
		return tenon_error(-TENON_E_NOMEM, "no memory to register a payload format");
	r->format = format;
	fork_gate_lock(&register_lock);
	if (is_taken(format)) {
		err = tenon_error(-TENON_E_EXISTS,
				  "a kind of the payload format of \"%s\" is registered already",
				  format->kinds[0]);
		free(r);
	} else {
		r->next = registered;
		__atomic_store_n(&registered, r, __ATOMIC_RELEASE);
	}
	fork_gate_unlock(&register_lock);
	return err;
}
