/* SPDX-License-Identifier: MIT */
/* Find, insert and erase pairs in both layouts, and grow from one to the other. */
#include "runtime/ffi/map.h"

#include <stdlib.h>

/* the table's part of a map; behind it, in maps made here, there is room for the pairs in a row */
struct dense_map {
	struct tenon_map base;
	uint32_t shift; /* 64 - log2(slots) */
	uint64_t head;
	uint64_t tail;
};

struct item {
	struct tenon_value key;
	struct tenon_value value;
	uint64_t previous;
	uint64_t next;
};

/* Sixteen bytes that describe the slots, then sixteen items. */
#define BLOCK	    16
#define BLOCK_BYTES (BLOCK + BLOCK * sizeof(struct item))

#define NOWHERE	  UINT64_MAX
#define EMPTY	  0xff
#define PROTECTED 0xfe /* being moved: neither empty nor in a chain */
#define CHAINED	  0x80 /* the slot belongs to a chain whose head is elsewhere */
#define JUMP	  0x7f /* number of the distance to the chain's next slot; 0 for the last */

#define FIBONACCI UINT64_C(11400714819323198485)

/* ---- distances between the slots of a chain */

#define JUMPS	     126
#define JUMPS_NEAR   16 /* the first are 0, 1, 2, … */
#define JUMPS_MIDDLE 83 /* then triangular numbers, from the 6th on */

static const uint64_t far_jumps[JUMPS - JUMPS_MIDDLE] = {
	8515,
	19110,
	42778,
	96141,
	216153,
	486591,
	1092981,
	2458653,
	5532801,
	12442566,
	27993903,
	62983476,
	141717030,
	318844378,
	717352503,
	1614057336,
	3631522476,
	8170957530,
	18384510628,
	41364789378,
	93070452520,
	209408356380,
	471168559170,
	1060128894105,
	2385289465695,
	5366898840628,
	12075518705635,
	27169915244790,
	61132312065111,
	137547689707000,
	309482283181501,
	696335127828753,
	1566753995631385,
	3525196511162271,
	7931691992677701,
	17846306936293605,
	40154190677507445,
	90346928918121501,
	203280589587557251,
	457381325854679626,
	1029107982097042876,
	2315492959180353330,
	5209859154120846435,
};

static uint64_t jump_distance(unsigned int jump)
{
	uint64_t n;

	if (jump < JUMPS_NEAR)
		return jump;
	if (jump >= JUMPS_MIDDLE)
		return jump < JUMPS ? far_jumps[jump - JUMPS_MIDDLE] : 0;
	n = jump - 10;
	return n * (n + 1) / 2;
}

/* ---- slots */

static bool is_small(const struct tenon_map *m)
{
	return m->slots & TENON_MAP_SMALL;
}

static uint64_t slot_count(const struct tenon_map *m)
{
	return m->slots & ~TENON_MAP_SMALL;
}

static uint8_t *meta_at(const struct tenon_map *m, uint64_t i)
{
	return (uint8_t *)m->data + i / BLOCK * BLOCK_BYTES + i % BLOCK;
}

static struct item *item_at(const struct tenon_map *m, uint64_t i)
{
	char *block = (char *)m->data + i / BLOCK * BLOCK_BYTES + BLOCK;

	return (struct item *)(void *)block + i % BLOCK;
}

static struct tenon_value *pair_at(const struct tenon_map *m, uint64_t i)
{
	return (struct tenon_value *)m->data + 2 * i;
}

static uint64_t slot_of_hash(const struct tenon_map *m, uint64_t hash)
{
	return (FIBONACCI * hash) >> ((const struct dense_map *)m)->shift;
}

/* The slot after @i in its chain; NOWHERE after the last. */
static uint64_t chain_next(const struct tenon_map *m, uint64_t i, uint8_t meta)
{
	uint64_t distance = jump_distance(meta & JUMP);

	return distance ? (i + distance) & (m->slots - 1) : NOWHERE;
}

/* ---- the list of items in the order of insertion */

/* The link from item @i to the next one, and to the previous one. NOWHERE stands for the map, whose links are head and tail. */
static uint64_t *next_of(struct tenon_map *m, uint64_t i)
{
	return i == NOWHERE ? &((struct dense_map *)m)->head : &item_at(m, i)->next;
}

