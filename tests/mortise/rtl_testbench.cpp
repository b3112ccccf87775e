/* SPDX-License-Identifier: MIT */
/*
 * The accelerator against the firmware: both get the same ring over the same memory, and have to leave the same memory,
 * the same completion word and the same fault record. Memory answers late, and holds its signals back at random; the
 * rules of AXI4 are checked in each cycle. "--bench" prints the cycles of matrix products.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <vector>

#include "firmware/rtl/model.h"

extern "C" {
#include "firmware/core/mortise.h"
#include "tests/hil/reference.h"
}

/* the firmware's addresses are those of the process, so the window lies where the accelerator has it */
#define BASE	  0x40000000U
#define WINDOW	  0x400000U
#define RING_AT	  MORTISE_SHARED_OFFSET
#define RING	  MORTISE_RING_LEAST
#define HEAP	  0x100000U
#define ROOM	  0x10000U
#define OUTSIDE	  64U /* bytes behind the heap that nothing may touch */
#define CYCLES	  4000000U
#define TICK_HZ	  25000000U
#define BUS_FAULT 9U

static int failures;

#define CHECK(condition, ...)                                                                      \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			failures++;                                                                \
			printf("  FAIL  " __VA_ARGS__);                                            \
			printf("\n");                                                              \
		}                                                                                  \
	} while (0)

/* ---- a window with a session and a ring */

struct Window {
	uint8_t *bytes;
	uint32_t head = 0;

	explicit Window(uint8_t *memory) : bytes(memory) {}

	mortise_control *control() { return reinterpret_cast<mortise_control *>(bytes + MORTISE_CONTROL_OFFSET); }

	void setup(uint32_t watchdog_ms)
	{
		mortise_setup *s = &control()->setup;

		s->magic = MORTISE_MAGIC;
		s->abi = MORTISE_ABI;
		s->ring_address = BASE + RING_AT;
		s->ring_words = RING;
		s->ring_start = 0;
		s->watchdog_ms = watchdog_ms;
		s->region_count = 2;
		s->regions[0] = { BASE + HEAP + ROOM + OUTSIDE, 64, MORTISE_READ, 0 };
		s->regions[1] = { BASE + HEAP, ROOM, MORTISE_READ | MORTISE_WRITE, 0 };
	}

	void put(const void *packet, size_t size)
	{
		mortise_header header;
		uint8_t *to = bytes + RING_AT + head % RING * 8;

		memcpy(to, packet, size);
		memcpy(&header, to, sizeof(header));
		if (!header.words)
			header.words = static_cast<uint16_t>(size / 8);
		header.position = head;
		memcpy(to, &header, sizeof(header));
		head += static_cast<uint32_t>(size / 8);
	}
};

/* ---- the firmware, on the window at BASE, until it has nothing to do */

static mortise firmware;
static uint64_t firmware_ticks;

static uint64_t port_ticks(mortise *)
{
	return firmware_ticks++;
}

static bool port_ended(mortise *m)
{
	return m->session == m->control->host.session &&
	       (m->state != MORTISE_RUNNING || m->at == m->control->host.head);
}

static void port_fence()
{
}

static void run_firmware(Window *w, uint32_t session)
{
	static mortise_port port;

	port = mortise_port();
	port.features = MORTISE_FEATURE_TIMESTAMP;
	/* it counts looks, not time: a deadline that is never reached */
	port.tick_hz = 4000000000U;
	port.window_address = BASE;
	port.window_size = WINDOW;
	port.ticks = port_ticks;
	port.ended = port_ended;
	port.fence_code = port_fence;
	mortise_boot(&firmware, &port);
	w->control()->host.session = session;
	mortise_loop(&firmware);
	w->control()->host.head = w->head;
	mortise_loop(&firmware);
}

/* ---- the accelerator */

struct Board {
	Model model;
	Window *window;

