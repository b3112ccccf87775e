/* SPDX-License-Identifier: MIT */
/* Read JSON as a tree whose number of values is limited. */
#ifndef LIB_JSON_TREE_H
#define LIB_JSON_TREE_H

/*
 * A tree of cJSON takes up to 128 bytes for two bytes of text, so untrusted text becomes a tree only
 * here, where the number of its values is limited. Long texts are read as tokens, see json_read.h.
 */

#include <cjson/cJSON.h>
#include <tenon/string.h>

/* values of a tree, keys included with theirs: 32 MiB of memory */
#define JSON_TREE_VALUES_MOST (1u << 18)

/**
 * json_tree_read - make a tree of an untrusted text
 * @text: the text
 * @name: name of the text, for messages
 * @out: receives the tree, which the caller deletes by cJSON_Delete(); NULL on failure
 *
 * Return: 0; -TENON_E_FORMAT for what is not JSON; -TENON_E_OVERFLOW for more values than
 *	JSON_TREE_VALUES_MOST.
 */
int json_tree_read(struct tenon_slice text, const char *name, cJSON **out);

#endif /* LIB_JSON_TREE_H */