static uint64_t *previous_of(struct tenon_map *m, uint64_t i)
{
	return i == NOWHERE ? &((struct dense_map *)m)->tail : &item_at(m, i)->previous;
}

static void list_append(struct tenon_map *m, uint64_t i)
{
	struct dense_map *d = (struct dense_map *)m;
	struct item *item = item_at(m, i);

	item->previous = d->tail;
	item->next = NOWHERE;
	*next_of(m, d->tail) = i;
	d->tail = i;
}

static void list_remove(struct tenon_map *m, uint64_t i)
{
	const struct item *item = item_at(m, i);

	*next_of(m, item->previous) = item->next;
	*previous_of(m, item->next) = item->previous;
}

/* Correct the neighbours of an item that was moved to slot @i. */
static void list_moved(struct tenon_map *m, uint64_t i)
{
	const struct item *item = item_at(m, i);

	*next_of(m, item->previous) = i;
	*previous_of(m, item->next) = i;
}

/* ---- the table */

static uint64_t dense_find(const struct tenon_map *m, const struct tenon_value *key)
{
	uint64_t i;

	if (!m->size)
		return NOWHERE;
	i = slot_of_hash(m, ffi_key_hash(key));
	if (*meta_at(m, i) & CHAINED)
		return NOWHERE;
	for (; i != NOWHERE; i = chain_next(m, i, *meta_at(m, i)))
		if (ffi_key_equal(key, &item_at(m, i)->key))
			return i;
	return NOWHERE;
}

/* Find an empty slot to follow slot @i in its chain. */
static bool find_empty(const struct tenon_map *m, uint64_t i, uint8_t *jump, uint64_t *slot)
{
	unsigned int k;

	for (k = 1; k < JUMPS; k++) {
		*slot = (i + jump_distance(k)) & (m->slots - 1);
		if (*meta_at(m, *slot) == EMPTY) {
			*jump = (uint8_t)k;
			return true;
		}
	}
	return false;
}

static void set_jump(struct tenon_map *m, uint64_t i, uint8_t jump)
{
	uint8_t *meta = meta_at(m, i);

	*meta = (*meta & CHAINED) | jump;
}

/* The slot before @i in its chain. */
static uint64_t chain_previous(const struct tenon_map *m, uint64_t i)
{
	uint64_t at = slot_of_hash(m, ffi_key_hash(&item_at(m, i)->key)), next;

	for (; at != NOWHERE; at = next) {
		next = chain_next(m, at, *meta_at(m, at));
		if (next == i)
			break;
	}
	return at;
}

/*
 * Slot @i belongs to a chain that begins elsewhere: move its item, and those behind it in the chain,
 * to other slots. False if there is no room; the chain is then broken, but not the list.
 */
static bool vacate(struct tenon_map *m, uint64_t i)
{
	uint64_t at = chain_previous(m, i), from = i, to;
	uint8_t jump, meta;

	if (at == NOWHERE)
		return false;
	while (from != NOWHERE) {
		if (!find_empty(m, at, &jump, &to))
			return false;
		meta = *meta_at(m, from);
		*item_at(m, to) = *item_at(m, from);
		*meta_at(m, to) = CHAINED;
		*meta_at(m, from) = from == i ? PROTECTED : EMPTY;
		list_moved(m, to);
		set_jump(m, at, jump);
		at = to;
		from = chain_next(m, from, meta);
	}
	return true;
}

/* Put a pair, which it takes over, whose key the map lacks; false if the table has to grow. */
static bool dense_put(struct tenon_map *m, const struct tenon_value *key,
		      const struct tenon_value *value)
{
	uint64_t i = slot_of_hash(m, ffi_key_hash(key)), last, next;
	uint8_t jump;

	if (*meta_at(m, i) == EMPTY) {
		*meta_at(m, i) = 0;
	} else if (m->size + 1 > m->slots - m->slots / 64) {
		return false;
	} else if (*meta_at(m, i) & CHAINED) {
		if (!vacate(m, i))
			return false;
		*meta_at(m, i) = 0;
	} else {
		for (last = i; (next = chain_next(m, last, *meta_at(m, last))) != NOWHERE;
		     last = next)
			;
		if (!find_empty(m, last, &jump, &i))
			return false;
		*meta_at(m, i) = CHAINED;
		set_jump(m, last, jump);
	}
	item_at(m, i)->key = *key;
	item_at(m, i)->value = *value;
	list_append(m, i);
	m->size++;
	return true;
}