	Board(Window *w, unsigned int latency, uint64_t stall) : model(w->bytes, WINDOW, BASE, latency), window(w)
	{
		model.stall(stall);
		model.write_register(REGISTER_WINDOW, BASE);
		model.write_register(REGISTER_WINDOW_SIZE, WINDOW);
		model.write_register(REGISTER_ENABLE, 1);
		model.write_register(REGISTER_CONTROL, 1);
	}

	template <typename Condition> bool await(Condition condition)
	{
		for (uint32_t i = 0; i < CYCLES && !model.violation(); i++) {
			if (condition())
				return true;
			model.tick();
		}
		return false;
	}

	bool begin(uint32_t session)
	{
		mortise_control *c = window->control();

		if (!await([&] { return c->identity.magic == MORTISE_MAGIC; }))
			return false;
		c->host.session = session;
		return await([&] { return c->device.session == session; });
	}

	bool run()
	{
		mortise_control *c = window->control();

		c->host.head = window->head;
		if (model.asleep())
			model.write_register(REGISTER_DOORBELL, 1);
		return await([&] { return c->completion.done == window->head || c->device.state != MORTISE_RUNNING; });
	}
};

/* ---- random packets, some of them wrong */

static uint64_t wrong_value(struct random *r, uint64_t value)
{
	switch (random_below(r, 6)) {
	case 0:
		return 0;
	case 1:
		return ~UINT64_C(0) - random_below(r, 9);
	case 2:
		return BASE + HEAP - 1 - random_below(r, 8);
	case 3:
		return BASE + HEAP + ROOM - random_below(r, 9);
	case 4:
		return value ^ UINT64_C(1) << random_below(r, 64);
	default:
		return random_next(r);
	}
}

/* Change a field, or the header's size or flags; the opcode of a packet that waits or tests memory is not made. */
static void spoil(struct random *r, uint64_t *words, size_t size)
{
	size_t at = random_below(r, size / 8);

	if (!at)
		words[0] ^= random_one_in(r, 2) ? random_below(r, 256) << 8 : random_below(r, 1 << 10) << 16;
	else if (random_one_in(r, 2))
		words[at] = wrong_value(r, words[at]);
	else
		words[at] ^= (random_next(r) & 0xff) << 8 * random_below(r, 8);
}

static size_t large_gemm(struct random *r, mortise_gemm *p)
{
	uint32_t size;

	*p = mortise_gemm();
	p->header.opcode = MORTISE_OP_GEMM;
	p->m = 1 + static_cast<uint32_t>(random_below(r, 10));
	p->n = 1 + static_cast<uint32_t>(random_below(r, 70));
	p->k = 1 + static_cast<uint32_t>(random_below(r, random_one_in(r, 3) ? 230 : 64));
	if (random_one_in(r, 4)) {
		p->n = 1 + p->n % 9;
		p->k = 500 + static_cast<uint32_t>(random_below(r, 700));
	}
	p->a_stride = p->k + static_cast<uint32_t>(random_below(r, 9));
	p->b_stride = p->k + static_cast<uint32_t>(random_below(r, 9));
	p->a_zero = static_cast<int8_t>(random_next(r));
	p->b_zero = static_cast<int8_t>(random_next(r));
	p->multiplier = random_one_in(r, 2) ? static_cast<int32_t>(random_next(r)) : 0;
	size = p->multiplier ? 1 : 4;
	p->shift = 1 + static_cast<uint32_t>(random_below(r, 62));
	p->to_zero = static_cast<int8_t>(random_next(r));
	p->least = -128 + static_cast<int32_t>(random_below(r, 100));
	p->most = 127 - static_cast<int32_t>(random_below(r, 100));
	p->to_stride = (p->n + static_cast<uint32_t>(random_below(r, 3))) * size;
	p->to = BASE + HEAP + random_below(r, 64) * size;
	p->a = BASE + HEAP + 0x4000 + random_below(r, 64);
	p->b = BASE + HEAP + 0x8000 + random_below(r, 64);
	p->bias = random_one_in(r, 3) ? 0 : BASE + HEAP + 0xf000 + 4 * random_below(r, 64);
	return sizeof(*p);
}

