/* SPDX-License-Identifier: MIT */
/* The pages of each sequence, as numbers without tensors. */
#ifndef RUNTIME_KV_KV_PAGES_H
#define RUNTIME_KV_KV_PAGES_H

/*
 * A *sequence* is a list of tokens. Its tokens are in a chain of *blocks*; sequences with a common
 * prefix share blocks. A block has a list of *pages*, all full but the last. All layers use the
 * same page numbers. The number of pages is fixed.
 *
 * Every function checks first and changes afterwards: a refused operation changes nothing. The
 * functions here compute numbers only; copying the contents of pages is left to the caller.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KV_NONE	     (-1)
#define KV_TREE_MOST 256 /* nodes of a token tree */

/**
 * struct kv_block - tokens that one or more sequences have in common
 * @first: its first page, or KV_NONE; kv_pages.next has the others
 * @last: its last page
 * @pages: how many
 * @parent: block of the tokens before, or KV_NONE; in a free block, the next free one
 * @refs: sequences that end in this block, and blocks whose parent it is; 0 when free
 * @length: tokens
 * @start: position of its first token
 * @sink: tokens at the start that a sliding window keeps
 * @offset: index of the first token behind the sink; 0 until the window has slid
 */
struct kv_block {
	int32_t first;
	int32_t last;
	int32_t pages;
	int32_t parent;
	int32_t refs;
	int64_t length;
	int64_t start;
	int64_t sink;
	int64_t offset;
};

/** struct kv_node - of a token tree: number of its @parent, -1 for a root; the @first node of the step that added it */
struct kv_node {
	int16_t parent;
	int16_t first;
};

/**
 * struct kv_sequence - a list of tokens
 * @id: the caller's number
 * @block: its last block
 * @length: tokens
 * @window: tokens that attention sees; KV_NONE for all
 * @sink: tokens of the last block that the window keeps
 * @seen: number of the last call with this sequence, to find duplicates; see kv_cache.calls
 * @tree: nodes of an uncommitted token tree; allocated at the first one
 * @tree_size: number of nodes; 0 when all is committed
 */
struct kv_sequence {
	int64_t id;
	int32_t block;
	int64_t length;
	int64_t window;
	int64_t sink;
	uint64_t seen;
	struct kv_node *tree;
	int32_t tree_size;
};

/**
 * struct kv_pages - pages, blocks and sequences
 * @page_size: tokens in a page
 * @page_count: number of pages
 * @next: for each page, the next one of its block or of the free list; or KV_NONE
 * @free_page: the last page that was freed, which is used next
 * @free_pages: how many are free
 * @blocks: @block_room of them
 * @free_block: first of the free list
 * @used_blocks: number of blocks in use
 * @sequences: ordered by id
 * @sequence_count: how many
 * @sequence_room: for how many there is room
 */
struct kv_pages {
	int32_t page_size;
	int32_t page_count;
	int32_t *next;
	int32_t free_page;
	int32_t free_pages;
	struct kv_block *blocks;
	int32_t block_room;
	int32_t free_block;
	int32_t used_blocks;
	struct kv_sequence **sequences;
	size_t sequence_count;
	size_t sequence_room;
};

/** struct kv_copy - the first @tokens of page @from are to be copied to page @to */
struct kv_copy {
	int32_t from;
	int32_t to;
	int32_t tokens; /* 0: nothing to copy */
};

int kv_pages_init(struct kv_pages *p, int32_t page_size, int32_t page_count);
void kv_pages_fini(struct kv_pages *p);

/* Remove all sequences. */
void kv_pages_clear(struct kv_pages *p);

/** kv_sequence - find a sequence; NULL without an error if there is none */
struct kv_sequence *kv_sequence(const struct kv_pages *p, int64_t id);

/** kv_sequence_get - find a sequence; -TENON_E_NOT_FOUND */
int kv_sequence_get(const struct kv_pages *p, int64_t id, struct kv_sequence **out);

/** kv_add - add an empty sequence; -TENON_E_EXISTS, -TENON_E_NOMEM */
int kv_add(struct kv_pages *p, int64_t id);

/** kv_remove - remove a sequence and what no other one shares */
int kv_remove(struct kv_pages *p, int64_t id);

/**
 * kv_fork - add a sequence that begins with tokens of another
 * @p: pages
 * @parent: id of the other
 * @child: new id
 * @position: number of tokens; -1 for all
 * @copy: receives the page that the caller copies
 *
 * Return: 0; -TENON_E_NOT_FOUND; -TENON_E_EXISTS; -TENON_E_VALUE for a position outside the parent,
 *	behind what its window keeps, or while it has an uncommitted tree; -TENON_E_OVERFLOW when no
 *	page is free.
 */
int kv_fork(struct kv_pages *p, int64_t parent, int64_t child, int64_t position,
	    struct kv_copy *copy);

/* Return: the page that a fork of a sequence at @position would copy, and how many tokens of it; 0 for none. */
struct kv_copy kv_fork_copy(const struct kv_pages *p, const struct kv_sequence *s,
			    int64_t position);

/**
 * kv_pop - remove tokens at the end of a sequence
 * @p: pages
 * @s: the sequence
 * @count: how many
 * @copy: receives the page that the caller copies: the sequence now shares blocks up to there
 *
 * Return: 0; -TENON_E_VALUE for more tokens than there are; -TENON_E_OVERFLOW for a full cache;
 *	-TENON_E_NOMEM.
 */
int kv_pop(struct kv_pages *p, struct kv_sequence *s, int64_t count, struct kv_copy *copy);

/** struct kv_reservation - what appending tokens makes of a sequence and its last block */
struct kv_reservation {
	int64_t sequence_length;
	int64_t length;
	int64_t sink;
	int64_t offset;
	int32_t keep;  /* pages before those that are dropped */
	int32_t drop;  /* pages removed from the block */
	int32_t taken; /* pages that are taken from the free ones */
};

/**
 * kv_plan - plan appending @count tokens
 * @slide: honour the window of the sequence
 *
 * Return: 0; -TENON_E_VALUE when the last block is shared, or when the window would drop tokens of
 *	earlier blocks; -TENON_E_OVERFLOW.
 */
int kv_plan(const struct kv_pages *p, const struct kv_sequence *s, int64_t count, bool slide,
	    struct kv_reservation *out);

/* Carry out a plan. The caller checked that enough pages are free. */
void kv_reserve(struct kv_pages *p, struct kv_sequence *s, const struct kv_reservation *r);

/* Page number @index of a block; KV_NONE behind the last. */
int32_t kv_page_at(const struct kv_pages *p, const struct kv_block *b, int64_t index);

/* Index in the pages of its block of token @j; tokens behind the sink may have moved. */
static inline int64_t kv_index(const struct kv_block *b, int64_t j)
{
	return j < b->sink ? j : j - b->sink + b->offset;
}

/*
 * Raise the error of a full cache, which says what is left: "the key-value cache is full: @what needs
 * @wanted pages; 12 of 40 pages are free, 3 sequences have 90 tokens"
 */
int kv_full(const struct kv_pages *p, const char *what, int64_t wanted);

/* Sum of the lengths of all sequences. */
int64_t kv_total_length(const struct kv_pages *p);

/** kv_window - set a sliding window, once; -TENON_E_VALUE, -TENON_E_USAGE */
int kv_window(struct kv_pages *p, struct kv_sequence *s, int64_t window, int64_t sink);

#endif /* RUNTIME_KV_KV_PAGES_H */
