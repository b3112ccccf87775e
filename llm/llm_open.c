/* SPDX-License-Identifier: MIT */
/* Opening a model: its library, metadata, weights, cache and tokenizer. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <tenon/device.h>
#include <tenon/model.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "lib/options.h"
#include "llm/llm_engine.h"
#include "llm/tokenizer.h"

#define POOLED 2 /* kind of allocator */

/* ---- files */

static bool ends_with(const char *name, const char *suffix)
{
	size_t n = strlen(name), m = strlen(suffix);

	return n > m && !strcmp(name + n - m, suffix);
}

/* The only shared object of a folder. */
static int find_library(const char *folder, char **out)
{
	DIR *d = opendir(folder);
	struct dirent *e;
	int err = 0;

	*out = NULL;
	if (!d)
		return tenon_error(-TENON_E_IO, "%s: %s", folder, strerror(errno));
	while (!err && (e = readdir(d))) {
		if (!ends_with(e->d_name, ".so"))
			continue;
		if (*out)
			err = tenon_error(-TENON_E_VALUE,
					  "%s has several shared objects; name the one of the "
					  "model, and the folder of its weights",
					  folder);
		else if (asprintf(out, "%s/%s", folder, e->d_name) < 0) {
			*out = NULL;
			err = tenon_error(-TENON_E_NOMEM, "no memory for a path");
		}
	}
	closedir(d);
	if (!err && !*out)
		err = tenon_error(-TENON_E_NOT_FOUND,
				  "%s has no shared object; tenon-compile of Tenon's source makes "
				  "a whole folder of a model in GGUF, mlc_llm compile a library to "
				  "put there",
				  folder);
	if (err) {
		free(*out);
		*out = NULL;
	}
	return err;
}

static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return strdup(".");
	return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

