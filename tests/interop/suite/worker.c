/* SPDX-License-Identifier: MIT */
/*
 * Runs compiled code for another process: scripts/interop-suite replaces TVM's runtime by it. link.py is the other side, and
 * describes the messages.
 */
#include <stdlib.h>

#include "calls.h"
#include "values.h"

static void answer_object(int err, void *object)
{
	struct message answer = { NULL, 0, 0 };
	struct tenon_value value = tenon_arg_object(object);

	if (err) {
		put_error(&answer);
	} else {
		put_byte(&answer, 'V');
		put_value(&answer, NULL, &value, 0);
		tenon_object_unref(object);
	}
	put_u32(&answer, 0);
	put_u32(&answer, 0);
	send_message(&answer);
}

static void load(struct message *m)
{
	char *path = get_string(m);
	struct tenon_module *module = NULL;
	int err = tenon_module_load(path, &module);

	free(path);
	answer_object(err, module);
}

static void get_function(struct message *m)
{
	const struct tenon_value *module = kept_at(get_u32(m));
	const bool imports = *get(m, 1);
	const struct tenon_slice name = get_text(m);
	struct tenon_function *f = NULL;
	int err = tenon_module_find_function((struct tenon_module *)module->as.object, name,
					     imports, &f);

	answer_object(err, f);
}

static void get_imports(struct message *m)
{
	struct tenon_module *module = (struct tenon_module *)kept_at(get_u32(m))->as.object;
	const size_t count = tenon_module_import_count(module);
	struct tenon_value *items = memory(NULL, count * sizeof(*items));
	struct tenon_array *array = NULL;
	size_t i;
	int err;

	for (i = 0; i < count; i++)
		items[i] = tenon_arg_object(tenon_module_import_at(module, i));
	err = tenon_array_create(items, count, &array);
	free(items);
	answer_object(err, array);
}

static void find_global(struct message *m)
{
	struct tenon_function *f = NULL;
	int err = tenon_function_find_slice(get_text(m), &f);

	answer_object(err, f);
}

static bool is_callback(const struct tenon_function *f)
{
	static struct tenon_function *one;

	if (!one)
		one = callback(0);
	return f->call == one->call;
}

/* A function of the other process takes the place of another one, but not of one of Tenon's. */
static void register_callback(struct message *m)
{
	char *name = get_string(m);
	struct tenon_function *f = callback(get_u32(m)), *old = NULL;
	int err = tenon_function_find(name, &old);

	if (!err && (!old || is_callback(old)))
		err = tenon_function_register(name, f, true);
	answer_object(err, NULL);
	tenon_object_unref(old);
	tenon_object_unref(f);
	free(name);
}

static void drop(struct message *m)
{
	drop_kept(get_u32(m));
}

/* Serve requests until the answer to a callback comes: 0 with a value, 1 with an error, to be read from @reply. */
int serve(struct message *reply)
{
	for (;;) {
		struct message m = receive();
		const char what = *get(&m, 1);

		switch (what) {
		case 'R':
		case 'X':
			*reply = m;
			return what == 'X';
		case 'L':
			load(&m);
			break;
		case 'F':
			get_function(&m);
			break;
		case 'I':
			get_imports(&m);
			break;
		case 'G':
			find_global(&m);
			break;
		case 'P':
			register_callback(&m);
			break;
		case 'C':
			call(&m);
			break;
		case 'D':
			drop(&m);
			break;
		default:
			fail("a request of unknown form");
		}
		free(m.data);
	}
}

int main(void)
{
	struct message reply;

	serve(&reply);
	fail("an answer without a question");
}
