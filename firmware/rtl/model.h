/* SPDX-License-Identifier: MIT */
/*
 * The Verilated accelerator and what an FPGA has around it: memory on its AXI4 port, and a core that accesses its
 * registers. For the board's program (board.cpp) and the testbench (testbench.cpp).
 */
#ifndef FIRMWARE_RTL_MODEL_H
#define FIRMWARE_RTL_MODEL_H

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

class Vmortise_rtl;

/* offsets of mortise_regs.sv */
enum Register : uint8_t {
	REGISTER_ID = 0x00,
	REGISTER_VERSION = 0x04,
	REGISTER_CONTROL = 0x08,
	REGISTER_STATUS = 0x0c,
	REGISTER_WINDOW = 0x10,
	REGISTER_WINDOW_SIZE = 0x14,
	REGISTER_DOORBELL = 0x18,
	REGISTER_INTERRUPT = 0x1c,
	REGISTER_ENABLE = 0x20,
	REGISTER_CYCLES = 0x24,
	REGISTER_CYCLES_HIGH = 0x28,
	REGISTER_TICK_HZ = 0x2c,
	REGISTER_PEAK = 0x30,
};

enum { STATUS_ASLEEP = 0x100, STATUS_STOPPED = 0x200 };

class Model
{
      public:
	/* @memory: @size bytes that the accelerator sees at @address; @latency: cycles from an address to its first beat */
	Model(uint8_t *memory, size_t size, uint32_t address, unsigned int latency);
	~Model();

	/* a cycle of the clock */
	void tick();

	/* the core beside it; each takes some cycles */
	void write_register(Register where, uint32_t value);
	uint32_t read_register(Register where);

	bool irq() const;
	bool asleep() const;
	uint64_t cycles() const
	{
		return cycles_;
	}

	/* for the testbench: hold back ready and valid at random; answer an address with an error */
	void stall(uint64_t seed)
	{
		random_ = seed;
	}
	void break_at(uint32_t address)
	{
		broken_ = address;
	}
	/* what the accelerator did against the rules of AXI4; NULL */
	const char *violation() const
	{
		return violation_;
	}

      private:
	struct Burst {
		uint32_t address;
		unsigned int beats;
		uint64_t due;
	};

	void drive();
	void sample();
	void check_rules();
	bool stalls();
	uint8_t *at(uint32_t address);
	void write_beat(uint32_t address, uint64_t data, uint8_t strobes);
	uint64_t read_beat(uint32_t address);

	std::unique_ptr<Vmortise_rtl> top_;
	uint8_t *memory_;
	size_t size_;
	uint32_t base_;
	unsigned int latency_;
	uint64_t cycles_ = 0;
	uint64_t random_ = 0;
	uint32_t broken_ = 0;
	const char *violation_ = nullptr;

	std::deque<Burst> reads_;
	Burst write_ = { 0, 0, 0 };
	bool offered_ = false, writing_ = false, answering_ = false, failed_ = false;
	/* what was offered and not taken in the cycle before */
	bool held_ar_ = false, held_aw_ = false, held_w_ = false;
	uint32_t old_araddr_ = 0, old_awaddr_ = 0;
	uint64_t old_wdata_ = 0;
};

#endif /* FIRMWARE_RTL_MODEL_H */
