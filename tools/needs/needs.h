/* SPDX-License-Identifier: MIT */
/* What files use of the library: lists of names, and the options of a build that has them. */
#ifndef TOOLS_NEEDS_NEEDS_H
#define TOOLS_NEEDS_NEEDS_H

#include <stdbool.h>
#include <stddef.h>
#include <tenon/string.h>

#include "tools/cli/verbs.h"

/** enum needs_sort - what a name is; the lists of struct needs */
enum needs_sort {
	NEEDS_EXECUTOR,	   /* "relax" */
	NEEDS_BUILTIN,	   /* function of the Relax machine */
	NEEDS_BACKEND,	   /* "opencl" */
	NEEDS_FORMAT,	   /* kind of a module, with the format of its program: "opencl cl" */
	NEEDS_DTYPE,	   /* "float32" */
	NEEDS_FUNCTION,	   /* global function that the program registers */
	NEEDS_RUNTIME,	   /* function of TVM's runtime that compiled code imports */
	NEEDS_UNSUPPORTED, /* kind of a module that no build runs */
	NEEDS_OPTION,	   /* "RELAX_VM" */
	NEEDS_SHOWN,	   /* lists up to here are shown */
	NEEDS_CALLED = NEEDS_SHOWN, /* function that a model calls */
	NEEDS_PROVIDED,		    /* function of the files */
	NEEDS_SORTS,
};

/**
 * struct needs_item - a name
 * @name: allocated
 * @why: of an option, what needs it; allocated; else NULL
 */
struct needs_item {
	char *name;
	char *why;
};

/**
 * struct needs_list - names; in order, each once, after needs_settle()
 * @items: @count items
 * @count: how many
 */
struct needs_list {
	struct needs_item *items;
	size_t count;
};

/**
 * struct needs - what some files use
 * @lists: by enum needs_sort
 */
struct needs {
	struct needs_list lists[NEEDS_SORTS];
};

/** needs_add - add a name; 0 or -TENON_E_NOMEM */
int needs_add(struct needs *n, enum needs_sort sort, struct tenon_slice name);

/** needs_add_option - add an option, and the file and the part of it that need it; 0 or -TENON_E_NOMEM */
int needs_add_option(struct needs *n, struct tenon_slice option, const char *file,
		     const char *part);

/**
 * needs_read - add what a file uses: a module, a model for an NPU, or a file of parameters
 *
 * No code of the file runs.
 *
 * Return: 0; as tenon_link_inspect().
 */
int needs_read(struct needs *n, const char *file);

/** needs_settle - after the last file: sort the lists, and tell builtins and foreign functions apart; as needs_add() */
int needs_settle(struct needs *n);

/** needs_fini - free the lists */
void needs_fini(struct needs *n);

#endif /* TOOLS_NEEDS_NEEDS_H */
