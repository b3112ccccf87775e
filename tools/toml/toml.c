/* SPDX-License-Identifier: MIT */
/* Parse lines, tables and keys, and check for duplicates. */
#include "tools/toml/toml.h"

#include <stdlib.h>
#include <string.h>

#include "lib/brief_errors.h"
#include "tools/toml/toml_reader.h"

struct parser {
	struct toml_reader r;
	struct toml *out;
	const char *table;
};

bool toml_next_is(const struct toml_reader *r, const char *text)
{
	size_t size = strlen(text);

	return (size_t)(r->end - r->at) >= size && !memcmp(r->at, text, size);
}

bool toml_skip_newline(struct toml_reader *r)
{
	if (toml_next_is(r, "\r\n"))
		r->at += 2;
	else if (toml_next_is(r, "\n"))
		r->at++;
	else
		return false;
	r->line++;
	return true;
}

/* ---- between values */

static void skip_blanks(struct toml_reader *r)
{
	while (r->at < r->end && (*r->at == ' ' || *r->at == '\t'))
		r->at++;
}

static int skip_comment(struct toml_reader *r)
{
	if (!toml_next_is(r, "#"))
		return 0;
	while (r->at < r->end && !toml_next_is(r, "\n") && !toml_next_is(r, "\r\n")) {
		size_t length = toml_character(r);

		if (!length)
			return tenon_error(-TENON_E_FORMAT,
					   "%s:%u: byte 0x%02x cannot be in a comment", r->file,
					   r->line, (unsigned char)*r->at);
		r->at += length;
	}
	return 0;
}

static int end_of_line(struct toml_reader *r)
{
	int err;

	skip_blanks(r);
	err = skip_comment(r);
	if (err || r->at == r->end || toml_skip_newline(r))
		return err;
	return tenon_error(-TENON_E_FORMAT, "%s:%u: byte 0x%02x where the line should end", r->file,
			   r->line, (unsigned char)*r->at);
}

/* Blanks, comments and line ends, between the elements of an array. */
static int skip_space(struct toml_reader *r)
{
	int err;

	do {
		skip_blanks(r);
		err = skip_comment(r);
	} while (!err && toml_skip_newline(r));
	return err;
}

/* ---- names */

static bool is_bare(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '-';
}

static int read_name(struct toml_reader *r, char **out)
{
	const char *start = r->at;

	if (r->at < r->end && (*r->at == '"' || *r->at == '\''))
		return toml_read_string(r, false, out);
	while (r->at < r->end && is_bare(*r->at))
		r->at++;
	if (r->at == start)
		return tenon_error(-TENON_E_FORMAT,
				   "%s:%u: a name of letters, digits, _ and - is "
				   "expected; quote any other",
				   r->file, r->line);
	*out = strndup(start, (size_t)(r->at - start));
	return *out ? 0 : tenon_error(-TENON_E_NOMEM, "%s: no memory for a name", r->file);
}

/* ---- values */

static int read_integer(struct toml_reader *r, int64_t *out)
{
	bool negative = toml_next_is(r, "-"), digit_before = false;
	const char *start;
	uint64_t value = 0;

	if (negative || toml_next_is(r, "+"))
		r->at++;
	for (start = r->at; r->at < r->end; r->at++) {
		if (*r->at == '_' && digit_before) {
			digit_before = false;
			continue;
		}
		if (*r->at < '0' || *r->at > '9')
			break;
		digit_before = true;
		if (__builtin_mul_overflow(value, 10u, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*r->at - '0'), &value) ||
		    value > INT64_MAX)
			return tenon_error(-TENON_E_OVERFLOW, "%s:%u: the number is too large",
					   r->file, r->line);
	}
	if (!digit_before || (*start == '0' && r->at - start > 1))
		return tenon_error(-TENON_E_FORMAT,
				   "%s:%u: a value is expected: a string, a "
				   "decimal integer, true, false or [strings]",
				   r->file, r->line);
	if (r->at < r->end && (*r->at == '.' || *r->at == '-' || *r->at == ':' || is_bare(*r->at)))
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "%s:%u: of numbers, only decimal integers "
				   "are read here",
				   r->file, r->line);
	*out = negative ? -(int64_t)value : (int64_t)value;
	return 0;
}

static int add_string(struct toml_reader *r, struct toml_strings *strings)
{
	char **more = realloc(strings->at, (strings->count + 1) * sizeof(*more));
	int err;

	if (!more)
		return tenon_error(-TENON_E_NOMEM, "%s: no memory for strings", r->file);
	strings->at = more;
	err = toml_read_string(r, true, &strings->at[strings->count]);
	if (!err)
		strings->count++;
	return err;
}

