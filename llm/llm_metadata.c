/* SPDX-License-Identifier: MIT */
/* What a library of MLC-LLM says about itself. */
#include <inttypes.h>
#include <stdlib.h>

#include "lib/brief_errors.h"
#include "llm/llm_engine.h"
#include "llm/llm_json.h"

char *llm_string_room(struct tenon_slice text)
{
	/* a string and its NUL fit between its quotes */
	char *room = malloc(text.size + 1);

	if (!room)
		tenon_error(-TENON_E_NOMEM, "no memory for %zu bytes of strings", text.size);
	return room;
}

static int read_string(const struct json_text *t, uint32_t *at, const char *what, char **room,
		       const char **out)
{
	struct tenon_slice s;
	int err = json_string(t, at, what, room, &s);

	if (!err)
		*out = s.data;
	return err;
}

static int read_shape(const struct json_text *t, uint32_t *at, struct llm_weight *w)
{
	uint32_t count, i;
	int err = json_enter(t, at, JSMN_ARRAY, "a shape", &count);

	if (!err && count > 8)
		err = json_error(t, *at, -TENON_E_FORMAT, "%" PRIu32 " dimensions, 8 at most",
				 count);
	for (i = 0; i < count && !err; i++) {
		w->shape[i] = -1;
		if (json_is(t, *at, JSMN_STRING))
			json_skip(t, at);
		else
			err = json_integer(t, at, "an extent", 0, INT64_MAX, &w->shape[i]);
	}
	w->ndim = (int32_t)count;
	return err;
}

/* Functions that change a weight when it is loaded, of models that are divided among devices. */
static int refuse_preprocs(const struct json_text *t, uint32_t *at)
{
	uint32_t count, start = *at;
	int err;

	if (llm_json_word(t, at, "null"))
		return 0;
	err = json_enter(t, at, JSMN_ARRAY, "preprocs", &count);
	return err || !count ? err
			     : json_error(t, start, -TENON_E_UNSUPPORTED,
					  "preprocs of a parameter are not supported");
}

static int read_weight(const struct json_text *t, uint32_t *at, char **room, struct llm_weight *w)
{
	struct tenon_slice key, dtype = { "", 0 };
	uint32_t count, start = *at;
	int err = json_enter(t, at, JSMN_OBJECT, "a parameter", &count);

	memset(w, 0, sizeof(*w));
	while (json_next(t, at, &count, &key, &err)) {
		if (slice_is(key, "name"))
			err = json_string(t, at, "the name of a parameter", room, &w->name);
		else if (slice_is(key, "shape"))
			err = read_shape(t, at, w);
		else if (slice_is(key, "dtype"))
			err = json_string(t, at, "a dtype", room, &dtype);
		else if (slice_is(key, "preprocs"))
			err = refuse_preprocs(t, at);
		else
			json_skip(t, at);
	}
	if (!err && !w->name.size)
		err = json_error(t, start, -TENON_E_FORMAT, "a parameter without a name");
	return err ? err : tenon_dtype_parse(dtype, &w->dtype);
}

static int read_weights(const struct json_text *t, uint32_t *at, char **room,
			struct llm_metadata *m)
{
	uint32_t count, i;
	int err = json_enter(t, at, JSMN_ARRAY, "params", &count);

	if (err)
		return err;
	free(m->weights);
	m->weights = calloc(count + 1, sizeof(*m->weights));
	if (!m->weights)
		return tenon_error(-TENON_E_NOMEM, "no memory for %" PRIu32 " parameters", count);
	m->weight_count = count;
	for (i = 0; i < count && !err; i++)
		err = read_weight(t, at, room, &m->weights[i]);
	return err;
}

