/* SPDX-License-Identifier: MIT */
/* The thread's error: format it, prepend frames, convert a status to a kind. */
#include "lib/brief_errors.h"
#include "lib/error_slot.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/string.h>

/* fits nearly every message, so that later errors of the thread allocate nothing */
#define ERROR_ROOM 512
/* upper limit of a message; fits a compiler's log */
#define ERROR_MOST (1u << 20)

struct error_slot {
	int status; /* 0: empty */
	void *object;
	void (*drop)(void *object);
	struct tenon_slice object_message;
	bool framed; /* @text holds frames and a copy of the object's message */
	char *text;
	size_t size;
	size_t room;
	/* second buffer: a new message is written here, since its arguments may point into @text */
	char *spare;
	size_t spare_room;
	char kind[48];
};

static __thread struct error_slot *thread_slot;
static __thread int thread_nomem; /* status raised when the slot could not be allocated */
static const char no_memory[] = "no memory, not even for the message";
static pthread_key_t slot_key;
static pthread_once_t slot_once = PTHREAD_ONCE_INIT;

static void slot_empty(struct error_slot *s)
{
	if (s->object)
		s->drop(s->object);
	s->object = NULL;
	s->framed = false;
	s->status = 0;
	s->size = 0;
}

/* Swap the buffers before a new message is written; the old one stays valid until slot_empty(). */
static void slot_turn(struct error_slot *s)
{
	char *text = s->text;
	size_t room = s->room;

	if (!s->status)
		return;
	s->text = s->spare;
	s->room = s->spare_room;
	s->spare = text;
	s->spare_room = room;
}

#ifdef CONFIG_EXECUTORS
/* The first thread with an error needs no memory for it: its model may run without malloc(). */
static struct error_slot first_slot;
static char first_texts[2][ERROR_ROOM];
static bool first_taken; /* atomic */

static bool text_is_static(const char *text)
{
	return text == first_texts[0] || text == first_texts[1];
}

static void text_free(char *text)
{
	if (!text_is_static(text))
		free(text);
}

static char *text_resize(char *text, size_t room)
{
	char *more;

	if (!text_is_static(text))
		return realloc(text, room);
	more = malloc(room);
	return more ? memcpy(more, text, ERROR_ROOM) : NULL;
}

static struct error_slot *take_first(void)
{
	struct error_slot *s = &first_slot;

	if (__atomic_exchange_n(&first_taken, true, __ATOMIC_ACQUIRE))
		return NULL;
	memset(s, 0, sizeof(*s));
	s->text = first_texts[0];
	s->spare = first_texts[1];
	return s;
}

static void slot_give_back(struct error_slot *s)
{
	if (s != &first_slot)
		free(s);
	else
		__atomic_store_n(&first_taken, false, __ATOMIC_RELEASE);
}
#else
#define text_free   free
#define text_resize realloc

static struct error_slot *take_first(void)
{
	return NULL;
}

static void slot_give_back(struct error_slot *s)
{
	free(s);
}
#endif

static void slot_free(void *slot)
{
	struct error_slot *s = slot;

	thread_slot = NULL;
	slot_empty(s);
	text_free(s->text);
	text_free(s->spare);
	slot_give_back(s);
}

static struct error_slot *slot_new(void)
{
	struct error_slot *s = take_first();

	if (s)
		return s;
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->text = malloc(ERROR_ROOM);
	s->spare = malloc(ERROR_ROOM);
	if (s->text && s->spare)
		return s;
	slot_free(s);
	return NULL;
}

static void slot_key_make(void)
{
	pthread_key_create(&slot_key, slot_free);
}

static void slot_kind(struct error_slot *s, struct tenon_slice kind)
{
	size_t n = kind.size < sizeof(s->kind) - 1 ? kind.size : sizeof(s->kind) - 1;

	memmove(s->kind, kind.data, n);
	s->kind[n] = '\0';
}