static void blocks_free(void *data)
{
	free(data);
}

/* Give a map, whose old data the caller has, an empty table of 1 << @bits slots. */
static bool dense_init(struct dense_map *d, unsigned int bits)
{
	uint64_t blocks = ((UINT64_C(1) << bits) + BLOCK - 1) / BLOCK, i;
	char *data;

	if (bits > 40 || blocks > SIZE_MAX / BLOCK_BYTES || !(data = malloc(blocks * BLOCK_BYTES)))
		return false;
	for (i = 0; i < blocks; i++)
		memset(data + i * BLOCK_BYTES, EMPTY, BLOCK);
	d->base.data = data;
	d->base.data_deleter = blocks_free;
	d->base.slots = UINT64_C(1) << bits;
	d->base.size = 0;
	d->shift = 64 - bits;
	d->head = d->tail = NOWHERE;
	return true;
}

/* Move the pairs of a map to a table with twice the slots. */
static int grow(struct tenon_map *m)
{
	unsigned int bits = is_small(m) ? 3 : 64 - ((struct dense_map *)m)->shift + 1;
	struct ffi_map_at at = FFI_MAP_START;
	const struct tenon_value *key, *value;
	struct dense_map fresh;
	bool fits;

	do {
		if (!dense_init(&fresh, bits))
			return ffi_nomem("a map");
		fits = true;
		at.begun = false;
		while (fits && ffi_map_next(m, &at, &key, &value))
			fits = dense_put(&fresh.base, key, value);
		if (!fits)
			free(fresh.base.data);
		bits++;
	} while (!fits);
	/* C++'s deleter of pairs in a row releases those that the map still has. */
	m->size = 0;
	if (m->data_deleter)
		m->data_deleter(m->data);
	m->data = fresh.base.data;
	m->data_deleter = fresh.base.data_deleter;
	m->slots = fresh.base.slots;
	m->size = fresh.base.size;
	((struct dense_map *)m)->shift = fresh.shift;
	((struct dense_map *)m)->head = fresh.head;
	((struct dense_map *)m)->tail = fresh.tail;
	return 0;
}

static void dense_erase(struct tenon_map *m, uint64_t i)
{
	uint64_t last = i, before = i, next = chain_next(m, i, *meta_at(m, i));
	struct tenon_value key = item_at(m, i)->key, value = item_at(m, i)->value;

	m->size--;
	if (next == NOWHERE) {
		if (*meta_at(m, i) & CHAINED) {
			before = chain_previous(m, i);
			if (before != NOWHERE)
				set_jump(m, before, 0);
		}
		list_remove(m, i);
		*meta_at(m, i) = EMPTY;
	} else {
		/* Fill the slot with the last item of the chain. */
		for (last = next; (next = chain_next(m, last, *meta_at(m, last))) != NOWHERE;
		     last = next)
			before = last;
		list_remove(m, i);
		*item_at(m, i) = *item_at(m, last);
		list_moved(m, i);
		*meta_at(m, last) = EMPTY;
		set_jump(m, before, 0);
	}
	ffi_release(&key);
	ffi_release(&value);
}

/* ---- both layouts */

static uint64_t small_find(const struct tenon_map *m, const struct tenon_value *key)
{
	uint64_t i;

	for (i = 0; i < m->size; i++)
		if (ffi_key_equal(pair_at(m, i), key))
			return i;
	return NOWHERE;
}

struct tenon_value *ffi_map_find(const struct tenon_map *map, const struct tenon_value *key)
{
	uint64_t i;

	if (is_small(map)) {
		i = small_find(map, key);
		return i == NOWHERE ? NULL : pair_at(map, i) + 1;
	}
	i = dense_find(map, key);
	return i == NOWHERE ? NULL : &item_at(map, i)->value;
}

bool ffi_map_next(const struct tenon_map *map, struct ffi_map_at *at,
		  const struct tenon_value **key, const struct tenon_value **value)
{
	uint64_t slots = slot_count(map);

	if (is_small(map)) {
		at->index = at->begun ? at->index + 1 : 0;
		at->begun = true;
		if (at->index >= map->size)
			return false;
		*key = pair_at(map, at->index);
		*value = *key + 1;
		return true;
	}
	if (!map->size)
		return false;
	if (!at->begun)
		at->index = ((const struct dense_map *)map)->head;
	else if (at->index < slots)
		at->index =
			*meta_at(map, at->index) == EMPTY ? NOWHERE : item_at(map, at->index)->next;
	at->begun = true;
	if (at->index >= slots)
		return false;
	*key = &item_at(map, at->index)->key;
	*value = &item_at(map, at->index)->value;
	return true;
}