static bool same_fault(const struct mortise_fault *a, const struct mortise_fault *b)
{
	return a->code == b->code && a->opcode == b->opcode && a->position == b->position && a->detail == b->detail &&
	       a->address == b->address;
}

static void fill(struct random *r, uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i += 8) {
		uint64_t word = random_next(r);

		memcpy(bytes + i, &word, 8);
	}
}

static void put_some(struct random *r, Window *w, bool *spoiled)
{
	size_t count = 1 + random_below(r, 12);
	union {
		any_packet any;
		mortise_gemm gemm;
		uint64_t words[16];
	} p;

	*spoiled = false;
	for (size_t i = 0; i < count && !*spoiled; i++) {
		size_t size = random_one_in(r, 5) ? large_gemm(r, &p.gemm)
						  : random_packet(r, &p.any, BASE + HEAP, ROOM);

		*spoiled = random_one_in(r, 8);
		if (*spoiled) {
			reinterpret_cast<mortise_header *>(p.words)->words = static_cast<uint16_t>(size / 8);
			spoil(r, p.words, size);
		}
		w->put(&p, size);
	}
	/* opcodes that this logic does not implement, and opcodes that no version defines */
	if (!*spoiled && random_one_in(r, 10)) {
		static const uint8_t none[] = { MORTISE_OP_CALL, MORTISE_OP_COUNT, 99, 255 };
		mortise_header header = { none[random_below(r, 4)], 0, 1, 0 };

		w->put(&header, sizeof(header));
	}
}

/* One seed: both run it, from the same memory. */
static void compare(uint64_t seed, uint8_t *here, uint8_t *there)
{
	struct random r = { seed };
	Window reference(here), w(there);
	mortise_control *want = reference.control(), *found = w.control();
	bool spoiled;

	memset(here, 0, WINDOW);
	fill(&r, here + HEAP, ROOM + 4096);
	put_some(&r, &reference, &spoiled);
	reference.setup(20);
	memcpy(there, here, WINDOW);
	w.head = reference.head;
	run_firmware(&reference, 7);

	Board board(&w, 1 + seed % 17, seed % 3 ? seed * 77 + 1 : 0);

	if (!board.begin(7) || !board.run()) {
		CHECK(false, "seed %llu: the accelerator stands still: state %u, done %u of %u, opcode %u; %s",
		      static_cast<unsigned long long>(seed), found->device.state, found->completion.done, w.head,
		      found->device.opcode, board.model.violation() ? board.model.violation() : "no rule broken");
		return;
	}
	CHECK(!board.model.violation(), "seed %llu: %s", static_cast<unsigned long long>(seed), board.model.violation());
	CHECK(found->device.state == want->device.state && found->completion.done == want->completion.done,
	      "seed %llu: state %u, done %u; the firmware has %u, %u", static_cast<unsigned long long>(seed),
	      found->device.state, found->completion.done, want->device.state, want->completion.done);
	if (want->device.state == MORTISE_FAULTED)
		CHECK(same_fault(&found->fault, &want->fault),
		      "seed %llu: fault %u of opcode %u at %u, detail 0x%x, address 0x%llx; the firmware has %u of %u at %u, "
		      "0x%x, 0x%llx",
		      static_cast<unsigned long long>(seed), found->fault.code, found->fault.opcode, found->fault.position,
		      found->fault.detail, static_cast<unsigned long long>(found->fault.address), want->fault.code,
		      want->fault.opcode, want->fault.position, want->fault.detail,
		      static_cast<unsigned long long>(want->fault.address));
	/* a damaged packet that was accepted may have ranges that overlap; the order of accesses to these is not specified */
	if (!spoiled || want->device.state == MORTISE_FAULTED)
		CHECK(!memcmp(here + HEAP, there + HEAP, ROOM + 4096), "seed %llu: memory differs",
		      static_cast<unsigned long long>(seed));
}

/* ---- what random packets do not reach */

static void prepare(Window *w, uint8_t *memory)
{
	struct random r = { 5 };

	memset(memory, 0, WINDOW);
	fill(&r, memory + HEAP, ROOM);
	w->setup(20);
}

