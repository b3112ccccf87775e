/* SPDX-License-Identifier: MIT */
/* Hold each object by a weak reference while a deed is done, and drop these behind it. */
#include "tests/nomem/weak_objects.h"

#include "tests/unit/suite.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define OBJECTS_MOST 65536

static void *objects[OBJECTS_MOST];
static atomic_size_t count;
static atomic_bool holds;

void __real_tenon_object_init(struct tenon_object *object, int32_t type,
			      void (*deleter)(void *self, int flags));
void __wrap_tenon_object_init(struct tenon_object *object, int32_t type,
			      void (*deleter)(void *self, int flags));

void __wrap_tenon_object_init(struct tenon_object *object, int32_t type,
			      void (*deleter)(void *self, int flags))
{
	size_t at;

	__real_tenon_object_init(object, type, deleter);
	/* what has no deleter goes with what made it */
	if (!atomic_load(&holds) || !deleter)
		return;
	at = atomic_fetch_add(&count, 1);
	if (at >= OBJECTS_MOST)
		return;
	tenon_object_ref_weak(object);
	objects[at] = object;
}

/* In a child: 0 when all is well, else a reason is printed. */
static int outlived(deed act)
{
	uint64_t want = 1, facts = 1, again = 1;
	int err = act(&want);
	size_t i;

	if (!err) {
		atomic_store(&holds, true);
		err = act(&facts);
		atomic_store(&holds, false);
	}
	/* what is made of others was made after them */
	i = atomic_load(&count);
	/* those beyond are counted, and not held */
	for (i = i < OBJECTS_MOST ? i : OBJECTS_MOST; i--;)
		tenon_object_unref_weak(objects[i]);
	if (!err)
		err = act(&again);
	if (!err && facts == want && again == want && atomic_load(&count) &&
	    atomic_load(&count) < OBJECTS_MOST)
		return 0;
	fprintf(stderr, "%d: %s; %zu objects, facts %llx, %llx and %llx\n", err,
		tenon_error_message(), atomic_load(&count), (unsigned long long)want,
		(unsigned long long)facts, (unsigned long long)again);
	return 1;
}

void objects_outlive_their_content(void **state)
{
	pid_t child;
	int status;

#ifndef __x86_64__
	print_message("the modules of these deeds are for x86-64\n");
	skip();
#endif
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		/* cmocka would go on with the next case */
		signal(SIGSEGV, SIG_DFL);
		alarm(300);
		_exit(outlived(*(const deed *)*state));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}