static int find_files(struct tenon_llm *llm, const char *path, const char *weights, char **library)
{
	const char *end = path + strlen(path), *start;
	struct stat st;
	int err = 0;

	while (end > path + 1 && end[-1] == '/')
		end--;
	for (start = end; start > path && start[-1] != '/'; start--)
		;
	*library = NULL;
	llm->name = strndup(start, (size_t)(end - start));
	if (stat(path, &st))
		return tenon_error(-TENON_E_IO, "%s: %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		err = find_library(path, library);
	else
		*library = strdup(path);
	if (err)
		return err;
	llm->folder = weights ? strdup(weights) : *library ? folder_of(*library) : NULL;
	if (!llm->name || !*library || !llm->folder)
		return tenon_error(-TENON_E_NOMEM, "no memory for paths");
	return 0;
}

/* ---- functions */

/* Call a function for the only time. */
static int call_and_drop(struct tenon_function *f, const struct tenon_value *args, int32_t count,
			 struct tenon_value *ret)
{
	int err = tenon_function_call(f, args, count, ret) ? tenon_error_status() : 0;

	tenon_object_unref(f);
	return err;
}

static int call_named(struct tenon_module *m, const char *name, const struct tenon_value *args,
		      int32_t count, struct tenon_value *ret)
{
	struct tenon_function *f;
	int err = tenon_module_get_function(m, name, &f);

	*ret = tenon_arg_none();
	if (err)
		return err;
	err = call_and_drop(f, args, count, ret);
	return err ? tenon_error_in(err, "%s", name) : 0;
}

static int call_global(const char *name, const struct tenon_value *args, int32_t count,
		       struct tenon_value *ret)
{
	struct tenon_function *f;
	int err = tenon_function_find(name, &f);

	*ret = tenon_arg_none();
	if (!err && !f)
		err = tenon_error(-TENON_E_UNSUPPORTED, "no function %s", name);
	return err ? err : call_and_drop(f, args, count, ret);
}

/* Begin to build kernels. If that fails, so does the call that needs them. */
static void start_kernels(struct tenon_llm *llm, struct tenon_module *root,
			  const struct tenon_llm_options *o)
{
	const struct tenon_prepare how = { .size = sizeof(how),
					   .context = o->context,
					   .progress = o->progress };
	struct tenon_device *device = NULL;

	if (llm->device.device_type == kDLCPU)
		return;
	if (tenon_device_get(llm->device, &device) ||
	    tenon_module_prepare_start(root, device, &how, &llm->kernels))
		tenon_error_clear();
	tenon_object_unref(device);
}

static int start_machine(struct tenon_llm *llm, const struct tenon_llm_options *o,
			 const char *library)
{
	const DLDevice d = llm->device;
	const struct tenon_value devices[] = {
		tenon_arg_int(d.device_type), tenon_arg_int(d.device_id), tenon_arg_int(POOLED),
		tenon_arg_int(kDLCPU),	      tenon_arg_int(0),		  tenon_arg_int(POOLED)
	};
	struct tenon_value machine, ret;
	struct tenon_function *load;
	struct tenon_module *root;
	int err = tenon_module_load(library, &root);

	if (err)
		return err;
	err = tenon_module_find_function(root, tenon_slice_of("vm_load_executable"), true, &load);
	if (!err && !load)
		err = tenon_error(-TENON_E_UNSUPPORTED,
				  "%s: no model of the Relax virtual machine; tenon run runs "
				  "other models",
				  library);
	tenon_object_unref(load);
	if (!err)
		err = llm_check_device(root, d);
	if (!err)
		start_kernels(llm, root, o);
	if (!err)
		err = call_named(root, "vm_load_executable", NULL, 0, &machine);
	tenon_object_unref(root);
	if (err)
		return err;
	err = tenon_value_object(&machine, TENON_TYPE_MODULE, &llm->machine);
	if (err) {
		tenon_value_release(&machine);
		return err;
	}
	err = call_named(llm->machine, "vm_initialization", devices,
			 d.device_type == kDLCPU ? 3 : 6, &ret);
	return err ? tenon_error_in(err, "%s", library) : 0;
}

static int find_model_functions(struct tenon_llm *llm)
{
	const struct {
		const char *name;
		struct tenon_function **to;
	} list[] = {
		{ "embed", &llm->f.embed },
		{ "prefill", &llm->f.prefill },
		{ "decode", &llm->f.decode },
		{ "batch_prefill", &llm->f.batch_prefill },
		{ "batch_decode", &llm->f.batch_decode },
	};
	size_t i;
	int err = 0;

	for (i = 0; i < sizeof(list) / sizeof(list[0]) && !err; i++)
		err = tenon_module_find_function(llm->machine, tenon_slice_of(list[i].name), true,
						 list[i].to);
	if (!err && (!llm->f.embed || (!llm->f.prefill && !llm->f.batch_prefill)))
		err = tenon_error(-TENON_E_UNSUPPORTED,
				  "the library has no %s; language models have embed, and prefill "
				  "or batch_prefill",
				  llm->f.embed ? "prefill and no batch_prefill" : "embed");
	return err;
}

static int find_cache_functions(struct llm_cache_functions *f)
{
	const struct {
		const char *name;
		struct tenon_function **to;
	} list[] = {
		{ "vm.builtin.kv_state_add_sequence", &f->add },
		{ "vm.builtin.kv_state_remove_sequence", &f->remove },
		{ "vm.builtin.kv_state_fork_sequence", &f->fork },
		{ "vm.builtin.kv_state_popn", &f->popn },
		{ "vm.builtin.kv_state_begin_forward", &f->begin },
		{ "vm.builtin.kv_state_end_forward", &f->end },
		{ "vm.builtin.attention_kv_cache_get_num_available_pages", &f->pages },
		{ "vm.builtin.attention_kv_cache_enable_sliding_window_for_seq", &f->window },
		{ "vm.builtin.sample_top_p_from_logits", &f->sample },
	};
	size_t i;
	int err = 0;

	for (i = 0; i < sizeof(list) / sizeof(list[0]) && !err; i++) {
		err = tenon_function_find(list[i].name, list[i].to);
		if (!err && !*list[i].to)
			err = tenon_error(-TENON_E_UNSUPPORTED,
					  "no function %s: this build has no LANGUAGE_MODELS",
					  list[i].name);
	}
	return err;
}

/* ---- weights */

static int check_weight(const struct llm_weight *w, const DLTensor *t)
{
	char want[TENON_DTYPE_NAME], have[TENON_DTYPE_NAME];
	int32_t i;

	if (!tenon_dtype_equal(t->dtype, w->dtype))
		return tenon_error(-TENON_E_FORMAT, "weight \"%.*s\" is %s, the model wants %s",
				   (int)w->name.size, w->name.data,
				   tenon_dtype_name(t->dtype, have),
				   tenon_dtype_name(w->dtype, want));
	if (t->ndim != w->ndim)
		return tenon_error(-TENON_E_FORMAT,
				   "weight \"%.*s\" has %" PRIi32
				   " dimensions, the model wants %" PRIi32,
				   (int)w->name.size, w->name.data, t->ndim, w->ndim);
	for (i = 0; i < w->ndim; i++)
		if (w->shape[i] >= 0 && t->shape[i] != w->shape[i])
			return tenon_error(-TENON_E_FORMAT,
					   "weight \"%.*s\" has extent %" PRIi64
					   " in dimension %" PRIi32 ", the model wants %" PRIi64,
					   (int)w->name.size, w->name.data, t->shape[i], i,
					   w->shape[i]);
	return 0;
}

/* Move the weights from the list of the process to the model, in the order of the metadata. */
static int take_weights(struct tenon_llm *llm, struct tenon_value *items)
{
	const struct llm_metadata *m = &llm->metadata;
	struct tenon_value name, ret;
	DLTensor *t;
	size_t i, bytes;
	int err = 0;

	for (i = 0; i < m->weight_count && !err; i++) {
		name = tenon_arg_string(m->weights[i].name.data);
		err = call_global("vm.builtin.tensor_cache.get", &name, 1, &items[i]);
		if (!err && items[i].type != TENON_TYPE_TENSOR)
			err = tenon_error(-TENON_E_FORMAT, "there is no weight \"%.*s\"",
					  (int)m->weights[i].name.size, m->weights[i].name.data);
		if (!err)
			err = tenon_value_tensor(&items[i], &t);
		if (!err)
			err = check_weight(&m->weights[i], t);
		if (!err)
			err = tenon_tensor_bytes(t, &bytes);
		if (!err)
			llm->info.weight_bytes += bytes;
	}
	/* others may keep weights there too */
	for (i = 0; i < m->weight_count; i++) {
		name = tenon_arg_string(m->weights[i].name.data);
		if (call_global("vm.builtin.tensor_cache.remove", &name, 1, &ret) && !err)
			err = tenon_error_status();
	}
	return err;
}

static int load_weights(struct tenon_llm *llm)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	const struct tenon_value args[] = { tenon_arg_string(llm->folder),
					    tenon_arg_int(llm->device.device_type),
					    tenon_arg_int(llm->device.device_id) };
	const size_t count = llm->metadata.weight_count;
	struct tenon_value *items = calloc(count + 1, sizeof(*items)), ret;
	size_t i;
	int err;

	if (!items)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu weights", count);
	for (i = 0; i < count; i++)
		items[i] = tenon_arg_none();
	/* two models may have weights of one name */
	pthread_mutex_lock(&lock);
	err = call_global("vm.builtin.tensor_cache.load", args, 3, &ret);
	if (!err)
		err = take_weights(llm, items);
	pthread_mutex_unlock(&lock);
	if (!err)
		err = tenon_array_create(items, count, &llm->weights);
	for (i = 0; i < count; i++)
		tenon_value_release(&items[i]);
	free(items);
	return err ? tenon_error_in(err, "%s", llm->folder) : 0;
}