static void an_error_of_the_bus_is_a_trap(uint8_t *memory)
{
	Window w(memory);
	mortise_copy copy = { { MORTISE_OP_COPY, 0, 0, 0 }, BASE + HEAP + 0x8000, BASE + HEAP, 4096 };

	prepare(&w, memory);
	w.put(&copy, sizeof(copy));
	Board board(&w, 4, 0);

	CHECK(board.begin(3), "no session");
	board.model.break_at(BASE + HEAP + 0x8100);
	CHECK(board.run() && w.control()->device.state == MORTISE_FAULTED && w.control()->fault.code == MORTISE_FAULT_TRAP &&
		      w.control()->fault.address == BASE + HEAP + 0x8100,
	      "an error of the bus: state %u, fault %u, address 0x%llx", w.control()->device.state, w.control()->fault.code,
	      static_cast<unsigned long long>(w.control()->fault.address));
}

static void a_wait_ends_by_the_watchdog(uint8_t *memory)
{
	Window w(memory);
	mortise_semaphore wait = { { MORTISE_OP_WAIT, 0, 0, 0 }, BASE + HEAP, 1, 0 };

	prepare(&w, memory);
	memset(memory + HEAP, 0, 8);
	w.setup(1);
	w.put(&wait, sizeof(wait));
	Board board(&w, 4, 0);
	uint64_t before = board.model.cycles();

	CHECK(board.begin(3) && board.run() && w.control()->fault.code == MORTISE_FAULT_WATCHDOG, "no watchdog: fault %u",
	      w.control()->fault.code);
	CHECK(board.model.cycles() - before >= TICK_HZ / 1000, "the watchdog was early");
}

static void a_test_of_memory_finds_a_bad_word(uint8_t *memory)
{
	Window w(memory);
	mortise_selftest test = { { MORTISE_OP_SELFTEST, 0, 0, 0 }, BASE + HEAP, 8192 };

	prepare(&w, memory);
	w.put(&test, sizeof(test));
	w.put(&test, sizeof(test));
	Board board(&w, 4, 0);

	CHECK(board.begin(3), "no session");
	w.control()->host.head = 3;
	CHECK(board.await([&] { return w.control()->completion.done == 3; }), "the test of memory failed");
	w.control()->host.head = 6;
	/* a word that keeps one value */
	CHECK(board.await([&] {
		memory[HEAP + 4097] = 0x55;
		return w.control()->device.state == MORTISE_FAULTED;
	}) && w.control()->fault.code == MORTISE_FAULT_SELFTEST,
	      "a bad word was not found: fault %u", w.control()->fault.code);
}

static void the_registers_say_what_it_is(uint8_t *memory)
{
	Window w(memory);
	mortise_header barrier = { MORTISE_OP_BARRIER, 0, 0, 0 };
	uint32_t low;

	prepare(&w, memory);
	w.put(&barrier, sizeof(barrier));
	Board board(&w, 4, 0);
	Model &m = board.model;

	CHECK(board.begin(3), "no session");
	CHECK(m.read_register(REGISTER_ID) == MORTISE_MAGIC, "ID");
	CHECK(m.read_register(REGISTER_VERSION) == w.control()->identity.version, "VERSION");
	CHECK(m.read_register(REGISTER_TICK_HZ) == w.control()->identity.tick_hz, "TICK_HZ");
	CHECK((m.read_register(REGISTER_STATUS) & 7) == MORTISE_RUNNING, "STATUS");
	low = m.read_register(REGISTER_CYCLES);
	CHECK(low && m.read_register(REGISTER_CYCLES) > low && !m.read_register(REGISTER_CYCLES_HIGH), "CYCLES");
	/* it goes to sleep, is woken, and interrupts a host that waits */
	CHECK(board.await([&] { return m.asleep(); }) && w.control()->completion.sleeping == 1, "it does not sleep");
	w.control()->host.wanted = w.head;
	w.control()->host.waiting = 11;
	CHECK(!m.irq(), "an interrupt that nobody asked for");
	CHECK(board.run(), "the doorbell does not wake it");
	CHECK(board.await([&] { return m.irq(); }), "no interrupt");
	m.write_register(REGISTER_INTERRUPT, 1);
	CHECK(!m.irq(), "INTERRUPT cannot be cleared");
	CHECK(!m.violation(), "%s", m.violation());
}

