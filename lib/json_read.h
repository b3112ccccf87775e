/* SPDX-License-Identifier: MIT */
/* Read JSON token by token, without a tree. */
#ifndef LIB_JSON_READ_H
#define LIB_JSON_READ_H

/*
 * jsmn turns text into an array of tokens, which is read once, by position, in the order of the
 * text: no tree is built. jsmn is lenient, so these functions check each token they read. Errors
 * name the text, line and column.
 */

#include <tenon/error.h>
#include <tenon/string.h>

#define JSMN_STRICT
#define JSMN_PARENT_LINKS
#define jsmn_init  json_tokens_init
#define jsmn_parse json_tokens_parse
#ifndef JSON_READ_WITH_PARSER
#define JSMN_HEADER
#endif
#include <jsmn.h>

#include "lib/brief_errors.h"
#include "lib/plugin_api.h"
#include "lib/slice_text.h"

/**
 * struct json_text - a text and its tokens
 * @text: the text; must outlive the struct
 * @name: name of the text, for messages
 * @tokens: @count tokens; the root is the first
 * @count: number of tokens
 */
struct json_text {
	struct tenon_slice text;
	const char *name;
	jsmntok_t *tokens;
	uint32_t count;
};

/**
 * json_text_read - split a text into tokens
 * @text: one JSON object or array
 * @name: name of the text, for messages
 * @out: receives the tokens; free them with json_text_fini()
 *
 * Return: 0; -TENON_E_FORMAT; -TENON_E_TRUNCATED; -TENON_E_OVERFLOW for 2 GiB and more;
 *	-TENON_E_NOMEM.
 */
int json_text_read(struct tenon_slice text, const char *name, struct json_text *out)
	TO_PLUGINS(json_text_read);

/* The same, with tokens from the heap that the thread entered (lib/heap.h). */
int json_text_read_of_model(struct tenon_slice text, const char *name, struct json_text *out)
	TO_PLUGINS(json_text_read_of_model);

void json_text_fini(struct json_text *t) TO_PLUGINS(json_text_fini);

/**
 * json_error - raise an error that begins with name, line and column of a token; returns @status
 */
int json_error(const struct json_text *t, uint32_t at, int status, const char *format, ...)
	TO_PLUGINS(json_error) TENON_PRINTF(4, 5);
#if !ERROR_MESSAGES
#define json_error(t, at, status, ...)                                                             \
	(0 ? json_error(t, at, status, __VA_ARGS__) : error_brief(status))
#endif

/** json_raw - the undecoded bytes of a token; for a string, without its quotes */
static inline struct tenon_slice json_raw(const struct json_text *t, uint32_t at)
{
	const jsmntok_t *token = &t->tokens[at];

	return (struct tenon_slice){ t->text.data + token->start,
				     (size_t)(token->end - token->start) };
}

/** json_shown - number of bytes of a text to print in a message */
static inline int json_shown(struct tenon_slice text)
{
	return slice_shown(text, 40);
}

/** json_is - test whether there is a token at @at, of a given type */
static inline bool json_is(const struct json_text *t, uint32_t at, jsmntype_t type)
{
	return at < t->count && t->tokens[at].type == type;
}

/**
 * json_enter - step into an array or object
 * @t: text
 * @at: position; moved to the first item, or past an empty container
 * @type: JSMN_ARRAY or JSMN_OBJECT
 * @what: what is read, for the message
 * @count: receives the number of items or keys; 0 on failure
 *
 * Return: 0; -TENON_E_FORMAT.
 */
int json_enter(const struct json_text *t, uint32_t *at, jsmntype_t type, const char *what,
	       uint32_t *count) TO_PLUGINS(json_enter);

/**
 * json_key - read a key of an object
 * @at: position; moved to the key's value
 * @key: receives the undecoded key; no known key has an escape
 *
 * Return: 0; -TENON_E_FORMAT.
 */
int json_key(const struct json_text *t, uint32_t *at, struct tenon_slice *key) TO_PLUGINS(json_key);

/**
 * json_next - go on to the next key of an object, as a loop does
 * @at: position; moved to the key's value
 * @count: keys that are left, as json_enter() gives them
 * @key: receives the key
 * @err: of the loop; receives that of json_key()
 *
 * Return: whether there is one; false if @err is set.
 */
static inline bool json_next(const struct json_text *t, uint32_t *at, uint32_t *count,
			     struct tenon_slice *key, int *err)
{
	if (*err || !*count)
		return false;
	(*count)--;
	*err = json_key(t, at, key);
	return !*err;
}

/**
 * json_string - read a string
 * @at: position; moved behind it
 * @what: what is read, for the message
 * @room: receives the bytes and a NUL; moved past them. A buffer of the text's size is enough for
 *	all its strings together.
 * @out: receives the bytes
 *
 * Return: 0; -TENON_E_FORMAT.
 */
int json_string(const struct json_text *t, uint32_t *at, const char *what, char **room,
		struct tenon_slice *out) TO_PLUGINS(json_string);

/**
 * json_key_string - read a key of an object, as json_string() reads a string
 * @at: position; moved to the key's value
 */
int json_key_string(const struct json_text *t, uint32_t *at, char **room, struct tenon_slice *out)
	TO_PLUGINS(json_key_string);

/**
 * json_integer - read a whole number
 * @at: position; moved behind it
 * @what: what is read, for the message
 * @least: smallest that is allowed
 * @most: largest that is allowed
 *
 * Return: 0; -TENON_E_FORMAT; -TENON_E_VALUE for one out of range.
 */
int json_integer(const struct json_text *t, uint32_t *at, const char *what, int64_t least,
		 int64_t most, int64_t *out) TO_PLUGINS(json_integer);

/** json_skip - step over an item and all inside it */
void json_skip(const struct json_text *t, uint32_t *at) TO_PLUGINS(json_skip);

/**
 * json_word - read a string in which nothing is escaped, without a copy
 * @at: position; moved behind it
 * @what: what is read, for the message
 *
 * Return: 0; -TENON_E_FORMAT.
 */
int json_word(const struct json_text *t, uint32_t *at, const char *what, struct tenon_slice *out)
	TO_PLUGINS(json_word);

/** json_find - position of the value of a key of the object at @at; 0 when there is no such key, or no object */
uint32_t json_find(const struct json_text *t, uint32_t at, const char *key) TO_PLUGINS(json_find);

/**
 * json_entry - read [node, output] or [node, output, version]: how graphs of TVM name a tensor
 * @at: position; moved behind it
 * @node: receives the number of the node, less than @nodes
 * @output: receives the number of its output, which may be one that it does not have
 *
 * Return: 0; -TENON_E_FORMAT; -TENON_E_VALUE for a node that is not there.
 */
int json_entry(const struct json_text *t, uint32_t *at, uint64_t nodes, uint32_t *node,
	       uint32_t *output) TO_PLUGINS(json_entry);

#endif /* LIB_JSON_READ_H */
