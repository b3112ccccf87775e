/* SPDX-License-Identifier: MIT */
/* What happens to a result before it is written: zero point, limits, tables and curves. */
#include "devices/ethosu/sim.h"
#include "lib/cursor_fast.h"

/* ACTIVATION of U55 and U65, besides tables */
enum { CURVE_TANH = 3, CURVE_SIGMOID = 4 };
/* and of U85; its tables have their element's size by their kind, not by the output */
#define CURVE_TANH_U85	  10
#define CURVE_SIGMOID_U85 11
#define UNLIMITED_U85	  (1 << 12)

#define ENTRIES	     256
#define HALF_SHIFT   7 /* low bits of a 16-bit index: the position between two table entries */
#define CURVE_POINTS 256

/* ---- curves of 16 bits: between points of the sigmoid function, 24 for each 1.0, with 16 bits of fraction */

static const uint16_t sigmoid[CURVE_POINTS] = {
	32768, 33451, 34133, 34813, 35493, 36169, 36843, 37513, 38180, 38841, 39498, 40149, 40794,
	41432, 42064, 42688, 43304, 43912, 44511, 45102, 45683, 46255, 46817, 47369, 47911, 48443,
	48964, 49475, 49975, 50464, 50942, 51409, 51865, 52311, 52745, 53169, 53581, 53983, 54374,
	54755, 55125, 55485, 55834, 56174, 56503, 56823, 57133, 57433, 57724, 58007, 58280, 58544,
	58800, 59048, 59288, 59519, 59743, 59959, 60168, 60370, 60565, 60753, 60935, 61110, 61279,
	61441, 61599, 61750, 61896, 62036, 62172, 62302, 62428, 62549, 62666, 62778, 62886, 62990,
	63090, 63186, 63279, 63368, 63454, 63536, 63615, 63691, 63765, 63835, 63903, 63968, 64030,
	64090, 64148, 64204, 64257, 64308, 64357, 64405, 64450, 64494, 64536, 64576, 64614, 64652,
	64687, 64721, 64754, 64786, 64816, 64845, 64873, 64900, 64926, 64950, 64974, 64997, 65019,
	65039, 65060, 65079, 65097, 65115, 65132, 65149, 65164, 65179, 65194, 65208, 65221, 65234,
	65246, 65258, 65269, 65280, 65291, 65301, 65310, 65319, 65328, 65337, 65345, 65352, 65360,
	65367, 65374, 65381, 65387, 65393, 65399, 65404, 65410, 65415, 65420, 65425, 65429, 65433,
	65438, 65442, 65445, 65449, 65453, 65456, 65459, 65462, 65465, 65468, 65471, 65474, 65476,
	65479, 65481, 65483, 65485, 65488, 65489, 65491, 65493, 65495, 65497, 65498, 65500, 65501,
	65503, 65504, 65505, 65507, 65508, 65509, 65510, 65511, 65512, 65513, 65514, 65515, 65516,
	65517, 65517, 65518, 65519, 65520, 65520, 65521, 65522, 65522, 65523, 65523, 65524, 65524,
	65525, 65525, 65526, 65526, 65526, 65527, 65527, 65528, 65528, 65528, 65529, 65529, 65529,
	65529, 65530, 65530, 65530, 65530, 65531, 65531, 65531, 65531, 65531, 65532, 65532, 65532,
	65532, 65532, 65532, 65533, 65533, 65533, 65533, 65533, 65533, 65533, 65533, 65534, 65534,
	65534, 65534, 65534, 65534, 65534, 65534, 65534, 65534, 65535,
};

/* The curve at a magnitude, with @bits more bits of fraction than its points have. */
static uint32_t on_curve(uint32_t magnitude, unsigned int bits, uint32_t end)
{
	const uint32_t point = magnitude >> bits;

	if (point >= CURVE_POINTS - 1)
		return end;
	return ((uint32_t)sigmoid[point] << bits) +
	       (magnitude & ((1u << bits) - 1)) * (uint32_t)(sigmoid[point + 1] - sigmoid[point]);
}

static uint32_t magnitude_of(int32_t value)
{
	return value < 0 ? -(uint32_t)value : (uint32_t)value;
}

/* 1 / (1 + e^-x), of 15 bits */
static int32_t curve_sigmoid(int32_t value)
{
	const int32_t half = 1 << 9;
	const int32_t up = (int32_t)on_curve(magnitude_of(value), 9, UINT32_C(0x7fff) << 10);

	return (value >= 0 ? up + half : (1 << 25) - up + half - 1) >> 10;
}

/* tanh x is 2 sigmoid(2 x) - 1 */
static int32_t curve_tanh(int32_t value)
{
	const int32_t half = 1 << 7, one = 1 << 23;
	const int32_t up = (int32_t)on_curve(magnitude_of(value), 8, UINT32_C(0xffff) << 8);

	return (value >= 0 ? up - one + half : one - up + half - 1) >> 8;
}

