/* SPDX-License-Identifier: MIT */
/*
 * Read a file in TOML.
 *
 * A copy of the file is read where it stands: names and strings end with a NUL over the byte that follows
 * them, and escapes only make a string shorter.
 */
#include "tools/toml/toml.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/brief_errors.h"
#include "lib/utf8.h"

#define BARE "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

struct parser {
	char *at;
	unsigned int line;
	struct toml *out;
	const char *table;
};

static int refuse(const struct parser *p, const char *what)
{
	return tenon_error(-TENON_E_FORMAT, "%s:%u: %s", p->out->file, p->line, what);
}

static void skip_blanks(struct parser *p)
{
	p->at += strspn(p->at, " \t");
}

static int end_of_line(struct parser *p)
{
	skip_blanks(p);
	if (*p->at == '#')
		p->at += strcspn(p->at, "\n");
	if (*p->at && *p->at != '\n')
		return refuse(p, "more than a value where the line should end");
	p->line += *p->at == '\n';
	p->at += *p->at == '\n';
	return 0;
}

/* Copy the bytes without the CR of ends of lines, and check that they are a text. */
static int copy_text(struct parser *p, struct tenon_slice text)
{
	char *to = malloc(text.size + 1);
	size_t i = 0;
	int n;

	p->out->bytes = p->at = to;
	if (!to)
		return tenon_error(-TENON_E_NOMEM, "%s: no memory for the file", p->out->file);
	while (i < text.size) {
		unsigned char c = (unsigned char)text.data[i];

		if (c == '\r' && i + 1 < text.size && text.data[i + 1] == '\n')
			c = (unsigned char)text.data[++i];
		n = utf8_character((struct tenon_slice){ text.data + i, text.size - i });
		if (n <= 0 || (c < ' ' && c != '\t' && c != '\n') || c == 0x7f)
			return refuse(p, "a byte that no text has");
		p->line += c == '\n';
		memcpy(to, text.data + i, (size_t)n);
		to += n;
		i += (size_t)n;
	}
	*to = '\0';
	p->line = 1;
	return 0;
}

/* ---- values */

static char escaped(char c)
{
	return c == 't' ? '\t' : c == 'n' ? '\n' : c == '"' || c == '\\' ? c : '\0';
}

/* The bytes up to @end, a quotation mark or three. */
static int read_until(struct parser *p, const char *end, char **out)
{
	size_t size = strlen(end);
	char *to = p->at, c;

	for (*out = to; strncmp(p->at, end, size); p->at++) {
		if (!*p->at || (*p->at == '\n' && size == 1))
			return refuse(p, "a string without its end; strings of several lines have "
					 "three ' before and after them");
		c = *p->at;
		p->line += c == '\n';
		if (c == '\\' && *end == '"' && !(c = escaped(*++p->at)))
			return refuse(p, "no such escape; write \\\\ for a backslash, or quote the "
					 "string with '");
		*to++ = c;
	}
	p->at += size;
	*to = '\0';
	return 0;
}

static int read_string(struct parser *p, char **out)
{
	bool lines = !strncmp(p->at, "'''", 3);
	int err;

	if (!strncmp(p->at, "\"\"\"", 3))
		return refuse(p, "strings of several lines have three ' before and after them");
	if (*p->at != '"' && *p->at != '\'')
		return refuse(p, "a value is a string, a decimal integer, or strings in [ ], in "
				 "one line");
	p->at += lines ? 3 : 1;
	if (lines && *p->at == '\n') {
		p->line++;
		p->at++;
	}
	err = read_until(p, lines ? "'''" : p->at[-1] == '"' ? "\"" : "'", out);
	if (!err && lines && *p->at == '\'')
		return refuse(p, "more than three ' at the end of a string");
	return err;
}

static int read_strings(struct parser *p, struct toml_strings *strings)
{
	char **more, *text;
	int err;

	for (p->at++;; p->at++) {
		skip_blanks(p);
		if (*p->at == ']')
			break;
		err = read_string(p, &text);
		if (err)
			return err;
		more = strings->count == TOML_ENTRIES_MOST
			       ? NULL
			       : realloc(strings->at, (strings->count + 1) * sizeof(*more));
		if (!more)
			return tenon_error(-TENON_E_NOMEM, "%s:%u: no memory for more strings",
					   p->out->file, p->line);
		strings->at = more;
		strings->at[strings->count++] = text;
		skip_blanks(p);
		if (*p->at != ',')
			break;
	}
	if (*p->at != ']')
		return refuse(p, "an array of strings without its end, in one line");
	p->at++;
	return 0;
}

static int read_integer(struct parser *p, int64_t *out)
{
	const char *start = p->at;

	errno = 0;
	*out = strtoll(start, &p->at, 10);
	if (errno || (*start == '0' && p->at - start > 1))
		return refuse(p, "a number that is too large, or begins with 0");
	return 0;
}

