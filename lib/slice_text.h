/* SPDX-License-Identifier: MIT */
/* Compare slices with words, and cut them for messages. */
#ifndef LIB_SLICE_TEXT_H
#define LIB_SLICE_TEXT_H

#include <string.h>
#include <tenon/string.h>

/** slice_is - test whether a slice is a NUL-terminated string */
static inline bool slice_is(struct tenon_slice s, const char *word)
{
	return tenon_slice_equal(s, tenon_slice_of(word));
}

/** slice_begins - test whether a slice begins with another one */
static inline bool slice_begins(struct tenon_slice s, struct tenon_slice with)
{
	return s.size >= with.size &&
	       tenon_slice_equal((struct tenon_slice){ s.data, with.size }, with);
}

/** slice_ends - test whether a slice ends with another one */
static inline bool slice_ends(struct tenon_slice s, struct tenon_slice with)
{
	return s.size >= with.size &&
	       tenon_slice_equal((struct tenon_slice){ s.data + (s.size - with.size), with.size },
				 with);
}

/** slice_starts - test whether a slice begins with a NUL-terminated string */
static inline bool slice_starts(struct tenon_slice s, const char *prefix)
{
	return slice_begins(s, tenon_slice_of(prefix));
}

/** slice_take - cut a word off the beginning of a slice; false, without a change, if it does not begin with it */
static inline bool slice_take(struct tenon_slice *s, const char *word)
{
	const size_t n = strlen(word);

	if (!slice_starts(*s, word))
		return false;
	s->data += n;
	s->size -= n;
	return true;
}

/** slice_shown - number of bytes of a text to print in a message, at most @most */
static inline int slice_shown(struct tenon_slice text, int most)
{
	return text.size < (size_t)most ? (int)text.size : most;
}

#endif /* LIB_SLICE_TEXT_H */