/* ---- figures */

static void measure(uint8_t *memory, uint32_t m, uint32_t n, uint32_t k)
{
	Window w(memory);
	mortise_timestamp stamp = { { MORTISE_OP_TIMESTAMP, 0, 0, 0 }, BASE + HEAP };
	mortise_gemm p = mortise_gemm();
	uint64_t ticks[2], products = static_cast<uint64_t>(m) * n * k;

	prepare(&w, memory);
	/* matrices larger than the heap of the random packets */
	w.control()->setup.regions[1].size = WINDOW - HEAP;
	w.control()->setup.watchdog_ms = 0;
	p.header.opcode = MORTISE_OP_GEMM;
	p.m = m;
	p.n = n;
	p.k = p.a_stride = p.b_stride = k;
	p.to_stride = n;
	p.multiplier = 1 << 30;
	p.shift = 40;
	p.least = -128;
	p.most = 127;
	p.to = BASE + HEAP + 0x1000;
	p.a = BASE + HEAP + 0x80000;
	p.b = BASE + HEAP + 0x100000;
	w.put(&stamp, sizeof(stamp));
	w.put(&p, sizeof(p));
	stamp.address += 8;
	w.put(&stamp, sizeof(stamp));
	Board board(&w, 8, 0);

	if (!board.begin(3) || !board.run()) {
		CHECK(false, "%ux%ux%u does not end", m, n, k);
		return;
	}
	memcpy(ticks, memory + HEAP, sizeof(ticks));
	ticks[1] -= ticks[0];
	printf("%5u %5u %5u %10llu %10llu %8.2f %6.1f %%\n", m, n, k, static_cast<unsigned long long>(products),
	       static_cast<unsigned long long>(ticks[1]), static_cast<double>(products) / static_cast<double>(ticks[1]),
	       100.0 * static_cast<double>(products) / static_cast<double>(ticks[1]) /
		       board.model.read_register(REGISTER_PEAK));
}

static int bench(uint8_t *memory)
{
	static const uint32_t shapes[][3] = { { 1, 64, 64 },	{ 1, 1024, 256 },  { 16, 16, 16 },   { 64, 64, 64 },
					      { 64, 64, 256 },	{ 64, 128, 512 },  { 32, 64, 1024 }, { 196, 32, 288 } };

	printf("    m     n     k   products     cycles  a cycle  of the peak\n");
	for (const uint32_t *s : shapes)
		measure(memory, s[0], s[1], s[2]);
	return failures != 0;
}

int main(int argc, char **argv)
{
	uint64_t count = argc > 1 ? strtoull(argv[1], nullptr, 0) : 200, first = argc > 2 ? strtoull(argv[2], nullptr, 0) : 1;
	void *fixed = reinterpret_cast<void *>(static_cast<uintptr_t>(BASE));
	std::vector<uint64_t> own(WINDOW / 8);
	uint8_t *there = reinterpret_cast<uint8_t *>(own.data());
	void *here;

	if (argc > 1 && !strcmp(argv[1], "--bench"))
		return bench(there);
	here = mmap(fixed, WINDOW, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (here != fixed) {
		printf("the address 0x%x is in use in this process\n", BASE);
		return 77;
	}
	an_error_of_the_bus_is_a_trap(there);
	a_wait_ends_by_the_watchdog(there);
	a_test_of_memory_finds_a_bad_word(there);
	the_registers_say_what_it_is(there);
	for (uint64_t seed = first; seed < first + count; seed++)
		compare(seed, static_cast<uint8_t *>(here), there);
	printf("%llu random rings, from seed %llu on: %d failures\n", static_cast<unsigned long long>(count),
	       static_cast<unsigned long long>(first), failures);
	return failures != 0;
}