static int read_value(struct parser *p, struct toml_entry *entry)
{
	if (*p->at >= '0' && *p->at <= '9') {
		entry->kind = TOML_INTEGER;
		return read_integer(p, &entry->integer);
	}
	if (*p->at == '[') {
		entry->kind = TOML_STRINGS;
		return read_strings(p, &entry->strings);
	}
	entry->kind = TOML_STRING;
	return read_string(p, &entry->text);
}

/* ---- names */

/* Bare words, with a dot between each two; "" when the next byte begins none. */
static int read_name(struct parser *p, const char *bytes, char end, const char **out)
{
	size_t size = strspn(p->at, bytes);
	char *name = p->at;
	bool is_name = size && *name != '.' && name[size - 1] != '.';

	p->at += size;
	skip_blanks(p);
	if (!is_name || *p->at != end)
		return refuse(p, end == ']'
					 ? "a table is [name], of letters, digits, _, - and . "
					   "between them"
					 : "a key of letters, digits, _ and -, then = and a value");
	*p->at++ = '\0';
	name[size] = '\0';
	*out = name;
	return strstr(name, "..") ? refuse(p, "a table's name with an empty part") : 0;
}

/* Test whether a name is @table.@key, or begins with it and a dot. */
static bool is_below(const char *name, const char *table, const char *key)
{
	size_t size = strlen(table), more = strlen(key);

	if (strncmp(name, table, size) || (size && name[size++] != '.'))
		return false;
	return !strncmp(name + size, key, more) && (!name[size + more] || name[size + more] == '.');
}

static int check_table(const struct parser *p, const char *name)
{
	const struct toml *t = p->out;
	size_t i;

	for (i = 0; i < t->table_count; i++)
		if (!strcmp(t->tables[i].name, name))
			return refuse(p, "a second table of this name");
	for (i = 0; i < t->entry_count; i++)
		if (is_below(name, t->entries[i].table, t->entries[i].key))
			return refuse(p, "this table is a value already");
	return 0;
}

static int check_key(const struct parser *p, const char *key)
{
	const struct toml *t = p->out;
	size_t i;

	for (i = 0; i < t->entry_count; i++)
		if (!strcmp(t->entries[i].table, p->table) && !strcmp(t->entries[i].key, key))
			return refuse(p, "a second value of this key");
	for (i = 0; i < t->table_count; i++)
		if (is_below(t->tables[i].name, p->table, key))
			return refuse(p, "this key is a table already");
	return 0;
}

/* ---- lines */

/* Make room for one more item in a list. */
static int grow(const struct parser *p, void *list, size_t count, size_t size)
{
	void **items = list;
	void *more = count == TOML_ENTRIES_MOST ? NULL : realloc(*items, (count + 1) * size);

	if (!more)
		return tenon_error(-TENON_E_NOMEM, "%s:%u: no memory for more", p->out->file,
				   p->line);
	*items = more;
	return 0;
}

static int read_table(struct parser *p)
{
	struct toml *t = p->out;
	int err;

	p->at++;
	skip_blanks(p);
	err = read_name(p, BARE ".", ']', &p->table);
	if (!err)
		err = check_table(p, p->table);
	if (!err)
		err = grow(p, &t->tables, t->table_count, sizeof(*t->tables));
	if (!err)
		t->tables[t->table_count++] = (struct toml_table){ p->table, p->line };
	return err;
}

static int read_entry(struct parser *p)
{
	struct toml *t = p->out;
	struct toml_entry *entry;
	const char *key;
	int err;

	err = read_name(p, BARE, '=', &key);
	if (!err)
		err = check_key(p, key);
	if (!err)
		err = grow(p, &t->entries, t->entry_count, sizeof(*t->entries));
	if (err)
		return err;
	entry = &t->entries[t->entry_count++];
	*entry = (struct toml_entry){ .table = p->table, .key = key, .line = p->line };
	skip_blanks(p);
	return read_value(p, entry);
}

int toml_parse(struct tenon_slice text, const char *file, struct toml *out)
{
	struct parser p = { .line = 1, .out = out, .table = "" };
	int err;

	*out = (struct toml){ .file = file };
	if (text.size > TOML_SIZE_MOST)
		return tenon_error(-TENON_E_OVERFLOW, "%s: %zu bytes; at most %u are read", file,
				   text.size, TOML_SIZE_MOST);
	err = copy_text(&p, text);
	while (!err && *p.at) {
		skip_blanks(&p);
		if (*p.at == '[')
			err = read_table(&p);
		else if (*p.at && *p.at != '#' && *p.at != '\n')
			err = read_entry(&p);
		if (!err)
			err = end_of_line(&p);
	}
	return err;
}

void toml_fini(struct toml *toml)
{
	for (size_t i = 0; i < toml->entry_count; i++)
		free(toml->entries[i].strings.at);
	free(toml->entries);
	free(toml->tables);
	free(toml->bytes);
	*toml = (struct toml){ .file = toml->file };
}
