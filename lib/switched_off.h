/* SPDX-License-Identifier: MIT */
/* Stubs of public functions that a build leaves out: programs link with every build. */
#ifndef LIB_SWITCHED_OFF_H
#define LIB_SWITCHED_OFF_H

/* OFF_REASON, defined by the file that has the stubs, raises an error with the option's name and returns its status. */

#include <tenon/error.h>

#include "lib/brief_errors.h"

/* a function that fails */
#define OFF(name, parameters)                                                                      \
	int name parameters                                                                        \
	{                                                                                          \
		return OFF_REASON;                                                                 \
	}

/* one that clears its result and fails */
#define OFF_OUT(name, emptied, parameters)                                                         \
	int name parameters                                                                        \
	{                                                                                          \
		emptied;                                                                           \
		return OFF_REASON;                                                                 \
	}

/* one that returns a value and cannot fail */
#define OFF_VALUE(type, name, value, parameters)                                                   \
	type name parameters                                                                       \
	{                                                                                          \
		return value;                                                                      \
	}

/* one without a result */
#define OFF_VOID(name, parameters)                                                                 \
	void name parameters                                                                       \
	{                                                                                          \
	}

#endif /* LIB_SWITCHED_OFF_H */