/* ---- sizes */

static int choose_size(const char *what, int64_t wanted, int64_t most, int64_t otherwise,
		       int64_t *out)
{
	*out = wanted ? wanted : otherwise;
	if (*out >= 1 && *out <= most)
		return 0;
	return tenon_error(-TENON_E_VALUE, "%s: %" PRIi64 ", the model takes 1 to %" PRIi64, what,
			   *out, most);
}

static int choose_sizes(struct tenon_llm *llm, const struct tenon_llm_options *o)
{
	const struct llm_metadata *m = &llm->metadata;
	struct tenon_llm_info *info = &llm->info;
	int64_t tokens;
	int err;

	info->window = m->window > 0 ? m->window : 0;
	info->context = info->window ? INT64_MAX : m->context;
	if (!info->window && llm->template.context > 0 && llm->template.context < info->context)
		info->context = llm->template.context;
	tokens = info->window ? info->window + m->chunk : info->context;
	err = choose_size("chunk", o->chunk, m->chunk, m->chunk, &info->chunk);
	if (!err)
		err = choose_size("sequences", o->sequences, m->batch, m->batch, &info->sequences);
	if (!err)
		err = choose_size("tokens", o->tokens, INT32_MAX / 2, tokens, &info->tokens);
	return err;
}

static int create_cache(struct tenon_llm *llm)
{
	const struct llm_metadata *m = &llm->metadata;
	const struct tenon_llm_info *info = &llm->info;
	const int64_t sizes[] = { info->sequences, info->tokens, info->chunk, LLM_PAGE,
				  info->window > 0 };
	struct tenon_value args[5];
	struct tenon_shape *s;
	size_t i;
	int err = 0;

	for (i = 0; i < 5; i++)
		args[i] = tenon_arg_none();
	for (i = 0; i < 5 && !err; i++) {
		err = tenon_shape_create(&sizes[i], 1, &s);
		if (!err)
			args[i] = tenon_arg_object(s);
	}
	if (!err)
		err = call_named(llm->machine, "create_tir_paged_kv_cache", args, 5, &llm->cache);
	for (i = 0; i < 5; i++)
		tenon_value_release(&args[i]);
	/* keys and values of the model's dtype; 2 bytes for all but float32 models */
	if (m->layers > 0 && m->kv_heads > 0 && m->head_dim > 0)
		llm->info.cache_bytes = (uint64_t)m->layers * (uint64_t)m->kv_heads *
					(uint64_t)m->head_dim * 2 *
					(strstr(m->quantization, "f32") ? 4 : 2) *
					(uint64_t)(info->tokens / LLM_PAGE + 1) * LLM_PAGE;
	return err;
}

