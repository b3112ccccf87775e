/* SPDX-License-Identifier: MIT */
/* What the files of the reader of templates share. */
#ifndef LLM_JINJA_PARTS_H
#define LLM_JINJA_PARTS_H

#include <stdarg.h>
#include <stdbool.h>

#include "lib/slice_text.h"
#include "llm/jinja.h"

#define JINJA_DEPTH_MOST  64
#define JINJA_STEP_BYTES  64 /* of a text that is read, each as a step */
#define JINJA_STEPS_MOST  200000
#define JINJA_MEMORY_MOST (8u << 20)
#define JINJA_TEXT_MOST	  (1u << 20)

enum jinja_token_kind {
	TOKEN_END,
	TOKEN_TEXT,  /* to be printed as it is */
	TOKEN_PRINT, /* {{ */
	TOKEN_PRINT_END,
	TOKEN_BLOCK, /* {% */
	TOKEN_BLOCK_END,
	TOKEN_NAME,
	TOKEN_STRING, /* without its quotes, not decoded */
	TOKEN_INTEGER,
	TOKEN_OPERATOR,
};

struct jinja_token {
	enum jinja_token_kind kind;
	struct tenon_slice text;
};

enum jinja_kind {
	JINJA_UNDEFINED,
	JINJA_NONE,
	JINJA_BOOL,
	JINJA_INTEGER,
	JINJA_STRING,
	JINJA_LIST,
	JINJA_DICT,
};

struct jinja_value {
	enum jinja_kind kind;
	union {
		int64_t integer; /* or a bool */
		struct tenon_slice string;
		struct {
			struct jinja_value *at;
			size_t count;
		} list;
		struct jinja_dict *dict;
	};
};

struct jinja_variable {
	struct tenon_slice name;
	struct jinja_value value;
};

/* an object with a few members: a message, namespace(), loop */
struct jinja_dict {
	struct jinja_variable *at;
	size_t count, room;
};

struct jinja {
	struct tenon_slice program;
	const char *name;
	struct jinja_token *tokens;
	size_t count;
	size_t at;
	struct jinja_dict variables; /* the last of a name counts */
	size_t frame;		     /* the first of the innermost loop */
	struct jinja_memory *memory; /* freed at the end */
	size_t used;
	unsigned int depth;
	unsigned int steps;
	enum { FLOW_ON, FLOW_BREAK, FLOW_CONTINUE } flow;
	struct tenon_buffer *out;
	size_t before; /* bytes of @out that are not the template's */
};

/* Divide the program into tokens. */
int jinja_divide(struct jinja *j);

/* Raise an error that begins with the name of the template and the line of the token; returns @status. */
int jinja_error(const struct jinja *j, int status, const char *format, ...) TENON_PRINTF(3, 4);

/* Memory that is freed at the end; NULL with an error raised. */
void *jinja_alloc(struct jinja *j, size_t size);

/* Free that, and the tokens. */
void jinja_free(struct jinja *j);

/* Count a step; each loop and each value is one. */
int jinja_step(struct jinja *j);
/* As jinja_step(), for reading so many bytes of a text. */
int jinja_step_over(struct jinja *j, size_t bytes);

/* Set a member, or add it. */
int jinja_set(struct jinja *j, struct jinja_dict *d, size_t from, struct tenon_slice name,
	      struct jinja_value value);

/* The last member of a name; NULL for none. */
struct jinja_value *jinja_get(const struct jinja_dict *d, struct tenon_slice name);

/* Read an expression. @live: its value is used; else nothing is done and the value is undefined. */
int jinja_expression(struct jinja *j, bool live, struct jinja_value *out);

bool jinja_true(const struct jinja_value *v);

/* Append what a value is printed as. */
int jinja_print(struct jinja *j, const struct jinja_value *v, struct tenon_buffer *out);

/* Make a value of a text that is in a buffer; the buffer stays the caller's. */
int jinja_keep(struct jinja *j, const struct tenon_buffer *text, struct jinja_value *out);

static inline bool jinja_is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Test for an operator or a name, and move past it. */
static inline bool jinja_take(struct jinja *j, const char *word)
{
	const struct jinja_token *t = &j->tokens[j->at];

	if ((t->kind != TOKEN_OPERATOR && t->kind != TOKEN_NAME) || !slice_is(t->text, word))
		return false;
	j->at++;
	return true;
}

int jinja_expect(struct jinja *j, const char *word);

/* Take a name; -TENON_E_FORMAT for none. */
int jinja_take_name(struct jinja *j, struct tenon_slice *out);

static inline struct jinja_value jinja_bool(bool is)
{
	return (struct jinja_value){ .kind = JINJA_BOOL, .integer = is };
}

static inline struct jinja_value jinja_integer(int64_t i)
{
	return (struct jinja_value){ .kind = JINJA_INTEGER, .integer = i };
}

static inline struct jinja_value jinja_string(struct tenon_slice s)
{
	return (struct jinja_value){ .kind = JINJA_STRING, .string = s };
}

#endif /* LLM_JINJA_PARTS_H */
