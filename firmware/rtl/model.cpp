/* SPDX-License-Identifier: MIT */
/* The Verilated accelerator clock by clock: memory behind its AXI4 port, and accesses of the core beside it. */
#include "firmware/rtl/model.h"

#include "Vmortise_rtl.h"

enum { OKAY = 0, DECERR = 3, QUEUE_MOST = 4, BOUNDARY = 4096 };

Model::Model(uint8_t *memory, size_t size, uint32_t address, unsigned int latency)
	: top_(new Vmortise_rtl), memory_(memory), size_(size), base_(address), latency_(latency)
{
	top_->rst = 1;
	for (int i = 0; i < 4; i++)
		tick();
	top_->rst = 0;
}

Model::~Model()
{
	top_->final();
}

bool Model::irq() const
{
	return top_->irq;
}

bool Model::asleep() const
{
	return top_->asleep;
}

/* ---- memory, which the host accesses at the same time: words of 32 bits, each loaded and stored at once */

uint8_t *Model::at(uint32_t address)
{
	if (address < base_ || size_ < 8 || address - base_ > size_ - 8)
		return nullptr;
	return broken_ && (address & ~7U) == (broken_ & ~7U) ? nullptr : memory_ + (address - base_);
}

uint64_t Model::read_beat(uint32_t address)
{
	const uint32_t *word = reinterpret_cast<const uint32_t *>(at(address));
	uint64_t low = __atomic_load_n(word, __ATOMIC_ACQUIRE);

	return low | static_cast<uint64_t>(__atomic_load_n(word + 1, __ATOMIC_ACQUIRE)) << 32;
}

static void write_half(uint8_t *to, uint32_t data, unsigned int strobes)
{
	if (strobes == 0xf) {
		__atomic_store_n(reinterpret_cast<uint32_t *>(to), data, __ATOMIC_RELEASE);
		return;
	}
	for (int i = 0; i < 4; i++)
		if (strobes >> i & 1)
			__atomic_store_n(to + i, static_cast<uint8_t>(data >> 8 * i), __ATOMIC_RELEASE);
}

void Model::write_beat(uint32_t address, uint64_t data, uint8_t strobes)
{
	uint8_t *to = at(address);

	if (!to) {
		failed_ = true;
		return;
	}
	write_half(to, static_cast<uint32_t>(data), strobes & 0xf);
	write_half(to + 4, static_cast<uint32_t>(data >> 32), strobes >> 4);
}

/* ---- the bus */

bool Model::stalls()
{
	if (!random_)
		return false;
	random_ = random_ * 6364136223846793005U + 1442695040888963407U;
	return (random_ >> 33) % 3 == 0;
}

/* What memory says in this cycle. */
void Model::drive()
{
	/* a beat that is offered stays until it is taken */
	offered_ = offered_ || (!reads_.empty() && cycles_ >= reads_.front().due && !stalls());
	top_->m_arready = reads_.size() < QUEUE_MOST && !stalls();
	top_->m_awready = !writing_ && !answering_ && !stalls();
	top_->m_wready = writing_ && !stalls();
	top_->m_bvalid = answering_ && cycles_ >= write_.due;
	top_->m_bresp = failed_ ? DECERR : OKAY;
	top_->m_rvalid = offered_;
	if (offered_) {
		const Burst &b = reads_.front();

		top_->m_rlast = b.beats == 1;
		top_->m_rresp = at(b.address) ? OKAY : DECERR;
		top_->m_rdata = at(b.address) ? read_beat(b.address) : 0;
	}
}

static bool crosses(uint32_t address, unsigned int beats)
{
	return address / BOUNDARY != (address + 8 * beats - 1) / BOUNDARY;
}

/* Offers stay as they are until they are taken; bursts keep inside 4 KiB. */
void Model::check_rules()
{
	if (held_ar_ && (!top_->m_arvalid || top_->m_araddr != old_araddr_))
		violation_ = "ARADDR changed before ARREADY";
	if (held_aw_ && (!top_->m_awvalid || top_->m_awaddr != old_awaddr_))
		violation_ = "AWADDR changed before AWREADY";
	if (held_w_ && (!top_->m_wvalid || top_->m_wdata != old_wdata_))
		violation_ = "WDATA changed before WREADY";
	if (top_->m_arvalid && crosses(top_->m_araddr, top_->m_arlen + 1U))
		violation_ = "a read crosses 4 KiB";
	if (top_->m_awvalid && crosses(top_->m_awaddr, top_->m_awlen + 1U))
		violation_ = "a write crosses 4 KiB";
	if (top_->m_wvalid && top_->m_wready && top_->m_wlast != (write_.beats == 1))
		violation_ = "WLAST is not at the last beat";
	held_ar_ = top_->m_arvalid && !top_->m_arready;
	held_aw_ = top_->m_awvalid && !top_->m_awready;
	held_w_ = top_->m_wvalid && !top_->m_wready;
	old_araddr_ = top_->m_araddr;
	old_awaddr_ = top_->m_awaddr;
	old_wdata_ = top_->m_wdata;
}

/* What is taken at the end of this cycle. */
void Model::sample()
{
	check_rules();
	if (top_->m_rvalid && top_->m_rready) {
		Burst &b = reads_.front();

		offered_ = false;
		b.address += 8;
		if (!--b.beats)
			reads_.pop_front();
	}
	if (top_->m_arvalid && top_->m_arready)
		reads_.push_back({ top_->m_araddr, top_->m_arlen + 1U, cycles_ + latency_ });
	if (top_->m_bvalid && top_->m_bready)
		answering_ = false;
	if (top_->m_wvalid && top_->m_wready) {
		write_beat(write_.address, top_->m_wdata, top_->m_wstrb);
		write_.address += 8;
		if (!--write_.beats) {
			/* behind the answer all of it is seen, and nothing after it was read before */
			__atomic_thread_fence(__ATOMIC_SEQ_CST);
			writing_ = false;
			answering_ = true;
			write_.due = cycles_ + latency_;
		}
	}
	if (top_->m_awvalid && top_->m_awready) {
		write_ = { top_->m_awaddr, top_->m_awlen + 1U, 0 };
		writing_ = true;
		failed_ = false;
	}
}

void Model::tick()
{
	top_->clk = 0;
	drive();
	top_->eval();
	sample();
	top_->clk = 1;
	top_->eval();
	cycles_++;
}

void Model::write_register(Register where, uint32_t value)
{
	bool taken = false;

	top_->s_awaddr = where;
	top_->s_wdata = value;
	top_->s_wstrb = 0xf;
	top_->s_awvalid = top_->s_wvalid = 1;
	top_->s_bready = 1;
	while (!taken) {
		top_->eval();
		taken = top_->s_awready && top_->s_wready;
		tick();
	}
	top_->s_awvalid = top_->s_wvalid = 0;
	while (!top_->s_bvalid)
		tick();
	tick();
}

uint32_t Model::read_register(Register where)
{
	uint32_t value;

	top_->s_araddr = where;
	top_->s_arvalid = 1;
	top_->s_rready = 0;
	while (!top_->s_rvalid)
		tick();
	value = top_->s_rdata;
	top_->s_arvalid = 0;
	top_->s_rready = 1;
	tick();
	top_->s_rready = 0;
	return value;
}
