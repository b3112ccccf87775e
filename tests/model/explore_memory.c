/* SPDX-License-Identifier: MIT */
/* The memory of a model: histories of locations, views of threads, mutexes and sleepers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/model/explore_state.h"

struct explore_location explore_locations[LOCATIONS];
static struct explore_view ordered; /* what fences and sequentially consistent operations share */
static int location_count;

void explore_forget(void)
{
	location_count = 0;
	ordered = (struct explore_view){ 0 };
}

static void join(struct explore_view *to, const struct explore_view *from)
{
	int i;

	for (i = 0; i < LOCATIONS; i++)
		to->at[i] = to->at[i] < from->at[i] ? from->at[i] : to->at[i];
	for (i = 0; i < EXPLORE_THREADS; i++)
		to->clock[i] = to->clock[i] < from->clock[i] ? from->clock[i] : to->clock[i];
}

/* ---- operations */

static unsigned int halves_of(int order)
{
	switch (order) {
	case __ATOMIC_RELAXED:
		return 0;
	case __ATOMIC_RELEASE:
		return EXPLORE_RELEASE;
	case __ATOMIC_CONSUME:
	case __ATOMIC_ACQUIRE:
		return EXPLORE_ACQUIRE;
	default:
		return EXPLORE_RELEASE | EXPLORE_ACQUIRE;
	}
}

static int location_of(const void *p, size_t size)
{
	int i;

	for (i = 0; i < location_count; i++)
		if (explore_locations[i].p == p)
			return i;
	if (location_count == LOCATIONS) {
		fprintf(stderr, "explore: more than %d locations\n", LOCATIONS);
		abort();
	}
	explore_locations[i] = (struct explore_location){ .p = p, .size = size, .owner = -1 };
	memcpy(&explore_locations[i].write[0].value, p, size > 8 ? 0 : size);
	location_count++;
	return i;
}

/* Let others go on before the operation. */
static struct explore_thread *before(int at, bool writes)
{
	struct explore_thread *t = &explore_threads[explore_now];

	t->at = at;
	t->writes = writes;
	explore_leave();
	return t;
}

static void see(struct explore_thread *t, const struct explore_write *w, unsigned int halves)
{
	join(halves & EXPLORE_ACQUIRE ? &t->view : &t->unseen, &w->carried);
}

static void write_new(struct explore_thread *t, int at, uint64_t value, unsigned int halves,
		      bool update)
{
	struct explore_location *l = &explore_locations[at];
	struct explore_write *w;

	if (l->last + 1 == WRITES)
		explore_fail("an order has no end of writes");
	w = &l->write[++l->last];
	w->value = value;
	t->view.at[at] = (uint8_t)l->last;
	t->again[at] = 0;
	w->carried = update ? w[-1].carried : (struct explore_view){ 0 };
	join(&w->carried, halves & EXPLORE_RELEASE ? &t->view : &t->released);
	w->carried.at[at] = (uint8_t)l->last;
	memcpy((void *)(uintptr_t)l->p, &value, l->size);
}

static void order_all(struct explore_thread *t, int order)
{
	if (order != __ATOMIC_SEQ_CST)
		return;
	join(&t->view, &ordered);
	join(&ordered, &t->view);
}

uint64_t explore_load(const void *p, size_t size, int order, struct explore_site *site)
{
	unsigned int halves = explore_kept(site, halves_of(order) & EXPLORE_ACQUIRE);
	int at = location_of(p, size), first, chosen;
	struct explore_thread *t = before(at, false);
	struct explore_location *l = &explore_locations[at];

	order_all(t, halves ? order : 0);
	first = t->view.at[at];
	/* the same old value again and again would have no end */
	if (first < l->last && t->again[at] >= 1)
		first++;
	chosen = l->last - explore_choose(l->last - first + 1);
	t->again[at] = chosen < l->last && chosen == t->view.at[at] ? t->again[at] + 1 : 0;
	t->view.at[at] = (uint8_t)chosen;
	see(t, &l->write[chosen], halves);
	explore_note(site, l->write[chosen].value);
	return l->write[chosen].value;
}

void explore_store(void *p, size_t size, uint64_t value, int order, struct explore_site *site)
{
	unsigned int halves = explore_kept(site, halves_of(order) & EXPLORE_RELEASE);
	int at = location_of(p, size);
	struct explore_thread *t = before(at, true);

	order_all(t, halves ? order : 0);
	write_new(t, at, value, halves, false);
	order_all(t, halves ? order : 0);
	explore_note(site, value);
}

static uint64_t updated(uint64_t old, enum explore_operation operation, uint64_t value)
{
	switch (operation) {
	case EXPLORE_ADD:
		return old + value;
	case EXPLORE_OR:
		return old | value;
	case EXPLORE_AND:
		return old & value;
	default:
		return value;
	}
}