/* There is memory again: the slot holds the error that had none, so that a frame before it does not hide it. */
static void slot_take_nomem(struct error_slot *s)
{
	if (!thread_nomem)
		return;
	s->status = thread_nomem;
	s->size = sizeof(no_memory) - 1;
	memcpy(s->text, no_memory, sizeof(no_memory));
	slot_kind(s, tenon_slice_of("MemoryError"));
	thread_nomem = 0;
}

static struct error_slot *slot_get(int status)
{
	struct error_slot *s = thread_slot;

	if (status == -TENON_E_NOMEM)
		error_set_ran_out(true);
	if (!s) {
		pthread_once(&slot_once, slot_key_make);
		s = slot_new();
		if (!s) {
			thread_nomem = status;
			error_set_ran_out(true);
			return NULL;
		}
		s->room = ERROR_ROOM;
		s->spare_room = ERROR_ROOM;
		thread_slot = s;
		pthread_setspecific(slot_key, s);
	}
	slot_take_nomem(s);
	return s;
}

/*
 * Stands for an error that had no memory for its slot: its status in an address that no slot has, since slots are aligned.
 * Statuses of more than 30 bits are cut where addresses have 32.
 */
static struct error_slot *without_slot(int status)
{
	return (struct error_slot *)((uintptr_t)status << 1 | 1);
}

struct error_slot *error_set_aside(void)
{
	struct error_slot *s = thread_slot;

	if (thread_nomem) {
		s = without_slot(thread_nomem);
		thread_nomem = 0;
		return s;
	}
	if (!s || !s->status)
		return NULL;
	thread_slot = NULL;
	pthread_setspecific(slot_key, NULL);
	return s;
}

void error_put_back(struct error_slot *aside)
{
	if (!aside || (uintptr_t)aside & 1) {
		tenon_error_clear();
		thread_nomem = (int)((intptr_t)aside >> 1);
		return;
	}
	thread_nomem = 0;
	if (thread_slot)
		slot_free(thread_slot);
	thread_slot = aside;
	pthread_setspecific(slot_key, aside);
}

/* Grow @text to @size bytes and a NUL. Return: how many bytes fit; the caller truncates. */
static size_t slot_room(struct error_slot *s, size_t size)
{
	size_t room = s->room;
	char *text;

	if (size > ERROR_MOST)
		size = ERROR_MOST;
	while (room < size + 1)
		room *= 2;
	if (room != s->room) {
		text = text_resize(s->text, room);
		if (text) {
			s->text = text;
			s->room = room;
		}
	}
	return s->room - 1 < size ? s->room - 1 : size;
}

const char *tenon_status_kind(int status)
{
	/* compare negative values, since -INT_MIN overflows */
	switch (status > 0 ? -status : status) {
	case -TENON_E_TYPE:
		return "TypeError";
	case -TENON_E_VALUE:
	case -TENON_E_FORMAT:
	case -TENON_E_TRUNCATED:
	case -TENON_E_CYCLE:
		return "ValueError";
	case -TENON_E_OVERFLOW:
		return "OverflowError";
	case -TENON_E_NOMEM:
		return "MemoryError";
	case -TENON_E_NOT_FOUND:
	case -TENON_E_NO_FUNCTION:
		return "AttributeError";
	case -TENON_E_IO:
		return "OSError";
	case -TENON_E_TIMEOUT:
		return "TimeoutError";
	case -TENON_E_UNSUPPORTED:
		return "NotImplementedError";
	default:
		return "RuntimeError";
	}
}

int tenon_error_v(int status, const char *format, va_list args)
{
	struct error_slot *s = slot_get(status);
	va_list again;
	int n;

	if (!s)
		return status;
	va_copy(again, args);
	slot_turn(s);
	n = vsnprintf(s->text, s->room, format, args);
	if (n >= (int)s->room) {
		slot_room(s, (size_t)n);
		vsnprintf(s->text, s->room, format, again);
	}
	va_end(again);
	slot_empty(s);
	s->size = n < 0 ? 0 : strlen(s->text);
	s->text[s->size] = '\0';
	s->status = status;
	slot_kind(s, tenon_slice_of(tenon_status_kind(status)));
	return status;
}