/* ---- tables */

static uint32_t table_bytes(const struct sim_activation *a)
{
	/* of 16 bits an entry has its value and the slope behind it, and there are twice as many */
	return ENTRIES * (a->element == 2 ? 8 : a->element);
}

static int32_t entry_of_16(const uint8_t *table, int32_t value)
{
	const uint32_t index = (uint32_t)(value - INT16_MIN);
	const uint8_t *at = table + (size_t)(index >> HALF_SHIFT) * 4;
	const int32_t start = (int16_t)load_u16(at), slope = (int16_t)load_u16(at + 2);

	return start +
	       ((slope * (int32_t)(index & ((1 << HALF_SHIFT) - 1)) + (1 << (HALF_SHIFT - 1))) >>
		HALF_SHIFT);
}

static int32_t clamp(int64_t value, int32_t least, int32_t most)
{
	return value < least ? least : value > most ? most : (int32_t)value;
}

static int32_t entry(const struct sim_activation *a, int32_t value)
{
	int32_t index;

	if (a->element == 2)
		return entry_of_16(a->table, clamp(value, INT16_MIN, INT16_MAX));
	index = a->index_signed ? clamp(value, -128, 127) + 128 : clamp(value, 0, 255);
	if (a->element == 1)
		return a->is_signed ? (int8_t)a->table[index] : a->table[index];
	return (int32_t)load_u32(a->table + (size_t)index * 4);
}

/* ---- results */

static int curve_of(const struct sim *s, struct sim_activation *a, bool is_tanh)
{
	if (a->element != 2 || !a->is_signed)
		return sim_refuse(s, "a curve whose results do not have 16 bits");
	a->curve = is_tanh ? curve_tanh : curve_sigmoid;
	return 0;
}

static int use_table(const struct sim *s, struct sim_activation *a, unsigned int number)
{
	if ((number + 1) * table_bytes(a) > ETHOSU_TABLE_BYTES)
		return sim_refuse(s, "a table behind the memory for tables");
	a->table = s->table + number * table_bytes(a);
	return 0;
}

static int activation_of_u85(const struct sim *s, struct sim_activation *a)
{
	const unsigned int activation = sim_param(s, ETHOSU_ACTIVATION),
			   kind = activation & ETHOSU_ACTIVATION_KIND;

	a->unlimited = activation & UNLIMITED_U85;
	if (a->unlimited && a->element != 4)
		return sim_refuse(s, "results of 8 or 16 bits without limits");
	/* of elements without a sign, limits have none, too */
	if (!a->is_signed && !a->unlimited) {
		a->least = sim_param(s, ETHOSU_ACTIVATION_MIN);
		a->most = sim_param(s, ETHOSU_ACTIVATION_MAX);
	}
	if (!kind)
		return 0;
	if (kind == CURVE_TANH_U85 || kind == CURVE_SIGMOID_U85)
		return curve_of(s, a, kind == CURVE_TANH_U85);
	if (a->element != ethosu_table_element(kind))
		return sim_refuse(s, "a table whose entries are not as wide as the output");
	return use_table(s, a, activation >> 5 & 7);
}

int sim_activation_of(const struct sim *s, unsigned int element, struct sim_activation *a)
{
	const unsigned int kind = sim_param(s, ETHOSU_ACTIVATION) & ETHOSU_ACTIVATION_KIND;

	a->element = element;
	a->is_signed = sim_param(s, ETHOSU_OFM_PRECISION) & 1;
	a->index_signed = sim_param(s, ETHOSU_IFM_PRECISION) & 1;
	a->zero = (int16_t)sim_param(s, ETHOSU_OFM_ZERO_POINT);
	a->least = (int16_t)sim_param(s, ETHOSU_ACTIVATION_MIN);
	a->most = (int16_t)sim_param(s, ETHOSU_ACTIVATION_MAX);
	a->table = NULL;
	a->curve = NULL;
	a->unlimited = element == 4;
	if (sim_is_u85(s))
		return activation_of_u85(s, a);
	if (kind == CURVE_TANH || kind == CURVE_SIGMOID)
		return curve_of(s, a, kind == CURVE_TANH);
	if (kind && kind < ETHOSU_ACTIVATION_TABLE)
		return sim_refuse(s, "an activation without a table");
	return kind ? use_table(s, a, kind - ETHOSU_ACTIVATION_TABLE) : 0;
}

int32_t sim_activate(const struct sim_activation *a, int32_t value)
{
	if (a->curve)
		return clamp((int64_t)a->curve(value) + a->zero, a->least, a->most);
	if (a->unlimited && !a->table)
		return (int32_t)((uint32_t)value + (uint32_t)a->zero);
	value = clamp((int64_t)value + a->zero, a->least, a->most);
	return a->table ? entry(a, value) : value;
}