static int read_strings(struct toml_reader *r, struct toml_strings *strings)
{
	bool comma = true;
	int err;

	for (r->at++;; comma = toml_next_is(r, ","), r->at += comma) {
		err = skip_space(r);
		if (err)
			return err;
		if (toml_next_is(r, "]")) {
			r->at++;
			return 0;
		}
		if (!comma || r->at == r->end || (*r->at != '"' && *r->at != '\''))
			return tenon_error(-TENON_E_FORMAT,
					   "%s:%u: an array of strings has strings, with commas "
					   "between them, and ends with ]",
					   r->file, r->line);
		err = strings->count == TOML_ENTRIES_MOST
			      ? tenon_error(-TENON_E_OVERFLOW, "%s:%u: more than %d strings",
					    r->file, r->line, TOML_ENTRIES_MOST)
			      : add_string(r, strings);
		if (!err)
			err = skip_space(r);
		if (err)
			return err;
	}
}

static bool read_boolean(struct toml_reader *r, int64_t *out)
{
	*out = toml_next_is(r, "true");
	if (!*out && !toml_next_is(r, "false"))
		return false;
	r->at += *out ? 4 : 5;
	return true;
}

static int read_value(struct toml_reader *r, struct toml_entry *entry)
{
	char next = '\0';

	if (r->at < r->end)
		next = *r->at;
	if (next == '"' || next == '\'') {
		entry->kind = TOML_STRING;
		return toml_read_string(r, true, &entry->text);
	}
	if (next == '[') {
		entry->kind = TOML_STRINGS;
		return read_strings(r, &entry->strings);
	}
	if (next == '{')
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "%s:%u: inline tables are not read here; "
				   "write a [table]",
				   r->file, r->line);
	if (read_boolean(r, &entry->integer)) {
		entry->kind = TOML_BOOLEAN;
		return 0;
	}
	entry->kind = TOML_INTEGER;
	return read_integer(r, &entry->integer);
}

/* ---- lines */

/* The part of a table's name after its last dot may be a key of the table above. */
static int check_name(const struct parser *p, const char *name, unsigned int line)
{
	for (size_t i = 0; i < p->out->entry_count; i++) {
		const struct toml_entry *entry = &p->out->entries[i];
		size_t size = strlen(entry->table), key = strlen(entry->key);

		if (strncmp(name, entry->table, size))
			continue;
		if (size && name[size++] != '.')
			continue;
		if (!strncmp(name + size, entry->key, key) &&
		    (name[size + key] == '.' || !name[size + key]))
			return tenon_error(-TENON_E_FORMAT,
					   "%s:%u: table \"%s\" is a value since line %u",
					   p->r.file, line, name, entry->line);
	}
	for (size_t i = 0; i < p->out->table_count; i++) {
		if (!strcmp(p->out->tables[i].name, name))
			return tenon_error(-TENON_E_FORMAT,
					   "%s:%u: a second table \"%s\"; the first is in line %u",
					   p->r.file, line, name, p->out->tables[i].line);
	}
	return 0;
}

static int read_table_name(struct parser *p, struct tenon_buffer *name)
{
	for (;;) {
		char *part = NULL;
		int err;

		skip_blanks(&p->r);
		err = read_name(&p->r, &part);
		if (err)
			return err;
		if (!*part || strchr(part, '.')) {
			free(part);
			return tenon_error(-TENON_E_UNSUPPORTED,
					   "%s:%u: a part of a table's name that is empty or has a "
					   "dot is not read here",
					   p->r.file, p->r.line);
		}
		tenon_buffer_printf(name, "%s%s", name->size ? "." : "", part);
		free(part);
		skip_blanks(&p->r);
		if (!toml_next_is(&p->r, "."))
			return name->status;
		p->r.at++;
	}
}

static int add_table(struct parser *p, char *name, unsigned int line)
{
	struct toml *out = p->out;
	struct toml_table *more;

	more = out->table_count == TOML_ENTRIES_MOST
		       ? NULL
		       : realloc(out->tables, (out->table_count + 1) * sizeof(*more));
	if (!more)
		return tenon_error(-TENON_E_NOMEM, "%s:%u: no memory for another table", p->r.file,
				   line);
	out->tables = more;
	out->tables[out->table_count++] = (struct toml_table){ name, line };
	p->table = name;
	return 0;
}

static int read_table(struct parser *p)
{
	struct tenon_buffer name = TENON_BUFFER_INIT;
	unsigned int line = p->r.line;
	int err;

	p->r.at++;
	if (toml_next_is(&p->r, "["))
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "%s:%u: arrays of tables are not read here", p->r.file, line);
	err = read_table_name(p, &name);
	if (!err && !toml_next_is(&p->r, "]"))
		err = tenon_error(-TENON_E_FORMAT, "%s:%u: the table's name does not end with ]",
				  p->r.file, line);
	if (!err)
		err = check_name(p, name.data, line);
	if (!err)
		err = add_table(p, name.data, line);
	if (err) {
		tenon_buffer_fini(&name);
		return err;
	}
	p->r.at++;
	return 0;
}

