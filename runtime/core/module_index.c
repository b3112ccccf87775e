/* SPDX-License-Identifier: MIT */
/* Walk all modules below one and index their function names. */
#include "runtime/core/module_index.h"

#include <pthread.h>
#include <stdlib.h>

#include <tenon/backend/module_kind.h>

#include "lib/array_room.h"
#include "lib/brief_errors.h"
#include "lib/fork_gate.h"
#include "lib/string_map.h"
#include "runtime/core/module_imports.h"

struct tenon_module_index {
	struct string_map names; /* name to the module's position in @order, plus one */
	struct tenon_module **order;
	size_t count;
	size_t room;
	size_t *open; /* positions of modules that know names they do not list */
	size_t open_count;
	size_t unread;	    /* first module whose names could not be read, plus one; 0: none */
	uint64_t signature; /* of the tree that was indexed */
	uint64_t epoch;	    /* last epoch at which @signature was verified */
};

static pthread_mutex_t index_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t index_epoch = 1;

uint64_t module_index_touch(void)
{
	return __atomic_add_fetch(&index_epoch, 1, __ATOMIC_RELEASE);
}

void module_index_free(struct tenon_module_index *index)
{
	if (!index)
		return;
	string_map_fini(&index->names);
	free(index->order);
	free(index->open);
	free(index);
}

/* Set of visited modules, hashed by address. */
struct walked {
	struct tenon_module **slot;
	size_t slots;
	size_t used;
};

static struct tenon_module **walked_probe(const struct walked *w, struct tenon_module *m)
{
	size_t at = ((uintptr_t)m >> 4) * 31 & (w->slots - 1);

	while (w->slot[at] && w->slot[at] != m)
		at = (at + 1) & (w->slots - 1);
	return &w->slot[at];
}

/* Grow the table for @count modules and as many again. */
static int walked_grow(struct walked *w, size_t count)
{
	struct walked fresh = { NULL, 16, w->used };
	size_t i;

	while (fresh.slots / 2 <= count)
		fresh.slots *= 2;
	fresh.slot = calloc(fresh.slots, sizeof(*fresh.slot));
	if (!fresh.slot)
		return tenon_error(-TENON_E_NOMEM, "no memory to walk over imports");
	for (i = 0; i < w->slots; i++)
		if (w->slot[i])
			*walked_probe(&fresh, w->slot[i]) = w->slot[i];
	free(w->slot);
	*w = fresh;
	return 0;
}

/* 1 when @m is new, 0 when it was already visited, -TENON_E_NOMEM. */
static int walked_add(struct walked *w, struct tenon_module *m)
{
	struct tenon_module **slot;
	int err;

	if (w->used >= w->slots / 2) {
		err = walked_grow(w, w->used);
		if (err)
			return err;
	}
	slot = walked_probe(w, m);
	if (*slot)
		return 0;
	*slot = m;
	w->used++;
	return 1;
}

struct walk_frame {
	struct tenon_module *module;
	size_t next;
};

struct walk_stack {
	struct walk_frame *frame;
	size_t depth;
	size_t room;
};

static int walk_push(struct walk_stack *s, struct tenon_module *m)
{
	if (!array_reserve(s->frame, s->room, s->depth + 1))
		return tenon_error(-TENON_E_NOMEM, "no memory to walk over imports");
	s->frame[s->depth].module = m;
	s->frame[s->depth++].next = 0;
	return 0;
}

/* Uses an explicit stack: a blob may nest as deep as it has modules. */
int module_walk_imports(struct tenon_module *m, module_walk_fn visit, void *context)
{
	struct walk_stack s = { NULL, 0, 0 };
	struct walked seen = { NULL, 0, 0 };
	struct walk_frame *top;
	struct tenon_module *child;
	int err;

	err = walk_push(&s, m);
	if (!err && m->import_count)
		err = walked_grow(&seen, m->import_count);
	while (!err && s.depth) {
		top = &s.frame[s.depth - 1];
		if (top->next == top->module->import_count) {
			s.depth--;
			continue;
		}
		child = top->module->imports[top->next++];
		err = walked_add(&seen, child);
		if (err <= 0)
			continue;
		err = visit(context, child);
		if (!err && child->import_count)
			err = walk_push(&s, child);
	}
	free(s.frame);
	free(seen.slot);
	return err;
}

