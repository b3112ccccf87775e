/* SPDX-License-Identifier: MIT */
/* Objects of Python as values of the library, and the reverse. */
#ifndef PYTHON_VALUES_H
#define PYTHON_VALUES_H

#include "core.h"

/* temporaries of a call that allocates nothing */
#define TEMPORARIES_INSIDE 8

/**
 * struct temporary - what a view of an argument points to during a call
 * @object: a reference of the library to release afterwards; NULL for none
 * @pinned: a tensor with borrowed data, which tensor_end() waits for; NULL for none
 * @bytes: of an argument that lives longer
 */
struct temporary {
	struct tenon_object *object;
	struct core_tensor *pinned;
	struct tenon_slice bytes;
};

/** struct temporaries - those of a call, from temporaries_begin() to temporaries_end() */
struct temporaries {
	size_t used;
	size_t more_used;
	size_t more_room;
	struct temporary **more;
	struct temporary inside[TEMPORARIES_INSIDE];
};

/** temporaries_begin - none yet; what is inside needs no initialisation */
static inline void temporaries_begin(struct temporaries *t)
{
	t->used = 0;
	t->more_used = 0;
	t->more_room = 0;
	t->more = NULL;
}

/* what temporaries_end() does when there are some */
void temporaries_release(struct temporaries *t);

/** temporaries_end - release all; with the GIL */
static inline void temporaries_end(struct temporaries *t)
{
	if (t->used)
		temporaries_release(t);
}

/**
 * values_view - make a view of an object of Python, for the arguments of a call
 * @t: what the view points to, until temporaries_end()
 * @from: the object, which lives until then
 * @out: receives the view
 *
 * Return: 0; -1 with an exception set.
 */
int values_view(struct temporaries *t, PyObject *from, struct tenon_value *out);

/**
 * values_view_int - as values_view(), of a small int in place where its layout is known
 *
 * Return: false for all else.
 */
static inline bool values_view_int(PyObject *from, struct tenon_value *out)
{
#if defined(Py_LIMITED_API) || PY_VERSION_HEX >= 0x030c0000
	return false;
#else
	Py_ssize_t digits;

	if (Py_TYPE(from) != &PyLong_Type)
		return false;
	/* the size has the sign; the digit of 0 is undefined */
	digits = Py_SIZE(from);
	if (digits < -1 || digits > 1)
		return false;
	*out = tenon_arg_int(digits ? digits * (int64_t)((PyLongObject *)from)->ob_digit[0] : 0);
	return true;
#endif
}

/** values_own - make an owned value of an object of Python; 0, or -1 with an exception set */
int values_own(PyObject *from, struct tenon_value *out);

/** values_python - the object of Python for an owned value, which is taken over, also on failure */
PyObject *values_python(struct tenon_value *owned);

/** values_text - a str of borrowed bytes; those that are no UTF-8 are kept as surrogates */
PyObject *values_text(struct tenon_slice text);

#endif /* PYTHON_VALUES_H */