/* ---- opening and closing */

static int read_metadata(struct tenon_llm *llm)
{
	struct tenon_function *f;
	struct tenon_value ret;
	struct tenon_slice text;
	int err = tenon_module_find_function(llm->machine, tenon_slice_of("_metadata"), true, &f);

	if (!err && !f)
		err = tenon_error(-TENON_E_UNSUPPORTED,
				  "the library has no _metadata; language models that "
				  "tenon-compile or mlc_llm compile made have it");
	if (err)
		return err;
	tenon_object_unref(f);
	err = call_named(llm->machine, "_metadata", NULL, 0, &ret);
	if (!err)
		err = tenon_value_text(&ret, &text);
	if (!err)
		err = llm_metadata_read(text, &llm->metadata);
	tenon_value_release(&ret);
	return err;
}

static int open_library(struct tenon_llm *llm, const struct tenon_llm_options *o,
			const char *library)
{
	int err = start_machine(llm, o, library);

	if (!err)
		err = read_metadata(llm);
	if (!err)
		err = find_model_functions(llm);
	if (!err)
		err = find_cache_functions(&llm->cache_f);
	if (!err)
		err = choose_sizes(llm, o);
	return err ? tenon_error_in(err, "%s", library) : 0;
}

static int start_model(struct tenon_llm *llm)
{
	int err = create_cache(llm);

	if (!err)
		err = llm_step_open(llm);
	return err ? err : llm_measure(llm);
}

static int open_model(struct tenon_llm *llm, const char *path, const struct tenon_llm_options *o)
{
	char *library = NULL;
	int err = find_files(llm, path, o->weights, &library);

	llm->bytes = o->bytes;
	if (!err)
		err = llm_template_read(llm->folder, &llm->template);
	if (!err && !o->bytes)
		err = tokenizer_open(llm->folder, &llm->tokenizer);
	if (!err)
		err = open_library(llm, o, library);
	if (!err)
		err = load_weights(llm);
	if (!err) {
		err = start_model(llm);
		if (err)
			tenon_error_in(err, "%s", library);
	}
	free(library);
	llm->info.name = llm->name;
	llm->info.type = llm->metadata.type;
	llm->info.quantization = llm->metadata.quantization;
	llm->info.tokenizer = llm_text_kind(llm);
	llm->info.has_template = llm->template.present;
	return err;
}

int tenon_llm_open(const char *path, const struct tenon_llm_options *options,
		   struct tenon_llm **out)
{
	struct tenon_llm_options o;
	struct tenon_llm *llm;
	int err = options_read(options, &o, sizeof(o));

	*out = NULL;
	if (err)
		return err;
	llm = calloc(1, sizeof(*llm));
	if (!llm)
		return tenon_error(-TENON_E_NOMEM, "no memory for a model");
	llm->cache = tenon_arg_none();
	llm->device = o.device;
	if (!llm->device.device_type)
		llm->device.device_type = kDLCPU;
	err = open_model(llm, path, &o);
	if (err)
		tenon_llm_close(llm);
	else
		*out = llm;
	return err;
}

/* Release the functions of a struct of nothing else. */
static void drop_functions(struct tenon_function **list, size_t size)
{
	size_t i;

	for (i = 0; i < size / sizeof(*list); i++)
		tenon_object_unref(list[i]);
}

void tenon_llm_close(struct tenon_llm *llm)
{
	if (!llm)
		return;
	tenon_object_unref(llm->kernels);
	llm_batch_free(llm->batch);
	tenon_value_release(&llm->cache);
	tenon_object_unref(llm->weights);
	drop_functions((struct tenon_function **)&llm->f, sizeof(llm->f));
	drop_functions((struct tenon_function **)&llm->cache_f, sizeof(llm->cache_f));
	tenon_object_unref(llm->machine);
	tokenizer_close(llm->tokenizer);
	llm_template_fini(&llm->template);
	llm_metadata_fini(&llm->metadata);
	llm_step_close(&llm->step);
	free(llm->logits);
	free(llm->folder);
	free(llm->name);
	free(llm);
}

const struct tenon_llm_info *tenon_llm_info(const struct tenon_llm *llm)
{
	return &llm->info;
}

struct tenon_llm_sampling tenon_llm_sampling(const struct tenon_llm *llm)
{
	return llm->template.sampling;
}
