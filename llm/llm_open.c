/* SPDX-License-Identifier: MIT */
/* Opening a model: its library, metadata, weights, cache and tokenizer. */
#include <errno.h>
#include <inttypes.h>
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

/* The only shared object of a folder. */
static int find_library(const char *folder, char **out)
{
	int err = llm_find_only(folder, ".so", out);

	if (err == -TENON_E_EXISTS)
		return tenon_error(
			-TENON_E_VALUE,
			"%s has several shared objects; name the one of the model, and the "
			"folder of its weights",
			folder);
	if (!err && !*out)
		return tenon_error(
			-TENON_E_NOT_FOUND,
			"%s has no shared object; tenon-compile of Tenon's source makes "
			"a whole folder of a model in GGUF, mlc_llm compile a library to "
			"put there",
			folder);
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
	/* a file of weights has nothing else in it: the rest is beside the library */
	if (weights && !llm_is_folder(weights)) {
		llm->weights_file = strdup(weights);
		if (!llm->weights_file)
			return tenon_error(-TENON_E_NOMEM, "no memory for paths");
		weights = NULL;
	}
	llm->folder = weights ? strdup(weights) : *library ? folder_of(*library) : NULL;
	if (!llm->name || !*library || !llm->folder)
		return tenon_error(-TENON_E_NOMEM, "no memory for paths");
	return 0;
}

/* ---- functions */

static int call_named(struct tenon_module *m, const char *name, const struct tenon_value *args,
		      int32_t count, struct tenon_value *ret)
{
	struct tenon_function *f;
	int err = tenon_module_get_function(m, name, &f);

	*ret = tenon_arg_none();
	if (err)
		return err;
	err = tenon_function_call(f, args, count, ret) ? tenon_error_status() : 0;
	tenon_object_unref(f);
	return err ? tenon_error_in(err, "%s", name) : 0;
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
			 struct tenon_module *root)
{
	const DLDevice d = llm->device;
	const struct tenon_value devices[] = {
		tenon_arg_int(d.device_type), tenon_arg_int(d.device_id), tenon_arg_int(POOLED),
		tenon_arg_int(kDLCPU),	      tenon_arg_int(0),		  tenon_arg_int(POOLED)
	};
	struct tenon_value machine, ret;
	struct tenon_function *load;
	int err =
		tenon_module_find_function(root, tenon_slice_of("vm_load_executable"), true, &load);

	if (!err && !load)
		err = tenon_error(-TENON_E_UNSUPPORTED,
				  "no model of the Relax virtual machine; tenon run runs other "
				  "models");
	tenon_object_unref(load);
	if (!err)
		err = llm_check_device(root, d);
	if (!err)
		start_kernels(llm, root, o);
	if (!err)
		err = call_named(root, "vm_load_executable", NULL, 0, &machine);
	if (err)
		return err;
	err = tenon_value_object(&machine, TENON_TYPE_MODULE, &llm->machine);
	if (err) {
		tenon_value_release(&machine);
		return err;
	}
	return call_named(llm->machine, "vm_initialization", devices,
			  d.device_type == kDLCPU ? 3 : 6, &ret);
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
	struct tenon_module *root;
	int err = tenon_module_load(library, &root);

	if (err)
		return err;
	err = start_machine(llm, o, root);
	tenon_object_unref(root);
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

/* Read what the folder, or a file in GGUF, says about text. */
static int read_text_files(struct tenon_llm *llm, bool bytes)
{
	char *gguf;
	int err = llm_find_gguf(llm, &gguf);

	if (!err)
		err = llm_template_read(llm->folder, gguf, &llm->template);
	if (!err && !bytes)
		err = tokenizer_open(llm->folder, gguf, &llm->tokenizer);
	free(gguf);
	return err;
}

static int open_model(struct tenon_llm *llm, const char *path, const struct tenon_llm_options *o)
{
	char *library = NULL;
	int err = find_files(llm, path, o->weights, &library);

	llm->bytes = o->bytes;
	if (!err)
		err = read_text_files(llm, o->bytes);
	if (!err)
		err = open_library(llm, o, library);
	if (!err)
		err = llm_weights_load(llm);
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
	free(llm->weights_file);
	free(llm->name);
	free(llm);
}

const struct tenon_llm_info *tenon_llm_info(const struct tenon_llm *llm)
{
	return &llm->info;
}

const char *tenon_llm_template_problem(const struct tenon_llm *llm)
{
	return llm->template.problem;
}

struct tenon_llm_sampling tenon_llm_sampling(const struct tenon_llm *llm)
{
	return llm->template.sampling;
}
