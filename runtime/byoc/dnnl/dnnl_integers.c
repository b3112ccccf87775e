/* SPDX-License-Identifier: MIT */
/* Products of 8-bit integers: which types go together, scales by channel, and the zero point. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"
#include "runtime/byoc/dnnl/dnnl_integers.h"

/*
 * result = scale of its channel × (sum of (x - zero) × weights) + bias
 *
 * Functions and the conversion to the type of the result follow. oneDNN wants the numbers when the primitive is described, or
 * as memory of constants, by its version; so they are attributes, and a bias is a constant.
 */

/* ---- types */

int dnnl_type(const struct byoc_entry *e)
{
	static const int types[] = { [BYOC_F32] = DNNL_F32,
				     [BYOC_S32] = DNNL_S32,
				     [BYOC_S8] = DNNL_S8,
				     [BYOC_U8] = DNNL_U8 };

	return types[e->type];
}

static bool is_byte(const struct byoc_entry *e)
{
	return e->type == BYOC_S8 || e->type == BYOC_U8;
}

bool operation_of_integers(struct operation *o)
{
	return !o->in.err && o->in.n->input_count && is_byte(byoc_src(&o->in, 0));
}

void operation_need_float(struct operation *o)
{
	const struct byoc_entry *e;
	uint32_t i;

	for (i = 0; i <= o->in.n->input_count && !o->in.err; i++) {
		e = i < o->in.n->input_count ? byoc_src(&o->in, i) : byoc_dst(&o->in);
		if (e->type != BYOC_F32)
			o->in.err = tenon_error(-TENON_E_UNSUPPORTED,
						"%s where float32 is wanted: products of 8 bits "
						"alone take integers",
						byoc_type_name(e->type));
	}
}

/* Weights with a sign, and what is added in float32. */
static void check_types(struct operation *o)
{
	uint32_t i;

	if (!o->in.err && byoc_src(&o->in, 1)->type != BYOC_S8)
		o->in.err = tenon_error(-TENON_E_UNSUPPORTED, "weights are %s, want int8",
					byoc_type_name(byoc_src(&o->in, 1)->type));
	for (i = 2; i < o->in.n->input_count && !o->in.err; i++)
		if (byoc_src(&o->in, i)->type != BYOC_F32)
			o->in.err =
				tenon_error(-TENON_E_UNSUPPORTED, "input %u is %s, want float32", i,
					    byoc_type_name(byoc_src(&o->in, i)->type));
	if (!o->in.err && operation_has_sum(o) && byoc_dst(&o->in)->type != BYOC_F32)
		o->in.err = tenon_error(-TENON_E_UNSUPPORTED, "a sum of type %s, want float32",
					byoc_type_name(byoc_dst(&o->in)->type));
}

/* Without instructions for it oneDNN adds two products in 16 bits, and results would be others than elsewhere. */
static void check_processor(struct operation *o)
{
	if (!o->in.err && !dnnl_exact_bytes())
		o->in.err =
			tenon_error(-TENON_E_UNSUPPORTED,
				    "oneDNN does not add products of 8 bits exactly on this "
				    "processor, which has no "
				    "AVX-512 VNNI or AVX-VNNI: compile without --library onednn");
}

/* ---- numbers */

/* A constant of one dimension; receives its address. */
static struct dnnl_use *add_constant(struct operation *o, int64_t count, int type, int arg)
{
	const struct byoc_view view = { 1, { count }, { 1 } };
	struct dnnl_use *use = &o->uses[o->use_count];

	*use = (struct dnnl_use){ .arg = arg };
	if (!o->in.err)
		use->layout = dnnl_view_layout(o->p, &view, type);
	if (!o->in.err)
		o->in.err =
			use->layout ? dnnl_constant(o->p, use->layout, &use->data) : -TENON_E_NOMEM;
	if (o->in.err)
		return NULL;
	o->use_count++;
	return use;
}

