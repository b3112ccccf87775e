/* SPDX-License-Identifier: MIT */
/* Choose a macro by whether an option is y, m or off. */
#ifndef LIB_OPTION_H
#define LIB_OPTION_H

/*
 * Tables with a line for each option: OPTION_CHOOSE(X, A_, ...) expands to A_BUILT_IN(...) where
 * CONFIG_X is y, A_PLUGIN(...) where it is m, and A_OFF(...) otherwise.
 */
#define OPTION_CHOOSE(option, prefix, ...) OPTION_JOIN(prefix, OPTION_STATE(option))(__VA_ARGS__)

#define OPTION_STATE(option)                                                                       \
	OPTION_JOIN(OPTION_STATE_, OPTION_JOIN(OPTION_IS_1(CONFIG_##option),                       \
					       OPTION_IS_1(CONFIG_##option##_MODULE)))
#define OPTION_STATE_10 BUILT_IN
#define OPTION_STATE_01 PLUGIN
#define OPTION_STATE_00 OFF

/*
 * 1 where an option is y or m, for #if and for if (). An if () is better than an #if round the same lines: both ways are
 * compiled, and the one that is off leaves nothing behind. A function that is not there then has to be behind the constant:
 * OPTION_ON(X) && f().
 */
#define OPTION_ON(option) (OPTION_IS_1(CONFIG_##option) || OPTION_IS_1(CONFIG_##option##_MODULE))

/* A function in a table of them: NULL where an option is off, and then a static function is left out. */
#define OPTION_SLOT(option, function) (OPTION_ON(option) ? (function) : NULL)

/* Entries of a list, each with its comma, that are there where an option is on. What they name is in files of that option. */
#ifdef __cppcheck__ /* defined by tests/build/cppcheck.sh: version 2.10 stops at an argument that ends in a comma */
#define OPTION_ROWS(option, ...) __VA_ARGS__
#else
#define OPTION_ROWS(option, ...) OPTION_CHOOSE(option, OPTION_ROWS_, __VA_ARGS__)
#endif
#define OPTION_ROWS_BUILT_IN(...) __VA_ARGS__
#define OPTION_ROWS_PLUGIN(...)	  __VA_ARGS__
#define OPTION_ROWS_OFF(...)

#define OPTION_JOIN_(a, b) a##b
#define OPTION_JOIN(a, b)  OPTION_JOIN_(a, b)

/*
 * OPTION_IS_1(): 1 for a macro defined as 1, else 0. Pasting turns a 1 into "0,", which moves the 1
 * to second place. (cppcheck counts that comma among the arguments of OPTION_PICK().)
 */
#define OPTION_COMMA_1			  0,
#define OPTION_SECOND(first, second, ...) second
#define OPTION_PICK(...)		  OPTION_SECOND(__VA_ARGS__ 1, 0, )
#define OPTION_PASTE(value)		  OPTION_PICK(OPTION_COMMA_##value)
#define OPTION_IS_1(macro)		  OPTION_PASTE(macro)

#endif /* LIB_OPTION_H */