int(tenon_error)(int status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	tenon_error_v(status, format, args);
	va_end(args);
	return status;
}

#ifndef CONFIG_ERROR_MESSAGES
static const char *brief_text(int status)
{
	/*
	 * in the order of enum tenon_status; one string, since an array of pointers needs
	 * relocations
	 */
	static const char texts[] =
		"an error\0the function failed\0an error\0no memory\0input or output "
		"failed\0wrong format\0truncated\0too large\0not found\0exists "
		"already\0no loader\0wrong type\0wrong value\0import cycle\0"
		"unsupported\0no such device\0lost\0timed out\0wrong use\0missing "
		"function";
	const char *text = texts;
	int i;

	if (status < -TENON_E_NO_FUNCTION)
		return text;
	for (i = 0; i > status; i--)
		text += strlen(text) + 1;
	return text;
}

int error_brief(int status)
{
	const char *kind = tenon_status_kind(status);
	struct tenon_slice text = tenon_slice_of(brief_text(status));

	error_slot_text(status, tenon_slice_of(kind), &text, 1);
	return status;
}
#endif

#ifdef CONFIG_ERROR_MESSAGES
static bool inside_character(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* End a text of @size bytes with "…", which needs three more; returns its size. */
static size_t mark_end(char *text, size_t size)
{
	static const char mark[] = "…";

	while (size && inside_character(text[size]))
		size--;
	memcpy(text + size, mark, sizeof(mark) - 1);
	return size + sizeof(mark) - 1;
}

/* Replace the middle of a text of @size bytes with "…", so that no more than @most are left. */
static size_t shorten(char *text, size_t size, size_t most)
{
	size_t head = most / 2 - 4, tail = size - head;

	if (size <= most)
		return size;
	while (tail < size && inside_character(text[tail]))
		tail++;
	head = mark_end(text, head);
	memmove(text + head, text + tail, size - tail);
	return head + size - tail;
}

/* Format a frame into @spare, since its arguments may point into @text. Returns its size. */
static size_t format_frame(struct error_slot *s, const char *format, va_list args)
{
	va_list again;
	size_t size;
	char *room;
	int n;

	va_copy(again, args);
	n = vsnprintf(s->spare, s->spare_room, format, args);
	size = n < 0 ? 0 : (size_t)n;
	if (size >= s->spare_room) {
		room = size < ERROR_MOST ? text_resize(s->spare, size + 1) : NULL;
		if (room) {
			s->spare = room;
			s->spare_room = size + 1;
			vsnprintf(s->spare, s->spare_room, format, again);
		} else {
			size = mark_end(s->spare, s->spare_room - 4);
		}
	}
	va_end(again);
	return shorten(s->spare, size, TENON_ERROR_FRAME);
}

int(tenon_error_in)(int status, const char *format, ...)
{
	struct error_slot *s = slot_get(status);
	size_t n, keep, size, room;
	va_list args;
	bool lent;

	if (!s)
		return status;
	va_start(args, format);
	n = format_frame(s, format, args);
	va_end(args);

	lent = s->object && !s->framed;
	size = lent ? s->object_message.size : s->size;
	room = slot_room(s, n + 2 + size);
	/* if slot_room() ran out of memory, shorten the frame and truncate the message */
	n = shorten(s->spare, n, room - 2);
	keep = room - n - 2 < size ? room - n - 2 : size;
	memmove(s->text + n + 2, lent ? s->object_message.data : s->text, keep);
	memcpy(s->text, s->spare, n);
	memcpy(s->text + n, ": ", 2);
	n += 2;
	s->size = n + keep;
	s->text[s->size] = '\0';
	s->framed = true;
	if (!s->status) {
		s->status = status;
		slot_kind(s, tenon_slice_of(tenon_status_kind(status)));
	}
	return status;
}
#else
int(tenon_error_in)(int status, const char *format, ...)
{
	return status;
}
#endif

void error_slot_text(int status, struct tenon_slice kind, const struct tenon_slice *parts,
		     size_t count)
{
	struct error_slot *s = slot_get(status);
	size_t i, n, size = 0, at = 0;

	if (!s)
		return;
	slot_turn(s);
	for (i = 0; i < count; i++)
		size += parts[i].size;
	size = slot_room(s, size);
	for (i = 0; i < count; i++) {
		n = parts[i].size < size - at ? parts[i].size : size - at;
		if (n)
			memcpy(s->text + at, parts[i].data, n);
		at += n;
	}
	slot_kind(s, kind);
	slot_empty(s);
	s->text[at] = '\0';
	s->size = at;
	s->status = status;
}

void tenon_error_raise_text(const char *kind, const struct tenon_slice *parts, size_t count)
{
	error_slot_text(-TENON_E_CALL, tenon_slice_of(kind ? kind : "RuntimeError"), parts, count);
}

void error_slot_hold(void *object, void (*drop)(void *object), struct tenon_slice kind,
		     struct tenon_slice message)
{
	struct error_slot *s = slot_get(-TENON_E_CALL);

	if (!s) {
		drop(object);
		return;
	}
	slot_empty(s);
	s->object = object;
	s->drop = drop;
	s->object_message = message;
	s->status = -TENON_E_CALL;
	slot_kind(s, kind);
}

int error_slot_set_kind(int status, const char *kind)
{
	if (thread_slot && thread_slot->status)
		slot_kind(thread_slot, tenon_slice_of(kind));
	return status;
}

void *error_slot_take(void)
{
	struct error_slot *s = thread_slot;
	void *object;

	if (!s || !s->object || s->framed)
		return NULL;
	object = s->object;
	s->object = NULL;
	slot_empty(s);
	return object;
}

void *error_slot_object(void)
{
	return thread_slot ? thread_slot->object : NULL;
}

void error_slot_read(struct tenon_slice *kind, struct tenon_slice *message)
{
	struct error_slot *s = thread_slot;

	/* slot_get() gives it to the slot, where there is one */
	if (thread_nomem) {
		*kind = tenon_slice_of("MemoryError");
		*message = tenon_slice_of(no_memory);
		return;
	}
	*kind = tenon_slice_of(s && s->status ? s->kind : "");
	*message = tenon_slice_of("");
	if (!s || !s->status)
		return;
	if (s->object && !s->framed) {
		*message = s->object_message;
	} else {
		message->data = s->text;
		message->size = s->size;
	}
}

const char *tenon_error_message(void)
{
	struct error_slot *s = thread_slot;
	struct tenon_slice kind, message;

	error_slot_read(&kind, &message);
	if (s && s->object && !s->framed) {
		/* an object's message need not end in a NUL, so copy it */
		s->size = slot_room(s, message.size);
		memcpy(s->text, message.data, s->size);
		s->text[s->size] = '\0';
		return s->text;
	}
	return message.data;
}

const char *tenon_error_kind(void)
{
	struct tenon_slice kind, message;

	error_slot_read(&kind, &message);
	return kind.data;
}

int tenon_error_status(void)
{
	if (thread_slot && thread_slot->status)
		return thread_slot->status;
	return thread_nomem;
}

#ifdef CONFIG_TOOL
static __thread bool thread_ran_out;

bool error_ran_out(void)
{
	return thread_ran_out;
}

void error_set_ran_out(bool ran_out)
{
	thread_ran_out = ran_out;
}
#endif

void tenon_error_clear(void)
{
	thread_nomem = 0;
	if (thread_slot && thread_slot->status)
		slot_empty(thread_slot);
}