static int read_cache(const struct json_text *t, uint32_t *at, struct llm_metadata *m)
{
	struct tenon_slice key;
	uint32_t count;
	int err = json_enter(t, at, JSMN_OBJECT, "kv_cache", &count);

	while (json_next(t, at, &count, &key, &err)) {
		if (slice_is(key, "num_hidden_layers"))
			err = llm_json_optional(t, at, "num_hidden_layers", &m->layers);
		else if (slice_is(key, "num_key_value_heads"))
			err = llm_json_optional(t, at, "num_key_value_heads", &m->kv_heads);
		else if (slice_is(key, "head_dim"))
			err = llm_json_optional(t, at, "head_dim", &m->head_dim);
		else
			json_skip(t, at);
	}
	return err;
}

static int read_member(const struct json_text *t, uint32_t *at, char **room, struct llm_metadata *m)
{
	const struct {
		const char *name;
		int64_t *to;
	} numbers[] = {
		{ "context_window_size", &m->context },
		{ "sliding_window_size", &m->window },
		{ "attention_sink_size", &m->sink },
		{ "prefill_chunk_size", &m->chunk },
		{ "max_batch_size", &m->batch },
		{ "tensor_parallel_shards", &m->shards },
		{ "pipeline_parallel_stages", &m->stages },
	};
	struct tenon_slice key;
	size_t i;
	int err = json_key(t, at, &key);

	if (err)
		return err;
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (slice_is(key, numbers[i].name))
			return llm_json_optional(t, at, numbers[i].name, numbers[i].to);
	if (slice_is(key, "model_type"))
		return read_string(t, at, "model_type", room, &m->type);
	if (slice_is(key, "quantization"))
		return read_string(t, at, "quantization", room, &m->quantization);
	if (slice_is(key, "kv_state_kind"))
		return read_string(t, at, "kv_state_kind", room, &m->kind);
	if (slice_is(key, "params"))
		return read_weights(t, at, room, m);
	if (slice_is(key, "kv_cache") && json_is(t, *at, JSMN_OBJECT))
		return read_cache(t, at, m);
	json_skip(t, at);
	return 0;
}

static int check(const struct llm_metadata *m)
{
	if (!m->weights)
		return tenon_error(-TENON_E_FORMAT, "_metadata has no \"params\"");
	if (strcmp(m->kind, "kv_cache"))
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "a model whose state is \"%.40s\"; models with a key-value "
				   "cache (\"kv_cache\") are supported",
				   m->kind);
	if (m->shards > 1 || m->stages > 1)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "the model was compiled for %" PRIi64
				   " devices; compile it for one "
				   "(tensor_parallel_shards=1, pipeline_parallel_stages=1)",
				   m->shards > 1 ? m->shards : m->stages);
	if (m->chunk < 1 || m->batch < 1 || (m->window < 1 && m->context < 1))
		return tenon_error(-TENON_E_FORMAT,
				   "_metadata has prefill_chunk_size %" PRIi64
				   ", max_batch_size %" PRIi64 ", context_window_size %" PRIi64
				   "; want at least 1",
				   m->chunk, m->batch, m->context);
	return 0;
}

int llm_metadata_read(struct tenon_slice text, struct llm_metadata *m)
{
	struct json_text t;
	uint32_t at = 0, count;
	char *room;
	int err;

	*m = (struct llm_metadata){ .type = "", .quantization = "", .kind = "kv_cache" };
	m->context = m->window = m->sink = -1;
	m->batch = m->shards = m->stages = 1;
	err = json_text_read(text, "_metadata", &t);
	if (err)
		return err;
	m->strings = room = llm_string_room(text);
	err = room ? json_enter(&t, &at, JSMN_OBJECT, "the metadata", &count) : -TENON_E_NOMEM;
	for (; !err && count; count--)
		err = read_member(&t, &at, &room, m);
	json_text_fini(&t);
	if (!err)
		err = check(m);
	if (err)
		llm_metadata_fini(m);
	return err;
}

void llm_metadata_fini(struct llm_metadata *m)
{
	free(m->strings);
	free(m->weights);
	m->strings = NULL;
	m->weights = NULL;
	m->weight_count = 0;
}