/* Hash the change numbers, not the addresses: a new module may reuse a freed one's address. */
static int sign_module(void *context, struct tenon_module *m)
{
	uint64_t *signature = context;

	*signature = *signature * UINT64_C(0x9e3779b97f4a7c15) + module_imports_change(m);
	return 0;
}

static int index_name(void *context, struct tenon_slice name)
{
	struct tenon_module_index *index = context;
	void **slot = string_map_slot(&index->names, name);

	if (!slot)
		return -TENON_E_NOMEM;
	if (!*slot)
		*slot = (void *)(uintptr_t)index->count;
	return 0;
}

static int index_module(void *context, struct tenon_module *m)
{
	struct tenon_module_index *index = context;
	struct tenon_module **order;
	size_t *open, room;
	int err;

	sign_module(&index->signature, m);
	if (index->count == index->room) {
		/* estimate: as many modules as expected names */
		room = index->room ? 2 * index->room : index->names.slots + 8;
		order = realloc(index->order, room * sizeof(*order));
		if (order)
			index->order = order;
		open = realloc(index->open, room * sizeof(*open));
		if (open)
			index->open = open;
		if (!order || !open)
			return tenon_error(-TENON_E_NOMEM, "no memory for an index of %zu modules",
					   room);
		index->room = room;
	}
	index->order[index->count++] = m;
	if (!m->ops->each_function || (m->flags & TENON_MODULE_OPEN_NAMES)) {
		index->open[index->open_count++] = index->count - 1;
		return 0;
	}
	err = m->ops->each_function(m, index_name, index);
	if (!err || err == -TENON_E_NOMEM)
		return err;
	/* Functions of other modules stay usable; a lookup that finds nothing raises this again. */
	tenon_error_clear();
	if (!index->unread)
		index->unread = index->count;
	return 0;
}

static struct tenon_module_index *index_make(struct tenon_module *m)
{
	struct tenon_module_index *index = calloc(1, sizeof(*index));

	if (!index) {
		tenon_error(-TENON_E_NOMEM, "no memory for an index of functions");
		return NULL;
	}
	sign_module(&index->signature, m);
	if (string_map_reserve(&index->names, m->import_count) ||
	    module_walk_imports(m, index_module, index)) {
		module_index_free(index);
		return NULL;
	}
	return index;
}

/* Return the index of @m; rebuild it when imports changed since it was verified. */
static struct tenon_module_index *index_get(struct tenon_module *m)
{
	uint64_t epoch = __atomic_load_n(&index_epoch, __ATOMIC_ACQUIRE), signature = 0;
	struct tenon_module_index *index = __atomic_load_n(&m->index, __ATOMIC_ACQUIRE);

	if (index && __atomic_load_n(&index->epoch, __ATOMIC_RELAXED) == epoch)
		return index;
	fork_gate_lock(&index_lock);
	index = m->index;
	sign_module(&signature, m);
	if (index && module_walk_imports(m, sign_module, &signature)) {
		index = NULL;
		goto unlock;
	}
	if (!index || index->signature != signature) {
		index = index_make(m);
		if (!index)
			goto unlock;
		/* No other thread reads it now: see tenon_module_import(). */
		module_index_free(m->index);
		index->epoch = epoch;
		__atomic_store_n(&m->index, index, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&index->epoch, epoch, __ATOMIC_RELAXED);
unlock:
	fork_gate_unlock(&index_lock);
	return index;
}

int module_index_find(struct tenon_module *m, struct tenon_slice name, struct tenon_function **out)
{
	struct tenon_module_index *index = index_get(m);
	struct tenon_module *owner;
	size_t i, place;
	int err;

	*out = NULL;
	if (!index)
		return tenon_error_status();
	place = (size_t)(uintptr_t)string_map_get(&index->names, name);
	for (i = 0; i < index->open_count; i++) {
		if (place && index->open[i] >= place)
			break;
		owner = index->order[index->open[i]];
		err = owner->ops->get_function ? owner->ops->get_function(owner, name, out) : 0;
		if (err || *out)
			return err;
	}
	if (!place)
		place = index->unread;
	if (!place)
		return 0;
	owner = index->order[place - 1];
	return owner->ops->get_function ? owner->ops->get_function(owner, name, out) : 0;
}