/* The key must be neither another value nor, with what follows a dot, a table that was before. */
static int check_key(const struct parser *p, const struct toml_entry *entry)
{
	const struct toml_entry *same = toml_find(p->out, p->table, entry->key);
	size_t table = strlen(p->table), key = strlen(entry->key);

	if (same)
		return tenon_error(-TENON_E_FORMAT, "%s:%u: \"%s\" has a value since line %u",
				   p->r.file, entry->line, entry->key, same->line);
	for (size_t i = 0; i < p->out->table_count; i++) {
		const char *name = p->out->tables[i].name;

		if (strncmp(name, p->table, table) || (table && name[table] != '.'))
			continue;
		name += table ? table + 1 : 0;
		if (!strncmp(name, entry->key, key) && (name[key] == '.' || !name[key]))
			return tenon_error(-TENON_E_FORMAT,
					   "%s:%u: \"%s\" is a table since line %u", p->r.file,
					   entry->line, entry->key, p->out->tables[i].line);
	}
	return 0;
}

static void entry_fini(struct toml_entry *entry)
{
	for (size_t i = 0; i < entry->strings.count; i++)
		free(entry->strings.at[i]);
	free(entry->strings.at);
	free(entry->text);
	free(entry->key);
}

static int add_entry(struct parser *p, const struct toml_entry *entry)
{
	struct toml *out = p->out;
	struct toml_entry *more;

	more = out->entry_count == TOML_ENTRIES_MOST
		       ? NULL
		       : realloc(out->entries, (out->entry_count + 1) * sizeof(*more));
	if (!more)
		return tenon_error(-TENON_E_NOMEM, "%s:%u: no memory for another value", p->r.file,
				   entry->line);
	out->entries = more;
	out->entries[out->entry_count++] = *entry;
	return 0;
}

static int read_entry(struct parser *p)
{
	struct toml_entry entry = { .table = p->table, .line = p->r.line };
	int err = read_name(&p->r, &entry.key);

	if (err)
		return err;
	skip_blanks(&p->r);
	if (toml_next_is(&p->r, "."))
		err = tenon_error(-TENON_E_UNSUPPORTED,
				  "%s:%u: dotted keys are not read here; write "
				  "a [table]",
				  p->r.file, p->r.line);
	else if (!toml_next_is(&p->r, "="))
		err = tenon_error(-TENON_E_FORMAT, "%s:%u: \"%s\" needs = and a value", p->r.file,
				  p->r.line, entry.key);
	if (!err)
		err = check_key(p, &entry);
	if (!err) {
		p->r.at++;
		skip_blanks(&p->r);
		err = read_value(&p->r, &entry);
	}
	if (!err)
		err = add_entry(p, &entry);
	if (err)
		entry_fini(&entry);
	return err;
}

static int read_line(struct parser *p)
{
	int err = 0;

	skip_blanks(&p->r);
	if (p->r.at < p->r.end && *p->r.at == '[')
		err = read_table(p);
	else if (p->r.at < p->r.end && !strchr("#\r\n", *p->r.at))
		err = read_entry(p);
	return err ? err : end_of_line(&p->r);
}

int toml_parse(struct tenon_slice text, const char *file, struct toml *out)
{
	const char *start = text.data ? text.data : "";
	struct parser p = { { start, start + text.size, file, 1 }, out, "" };
	int err = 0;

	*out = (struct toml){ .file = file };
	if (text.size > TOML_SIZE_MOST)
		return tenon_error(-TENON_E_OVERFLOW, "%s: %zu bytes; at most %u are read", file,
				   text.size, TOML_SIZE_MOST);
	while (!err && p.r.at < p.r.end)
		err = read_line(&p);
	return err;
}

void toml_fini(struct toml *toml)
{
	for (size_t i = 0; i < toml->entry_count; i++)
		entry_fini(&toml->entries[i]);
	for (size_t i = 0; i < toml->table_count; i++)
		free(toml->tables[i].name);
	free(toml->entries);
	free(toml->tables);
	*toml = (struct toml){ .file = toml->file };
}

const struct toml_entry *toml_find(const struct toml *toml, const char *table, const char *key)
{
	for (size_t i = 0; i < toml->entry_count; i++) {
		if (!strcmp(toml->entries[i].table, table) && !strcmp(toml->entries[i].key, key))
			return &toml->entries[i];
	}
	return NULL;
}

bool toml_has_table(const struct toml *toml, const char *table)
{
	for (size_t i = 0; i < toml->table_count; i++) {
		if (!strcmp(toml->tables[i].name, table))
			return true;
	}
	return false;
}