static uint64_t cut(uint64_t value, size_t size)
{
	return size < 8 ? value & ((UINT64_C(1) << size * 8) - 1) : value;
}

uint64_t explore_update(void *p, size_t size, enum explore_operation operation, uint64_t value,
			int order, struct explore_site *site)
{
	unsigned int halves = explore_kept(site, halves_of(order));
	int at = location_of(p, size);
	struct explore_thread *t = before(at, true);
	const struct explore_write *w = &explore_locations[at].write[explore_locations[at].last];

	see(t, w, halves);
	write_new(t, at, cut(updated(w->value, operation, value), size), halves, true);
	explore_note(site, w->value);
	return w->value;
}

bool explore_swap(void *p, void *expected, size_t size, uint64_t value, int success, int failure,
		  struct explore_site *site)
{
	unsigned int halves = explore_kept(site, halves_of(success) | halves_of(failure));
	int at = location_of(p, size);
	struct explore_thread *t = before(at, true);
	const struct explore_write *w = &explore_locations[at].write[explore_locations[at].last];
	bool same = !memcmp(&w->value, expected, size);

	see(t, w, halves & halves_of(same ? success : failure));
	t->view.at[at] = (uint8_t)explore_locations[at].last;
	explore_note(site, w->value);
	if (same)
		write_new(t, at, cut(value, size), halves & halves_of(success), true);
	else
		memcpy(expected, &w->value, size);
	return same;
}

void explore_fence(int order, struct explore_site *site)
{
	unsigned int halves = explore_kept(site, halves_of(order));
	struct explore_thread *t = before(ANYWHERE, true);

	if (halves & EXPLORE_ACQUIRE)
		join(&t->view, &t->unseen);
	order_all(t, halves ? order : 0);
	if (halves & EXPLORE_RELEASE)
		t->released = t->view;
	explore_note(site, 0);
}

/* ---- sleep; what the kernel and the mutex do is in order */

void explore_sleep(uint32_t *word, uint32_t value)
{
	int at = location_of(word, sizeof(*word));
	struct explore_thread *t = before(at, true);

	if (explore_locations[at].write[explore_locations[at].last].value != value)
		return;
	t->state = ASLEEP;
	explore_leave();
}

void explore_wake(const void *p, bool all, struct explore_site *site)
{
	unsigned int halves = explore_kept(site, EXPLORE_WAKE);
	int at = location_of(p, 64), i, sleepers = 0, chosen;

	before(at, true);
	explore_note(site, 0);
	for (i = 0; i < EXPLORE_THREADS; i++)
		sleepers += explore_threads[i].state == ASLEEP && explore_threads[i].at == at;
	chosen = all ? 0 : explore_choose(sleepers);
	for (i = 0; i < EXPLORE_THREADS && halves; i++)
		if (explore_threads[i].state == ASLEEP && explore_threads[i].at == at &&
		    (all || !chosen--))
			explore_threads[i].state = READY;
}

void explore_lock(pthread_mutex_t *m)
{
	int at = location_of(m, 64);
	struct explore_thread *t = &explore_threads[explore_now];

	t->locks = true;
	before(at, true);
	t->locks = false;
	explore_locations[at].owner = explore_now;
	join(&t->view, &explore_locations[at].write[0].carried);
}

void explore_unlock(pthread_mutex_t *m, struct explore_site *site)
{
	unsigned int halves = explore_kept(site, EXPLORE_RELEASE);
	int at = location_of(m, 64);
	struct explore_thread *t = before(at, true);

	explore_locations[at].owner = -1;
	explore_note(site, 0);
	if (halves)
		join(&explore_locations[at].write[0].carried, &t->view);
}

void explore_condition(pthread_cond_t *c, pthread_mutex_t *m)
{
	int at = location_of(c, 64), mutex = location_of(m, 64);
	struct explore_thread *t = before(ANYWHERE, true);

	explore_locations[mutex].owner = -1;
	join(&explore_locations[mutex].write[0].carried, &t->view);
	t->state = ASLEEP;
	t->at = at;
	explore_leave();
	explore_lock(m);
}

/* ---- plain memory */

void explore_reads(const void *p)
{
	struct explore_location *l = &explore_locations[location_of(p, 64)];
	int i;

	for (i = 0; i < EXPLORE_THREADS; i++)
		if (explore_threads[explore_now].view.clock[i] < l->written[i])
			explore_fail("memory is read that another thread may be writing");
	l->read[explore_now] = explore_threads[explore_now].view.clock[explore_now];
}

void explore_writes(const void *p)
{
	struct explore_location *l = &explore_locations[location_of(p, 64)];
	int i;

	explore_reads(p);
	for (i = 0; i < EXPLORE_THREADS; i++)
		if (explore_threads[explore_now].view.clock[i] < l->read[i])
			explore_fail("memory is written that another thread may be reading");
	l->written[explore_now] = explore_threads[explore_now].view.clock[explore_now];
}