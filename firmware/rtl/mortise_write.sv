// SPDX-License-Identifier: MIT
// Writes a range of bytes by AXI4 bursts. Words are asked for by their index, and begin with the range's first byte in
// bits 7:0. One range at a time; done when the last response came, so that what follows is behind it.
module mortise_write (
	input  logic        clk,
	input  logic        rst,
	// a range; length is 1 to 4096. address and length stay until done
	input  logic        start,
	input  logic [31:0] address,
	input  logic [12:0] length,
	output logic        done,
	output logic        failed,
	// its words
	output logic [9:0]  index,
	input  logic [63:0] word,
	// AXI4
	output logic [31:0] awaddr,
	output logic [7:0]  awlen,
	output logic        awvalid,
	input  logic        awready,
	output logic [63:0] wdata,
	output logic [7:0]  wstrb,
	output logic        wlast,
	output logic        wvalid,
	input  logic        wready,
	input  logic [1:0]  bresp,
	input  logic        bvalid,
	output logic        bready
);
	logic [9:0]  beats;      // of the range that are not sent yet
	logic [9:0]  left;       // of the burst
	logic [9:0]  page, burst;
	logic [63:0] earlier;
	logic [9:0]  span;       // beats of the range
	logic [2:0]  shift, tail;
	logic        is_first, is_final, burst_ends;

	assign shift = address[2:0];
	assign span = 10'((length + {10'd0, shift} + 13'd7) >> 3);
	assign page = 10'd512 - {1'b0, awaddr[11:3]};
	assign awlen = 8'(burst - 10'd1);
	assign wvalid = left != 0;
	assign wlast = left == 10'd1;
	assign bready = 1;
	assign failed = bvalid && bresp != 0;
	assign burst_ends = bvalid && left == 0 && !awvalid;
	assign done = burst_ends && beats == 0;

	always_comb begin
		burst = beats < 10'd32 ? beats : 10'd32;
		if (page < burst)
			burst = page;
	end

	// bytes of the first and of the last beat that are in the range
	assign is_first = index == 0;
	assign is_final = wlast && beats == 0;
	assign tail = 3'(shift + length[2:0]);
	assign wdata = shift == 0 ? word
		     : (word << {shift, 3'd0}) | ((is_first ? 64'd0 : earlier) >> {4'd8 - {1'b0, shift}, 3'd0});
	assign wstrb = (is_first ? 8'hff << shift : 8'hff)
		     & (is_final && tail != 0 ? ~(8'hff << tail) : 8'hff);

	always_ff @(posedge clk) begin
		if (wvalid && wready)
			earlier <= word;
		if (rst) begin
			beats <= 0;
			left <= 0;
			awvalid <= 0;
			awaddr <= 0;
			index <= 0;
		end else if (start) begin
			beats <= span;
			awaddr <= {address[31:3], 3'd0};
			awvalid <= 1;
			index <= 0;
		end else begin
			if (awvalid && awready) begin
				awvalid <= 0;
				left <= burst;
				beats <= beats - burst;
				awaddr <= awaddr + {19'd0, burst, 3'd0};
			end
			if (wvalid && wready) begin
				left <= left - 1;
				index <= index + 1;
			end
			if (burst_ends && beats != 0)
				awvalid <= 1;
		end
	end
endmodule