static void set_zero(struct operation *o)
{
	const int64_t zero = byoc_integer(&o->in, "zero_point", 0);
	const bool sign = !o->in.err && byoc_src(&o->in, 0)->type == BYOC_S8;
	struct dnnl_use *use;

	if (!o->in.err && (zero < (sign ? INT8_MIN : 0) || zero > (sign ? INT8_MAX : UINT8_MAX)))
		o->in.err = tenon_error(-TENON_E_VALUE, "zero_point %lld is no number of %s",
					(long long)zero, byoc_type_name(byoc_src(&o->in, 0)->type));
	if (o->in.err || !zero)
		return;
	o->in.err = dnnl_check(dnnl_set_zero(o->attr, (int32_t)zero), "a zero point");
	if (!dnnl.version_3)
		return;
	use = add_constant(o, 1, DNNL_S32, DNNL_3_ZERO_POINT_OF | DNNL_ARG_SRC);
	if (use)
		*(int32_t *)use->data.address = (int32_t)zero;
}

static float read_scale(struct operation *o, uint32_t item)
{
	const float scale = byoc_real_at(&o->in, "scales", item, 1);

	if (!o->in.err && !(fabsf(scale) >= 0x1p-126F && fabsf(scale) <= 0x1.fffffep127F))
		o->in.err =
			tenon_error(-TENON_E_VALUE, "scale %u is %g, want a number that is not 0",
				    item, (double)scale);
	return scale;
}

static void read_scales(struct operation *o, int64_t channels, float *scales)
{
	const uint32_t count = byoc_count(&o->in, "scales");
	int64_t i;

	if (!o->in.err && count != 1 && count != channels)
		o->in.err =
			tenon_error(-TENON_E_VALUE,
				    "scales has %u values, want 1, or %lld: one for each channel",
				    count, (long long)channels);
	for (i = 0; i < channels && !o->in.err; i++)
		scales[i] = i && count == 1 ? scales[0] : read_scale(o, (uint32_t)i);
}

/* Version 2 adds the bias before it multiplies. */
static void divide_bias(struct operation *o, int64_t channels, const float *scales)
{
	struct dnnl_use *bias = NULL, *use;
	float *divided;
	uint32_t i;
	int64_t k;

	for (i = 0; i < o->use_count; i++)
		if (o->uses[i].arg == DNNL_ARG_BIAS)
			bias = &o->uses[i];
	if (o->in.err || !bias)
		return;
	if (bias->data.place != DNNL_PLACE_CONSTANT) {
		o->in.err = tenon_error(-TENON_E_UNSUPPORTED,
					"a bias behind scales that is no constant");
		return;
	}
	use = add_constant(o, channels, DNNL_F32, DNNL_ARG_BIAS);
	if (!use)
		return;
	divided = use->data.address;
	memcpy(divided, bias->data.address, (size_t)channels * sizeof(*divided));
	for (k = 0; k < channels; k++)
		divided[k] /= scales[k];
	*bias = *use;
	o->use_count--;
}

static void apply_scales(struct operation *o, int64_t channels, int axes, const float *scales)
{
	struct dnnl_use *use;
	int64_t i;

	operation_call(o, dnnl_set_scales(o->attr, scales, channels, axes), "scales");
	if (o->in.err)
		return;
	if (!dnnl.version_3) {
		divide_bias(o, channels, scales);
		return;
	}
	use = add_constant(o, channels, DNNL_F32, DNNL_3_SCALES_OF | DNNL_ARG_WEIGHTS);
	for (i = 0; use && i < channels; i++)
		((float *)use->data.address)[i] = scales[i];
}

void operation_integers(struct operation *o, int64_t channels, int axes)
{
	float *scales;

	check_types(o);
	check_processor(o);
	set_zero(o);
	if (o->in.err || !byoc_has(&o->in, "scales"))
		return;
	scales = calloc((size_t)channels, sizeof(*scales));
	if (!scales)
		o->in.err = tenon_error(-TENON_E_NOMEM, "no memory for %lld scales",
					(long long)channels);
	if (!o->in.err)
		read_scales(o, channels, scales);
	apply_scales(o, channels, axes, scales);
	free(scales);
}
