/* SPDX-License-Identifier: MIT */
/* The part of TOML that files of this command need. */
#ifndef TOOLS_TOML_TOML_H
#define TOOLS_TOML_TOML_H

/*
 * The part of TOML 1.0 that files written by hand for this command need: comments, [tables] with bare
 * names, "key = value" with "strings" (whose escapes are \" \\ \t \n), 'literal strings', '''those of
 * several lines''', decimal integers, and arrays of strings in one line. Everything else in TOML is an
 * error that names the line. A file is never read differently than by a complete parser;
 * tests/board/toml_test.c compares the two.
 */

#include <stdint.h>
#include <tenon/string.h>

/* largest file, and most entries, tables and strings of an array */
#define TOML_SIZE_MOST	  (256u << 10)
#define TOML_ENTRIES_MOST 4096

enum toml_kind {
	TOML_STRING,
	TOML_INTEGER,
	TOML_STRINGS,
};

/** struct toml_strings - an array of strings */
struct toml_strings {
	char **at;
	size_t count;
};

/**
 * struct toml_entry - a key and its value
 * @table: name of the table, with its dots; "" above the first table
 * @key: the key
 * @line: line of the key, from 1
 * @kind: which of the members below holds the value
 * @text: TOML_STRING
 * @integer: TOML_INTEGER
 * @strings: TOML_STRINGS
 */
struct toml_entry {
	const char *table;
	const char *key;
	unsigned int line;
	enum toml_kind kind;
	char *text;
	int64_t integer;
	struct toml_strings strings;
};

/** struct toml_table - a table's name and the line of its header */
struct toml_table {
	const char *name;
	unsigned int line;
};

/**
 * struct toml - a file, its tables and entries in the file's order
 * @file: its name
 * @bytes: a copy of the file, in which names and strings are
 */
struct toml {
	const char *file;
	char *bytes;
	struct toml_table *tables;
	size_t table_count;
	struct toml_entry *entries;
	size_t entry_count;
};

/**
 * toml_parse - read a file
 * @text: its bytes, untrusted
 * @file: its name, for errors; must outlive @out
 * @out: receives the tables and entries; toml_fini() frees them, also after an error
 *
 * Return: 0; -TENON_E_FORMAT, with the line; -TENON_E_OVERFLOW for a file that is too large;
 * -TENON_E_NOMEM.
 */
int toml_parse(struct tenon_slice text, const char *file, struct toml *out);

/** toml_fini - free what toml_parse() allocated */
void toml_fini(struct toml *toml);

#endif /* TOOLS_TOML_TOML_H */
