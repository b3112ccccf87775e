/* SPDX-License-Identifier: MIT */
/* Runs the threads of a model as contexts of one thread, in every order, with every value that a load may see. */
/* longjmp() is to leave a stack for another one, which the checks of hardened builds refuse */
#undef _FORTIFY_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/model/explore_state.h"

#define STEPS 400
#define NODES 1000

/* A choice: of the thread that goes on, or of one of @count values. */
struct node {
	bool of_thread;
	int count, chosen;
	unsigned int enabled, done, asleep;
	int at[EXPLORE_THREADS];
	bool writes[EXPLORE_THREADS];
};

struct step {
	int thread;
	const struct explore_site *site;
	uint64_t value;
};

uint64_t explore_orders;
struct explore_site *explore_sites;
static const struct explore_model *model;
struct explore_thread explore_threads[EXPLORE_THREADS];
int explore_now;
static struct node nodes[NODES];
static struct step steps[STEPS];
static int node_count, depth, step_count, last, switches;
static jmp_buf explorer;
static const char *failed;

void explore_leave(void)
{
	if (!_setjmp(explore_threads[explore_now].here))
		_longjmp(explorer, 1);
}

void explore_fail(const char *what)
{
	if (!failed)
		failed = what;
	if (explore_now >= 0)
		explore_leave();
}

/* ---- choices */

static struct node *next_node(bool *known)
{
	if (depth == NODES) {
		fprintf(stderr, "explore: an order has more than %d choices\n", NODES);
		abort();
	}
	*known = depth < node_count;
	if (!*known) {
		nodes[depth] = (struct node){ 0 };
		node_count++;
	}
	return &nodes[depth++];
}

int explore_choose(int count)
{
	struct node *n;
	bool known;

	if (count < 2)
		return 0;
	n = next_node(&known);
	n->count = count;
	return n->chosen;
}

static bool independent(const struct node *n, int a, int b)
{
	if (n->at[a] == ANYWHERE || n->at[b] == ANYWHERE)
		return false;
	return n->at[a] != n->at[b] || (!n->writes[a] && !n->writes[b]);
}

/* Threads that need not go on here, because an earlier choice before the last step covered it. */
static unsigned int asleep_after_last(void)
{
	const struct node *n;
	unsigned int asleep = 0;
	int i;

	for (i = depth - 2; i >= 0 && !nodes[i].of_thread; i--)
		;
	if (i < 0 || model->switches)
		return 0;
	n = &nodes[i];
	for (i = 0; i < model->threads; i++)
		if (((n->asleep | n->done) >> i & 1) && independent(n, i, n->chosen))
			asleep |= 1u << i;
	return asleep;
}

/* The next thread; -1: each order from here was tried. */
static int choose_thread(unsigned int enabled)
{
	struct node *n;
	bool known;
	int i;

	n = next_node(&known);
	if (known)
		return n->chosen;
	n->of_thread = true;
	if (model->switches && switches == model->switches && enabled >> last & 1)
		enabled = 1u << last;
	n->enabled = enabled;
	n->asleep = asleep_after_last();
	for (i = 0; i < model->threads; i++) {
		n->at[i] = explore_threads[i].at;
		n->writes[i] = explore_threads[i].writes;
	}
	n->chosen = __builtin_ffs((int)(enabled & ~n->asleep)) - 1;
	return n->chosen;
}

/* The next order; false: that was the last one. */
static bool next_order(void)
{
	struct node *n;

	for (; node_count; node_count--) {
		n = &nodes[node_count - 1];
		if (!n->of_thread) {
			if (++n->chosen < n->count)
				return true;
			continue;
		}
		if (n->chosen < 0)
			continue;
		n->done |= 1u << n->chosen;
		n->chosen = __builtin_ffs((int)(n->enabled & ~n->done & ~n->asleep)) - 1;
		if (n->chosen >= 0)
			return true;
	}
	return false;
}

/* ---- operations */

unsigned int explore_kept(struct explore_site *site, unsigned int halves)
{
	if (halves && !site->halves) {
		site->next = explore_sites;
		explore_sites = site;
	}
	site->halves |= halves;
	return halves & ~site->weak;
}

void explore_note(const struct explore_site *site, uint64_t value)
{
	if (step_count == STEPS)
		explore_fail("an order has no end");
	steps[step_count++] = (struct step){ explore_now, site, value };
}

/* ---- orders */

static void enter(void)
{
	model->thread[explore_now]();
	explore_threads[explore_now].state = ENDED;
	explore_leave();
}

static void go_on(int i)
{
	if (model->local_size)
		memcpy(model->local, explore_threads[i].local, model->local_size);
	explore_now = i;
	explore_threads[i].view.clock[i]++;
	/* not swapcontext(), which makes two system calls */
	if (!_setjmp(explorer)) {
		if (explore_threads[i].begun)
			_longjmp(explore_threads[i].here, 1);
		explore_threads[i].begun = true;
		setcontext(&explore_threads[i].begin);
	}
	i = explore_now;
	explore_now = -1;
	if (model->local_size)
		memcpy(explore_threads[i].local, model->local, model->local_size);
}

static void start(void)
{
	int i;

	depth = step_count = switches = last = 0;
	explore_forget();
	for (i = 0; i < EXPLORE_THREADS; i++)
		explore_threads[i].state = ENDED;
	explore_now = -1;
	model->begin();
	for (i = 0; i < model->threads; i++) {
		struct explore_thread *t = &explore_threads[i];

		t->view = t->released = t->unseen = (struct explore_view){ 0 };
		memset(t->again, 0, sizeof(t->again));
		t->state = READY;
		t->locks = t->begun = false;
		if (model->local_size && !t->local)
			t->local = malloc(model->local_size);
		if (model->local_size)
			memcpy(t->local, model->local, model->local_size);
		getcontext(&t->begin);
		t->begin.uc_stack.ss_sp = t->stack;
		t->begin.uc_stack.ss_size = STACK;
		makecontext(&t->begin, enter, 0);
	}
	for (i = 0; i < model->threads; i++)
		go_on(i); /* to its first operation */
}

static void run_order(void)
{
	unsigned int enabled, ended;
	int i;

	for (start(); !failed;) {
		for (i = 0, enabled = ended = 0; i < model->threads; i++) {
			const struct explore_thread *t = &explore_threads[i];

			ended += t->state == ENDED;
			if (t->state == READY && (!t->locks || explore_locations[t->at].owner < 0))
				enabled |= 1u << i;
		}
		if ((int)ended == model->threads) {
			model->end();
			return;
		}
		if (!enabled) {
			failed = "threads sleep, and none wakes them";
			return;
		}
		i = choose_thread(enabled);
		if (i < 0)
			return;
		switches += i != last && enabled >> last & 1;
		last = i;
		go_on(i);
	}
}

static void show_order(void)
{
	int i;

	fprintf(stderr, "# %s, in order %llu:\n", failed, (unsigned long long)explore_orders);
	for (i = 0; i < step_count; i++)
		fprintf(stderr, "#   thread %d: %s, %s: %llu\n", steps[i].thread,
			steps[i].site->function, steps[i].site->operation,
			(unsigned long long)steps[i].value);
}

const char *explore(const struct explore_model *m, bool show)
{
	model = m;
	failed = NULL;
	node_count = 0;
	explore_orders = 0;
	do {
		explore_orders++;
		run_order();
	} while (!failed && next_order());
	if (failed && show)
		show_order();
	return failed;
}
