/* SPDX-License-Identifier: MIT */
/* Make arrays of malloc() larger when they are full. */
#ifndef LIB_ARRAY_ROOM_H
#define LIB_ARRAY_ROOM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* Reallocate an array with room for @count items of @size bytes, at least twice the room; NULL if out of memory. */
static inline void *array_enlarge(void *array, size_t *room, size_t count, size_t size)
{
	size_t more = *room > SIZE_MAX / 2 / size ? count : 2 * *room;

	if (more < count)
		more = count < 8 ? 8 : count;
	array = more > SIZE_MAX / size ? NULL : realloc(array, more * size);
	if (array)
		*room = more;
	return array;
}

/**
 * array_reserve - have room for @count items
 * @array: a pointer to the items; NULL before the first. It changes, unless out of memory
 * @room: how many fit, an integer that can hold twice @count; it changes as well
 * @count: how many must fit
 *
 * Return: true; false if out of memory.
 */
#define array_reserve(array, room, count)                                                          \
	({                                                                                         \
		size_t room_ = (size_t)(room), count_ = (size_t)(count);                           \
		void *array_ = count_ <= room_                                                     \
				       ? NULL                                                      \
				       : array_enlarge((array), &room_, count_, sizeof(*(array))); \
                                                                                                   \
		if (array_) {                                                                      \
			(array) = array_;                                                          \
			(room) = (__typeof__(room))room_;                                          \
		}                                                                                  \
		array_ || count_ <= (size_t)(room);                                                \
	})

#endif /* LIB_ARRAY_ROOM_H */