int ffi_map_set(struct tenon_map *map, const struct tenon_value *key,
		const struct tenon_value *value)
{
	struct tenon_value *found = ffi_map_find(map, key), k, v;

	if (ffi_own(value, &v))
		return -1;
	if (found) {
		k = *found;
		*found = v;
		ffi_release(&k);
		return 0;
	}
	if (ffi_own(key, &k))
		goto release_value;
	if (is_small(map) && map->size < slot_count(map)) {
		pair_at(map, map->size)[0] = k;
		pair_at(map, map->size)[1] = v;
		map->size++;
		return 0;
	}
	if (is_small(map) && grow(map))
		goto release_key;
	while (!dense_put(map, &k, &v))
		if (grow(map))
			goto release_key;
	return 0;

release_key:
	ffi_release(&k);
release_value:
	ffi_release(&v);
	return -1;
}

static void small_erase(struct tenon_map *map, uint64_t i)
{
	struct tenon_value pair[2];

	memcpy(pair, pair_at(map, i), sizeof(pair));
	map->size--;
	memmove(pair_at(map, i), pair_at(map, i + 1), (map->size - i) * sizeof(pair));
	ffi_release(&pair[0]);
	ffi_release(&pair[1]);
}

bool ffi_map_erase(struct tenon_map *map, const struct tenon_value *key)
{
	uint64_t i;

	if (!is_small(map)) {
		i = dense_find(map, key);
		if (i == NOWHERE)
			return false;
		dense_erase(map, i);
		return true;
	}
	i = small_find(map, key);
	if (i == NOWHERE)
		return false;
	small_erase(map, i);
	return true;
}

/* Release pair after pair, which needs no memory: a deleter that uses the map finds those that are left. */
static void erase_each(struct tenon_map *map)
{
	uint64_t left = map->size;

	for (; left && map->size; left--) {
		if (is_small(map))
			small_erase(map, 0);
		else
			dense_erase(map, ((struct dense_map *)map)->head);
	}
}

/* Release the pairs. Their deleters may use the map again: it is empty then. */
void ffi_map_clear(struct tenon_map *map)
{
	uint64_t count = map->size, i = 0;
	struct ffi_map_at at = FFI_MAP_START;
	const struct tenon_value *key, *value;
	struct tenon_value *pairs;
	struct dense_map *d = (struct dense_map *)map;

	if (!count)
		return;
	pairs = malloc(2 * count * sizeof(*pairs));
	if (!pairs) {
		erase_each(map);
		return;
	}
	while (i < count && ffi_map_next(map, &at, &key, &value)) {
		pairs[2 * i] = *key;
		pairs[2 * i++ + 1] = *value;
	}
	map->size = 0;
	if (!is_small(map)) {
		d->head = d->tail = NOWHERE;
		for (count = 0; count < map->slots; count++)
			*meta_at(map, count) = EMPTY;
	}
	while (i) {
		i--;
		ffi_release(&pairs[2 * i + 1]);
		ffi_release(&pairs[2 * i]);
	}
	free(pairs);
}

static void map_delete(void *self, int flags)
{
	struct tenon_map *m = self;

	if (flags & TENON_DELETE_CONTENT) {
		if (ffi->nested_delete(self, flags))
			return;
		ffi_map_clear(m);
		if (m->data_deleter)
			m->data_deleter(m->data);
		m->data = NULL;
		m->data_deleter = NULL;
		m->slots = TENON_MAP_SMALL;
	}
	if (flags & TENON_DELETE_MEMORY)
		free(m);
}

struct tenon_map *ffi_map_create(int32_t type)
{
	struct dense_map *d =
		calloc(1, sizeof(*d) + 2 * TENON_MAP_MOST * sizeof(struct tenon_value));

	if (!d) {
		ffi_nomem("a map");
		return NULL;
	}
	ffi_object_init(d, type, map_delete);
	d->base.data = d + 1;
	d->base.slots = TENON_MAP_SMALL | TENON_MAP_MOST;
	return &d->base;
}
