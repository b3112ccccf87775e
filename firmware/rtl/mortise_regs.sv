// SPDX-License-Identifier: MIT
// Registers on AXI4-Lite, for the core beside the accelerator: where the window is, start, doorbell, interrupt.
//
//	0x00 ID            "MRST"
//	0x04 VERSION       of the logic, as struct mortise_identity.version
//	0x08 CONTROL       bit 0: run; 0 holds the logic in reset. Clear it only while STATUS.asleep or .stopped is 1
//	0x0c STATUS        2:0 enum mortise_state; 8 asleep: the clock may be gated until the doorbell; 9 stopped
//	0x10 WINDOW        device's address of the window; written while CONTROL.run is 0
//	0x14 WINDOW_SIZE   bytes
//	0x18 DOORBELL      write anything
//	0x1c INTERRUPT     bit 0: pending; write 1 to clear
//	0x20 ENABLE        bit 0: the line follows INTERRUPT
//	0x24 CYCLES        low word of the clock; reading it holds the high word
//	0x28 CYCLES_HIGH   of the clock when CYCLES was read
//	0x2c TICK_HZ       ticks of the clock a second
//	0x30 PEAK          int8 products a cycle
module mortise_regs #(
	parameter int unsigned TICK_HZ = 25000000
) (
	input  logic        clk,
	input  logic        rst,
	// AXI4-Lite
	input  logic [7:0]  awaddr,
	input  logic        awvalid,
	output logic        awready,
	input  logic [31:0] wdata,
	input  logic [3:0]  wstrb,
	input  logic        wvalid,
	output logic        wready,
	output logic [1:0]  bresp,
	output logic        bvalid,
	input  logic        bready,
	input  logic [7:0]  araddr,
	input  logic        arvalid,
	output logic        arready,
	output logic [31:0] rdata,
	output logic [1:0]  rresp,
	output logic        rvalid,
	input  logic        rready,
	// the logic
	output logic        run,
	output logic [31:0] window,
	output logic [31:0] window_size,
	output logic        doorbell,
	input  logic        notify,
	output logic        irq,
	input  logic [2:0]  state,
	input  logic        asleep,
	output logic [63:0] cycles
);
	logic        pending, enable, write;
	logic [31:0] high;

	assign write = awvalid && wvalid && !bvalid;
	assign awready = write;
	assign wready = write;
	assign bresp = 0;
	assign arready = !rvalid;
	assign rresp = 0;
	assign irq = pending && enable;

	always_ff @(posedge clk) begin
		cycles <= rst ? 64'd0 : cycles + 64'd1;
		doorbell <= 0;
		if (rst) begin
			run <= 0;
			window <= 0;
			window_size <= 0;
			pending <= 0;
			enable <= 0;
			bvalid <= 0;
		end else begin
			if (bready)
				bvalid <= 0;
			// a word is written as a whole
			if (write) begin
				bvalid <= 1;
				if (wstrb == 4'hf)
					case (awaddr[7:2])
					6'h02: run <= wdata[0];
					6'h04: window <= wdata;
					6'h05: window_size <= wdata;
					6'h06: doorbell <= 1;
					6'h07: if (wdata[0])
						       pending <= 0;
					6'h08: enable <= wdata[0];
					default: ;
					endcase
			end
			if (notify)
				pending <= 1;
		end
	end

	always_ff @(posedge clk) begin
		if (rst) begin
			rvalid <= 0;
			rdata <= 0;
			high <= 0;
		end else if (rvalid) begin
			rvalid <= !rready;
		end else if (arvalid) begin
			rvalid <= 1;
			case (araddr[7:2])
			6'h00: rdata <= mortise_pkg::MAGIC;
			6'h01: rdata <= mortise_pkg::VERSION;
			6'h02: rdata <= {31'd0, run};
			6'h03: rdata <= {22'd0, state == mortise_pkg::STATE_STOPPED, asleep, 5'd0, state};
			6'h04: rdata <= window;
			6'h05: rdata <= window_size;
			6'h07: rdata <= {31'd0, pending};
			6'h08: rdata <= {31'd0, enable};
			6'h09: begin
				rdata <= cycles[31:0];
				high <= cycles[63:32];
			end
			6'h0a: rdata <= high;
			6'h0b: rdata <= TICK_HZ;
			6'h0c: rdata <= mortise_pkg::ROWS * mortise_pkg::LANES;
			default: rdata <= 0;
			endcase
		end
	end
	logic unused_low_bits;

	assign unused_low_bits = ^{awaddr[1:0], araddr[1:0]};
endmodule
