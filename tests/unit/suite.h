/* SPDX-License-Identifier: MIT */
/* What every suite needs: cmocka behind the headers that it wants first, and checks of the thread's error. */
#ifndef TESTS_UNIT_SUITE_H
#define TESTS_UNIT_SUITE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <tenon/tenon.h>

/* Without messages, all that can be asked is that there is one. */
#ifdef CONFIG_ERROR_MESSAGES
#define message_is(text)  (!strcmp(tenon_error_message(), text))
#define message_has(text) (strstr(tenon_error_message(), text) != NULL)
#else
#define message_is(text)  (*tenon_error_message() || !*(text))
#define message_has(text) message_is(text)
#endif

/* The thread's message is exactly this; the slot is emptied. */
static inline void assert_error_at(const char *text, const char *file, int line)
{
	if (!message_is(text)) {
		print_error("expected: %s\nfound:    %s\n", text, tenon_error_message());
		_fail(file, line);
	}
	tenon_error_clear();
}

/* The thread's message holds this; the slot is emptied. */
static inline void assert_error_has_at(const char *text, const char *file, int line)
{
	if (!message_has(text)) {
		print_error("expected: … %s …\nfound:    %s\n", text, tenon_error_message());
		_fail(file, line);
	}
	tenon_error_clear();
}

#define assert_error(text)     assert_error_at(text, __FILE__, __LINE__)
#define assert_error_has(text) assert_error_has_at(text, __FILE__, __LINE__)

/* how a device that nothing drives is refused */
#ifdef CONFIG_DEVICES
#define NO_SUCH_DEVICE (-TENON_E_DEVICE)
#else
#define NO_SUCH_DEVICE (-TENON_E_UNSUPPORTED)
#endif

#define assert_slice(slice, text)                                                                  \
	do {                                                                                       \
		assert_int_equal((slice).size, sizeof(text) - 1);                                  \
		assert_memory_equal((slice).data, text, sizeof(text) - 1);                         \
	} while (0)

static inline unsigned int strong_count(const void *object)
{
	return (unsigned int)((const struct tenon_object *)object)->refs;
}

#endif /* TESTS_UNIT_SUITE_H */
