// SPDX-License-Identifier: MIT
// Elementwise operations on a word of eight int8, which saturate, or two int32, which wrap.
module mortise_vector (
	input  logic [2:0]  operation, // enum mortise_vector_operation
	input  logic        is_int32,
	input  logic [63:0] a,
	input  logic [63:0] b,
	output logic [63:0] result
);
	function automatic logic [31:0] combine(input logic [2:0] op, input logic signed [31:0] x,
						input logic signed [31:0] y);
		case (op)
		3'd0:	 combine = x + y;
		3'd1:	 combine = x - y;
		3'd2:	 combine = x * y;
		3'd3:	 combine = x > y ? x : y;
		default: combine = x < y ? x : y;
		endcase
	endfunction

	function automatic logic [7:0] narrow(input logic [2:0] op, input logic signed [7:0] x,
					      input logic signed [7:0] y);
		logic signed [15:0] p, q, wide;

		p = {{8{x[7]}}, x};
		q = {{8{y[7]}}, y};
		case (op)
		3'd0:	 wide = p + q;
		3'd1:	 wide = p - q;
		3'd2:	 wide = p * q;
		3'd3:	 wide = p > q ? p : q;
		default: wide = p < q ? p : q;
		endcase
		if (wide > 16'sd127)
			narrow = 8'h7f;
		else if (wide < -16'sd128)
			narrow = 8'h80;
		else
			narrow = wide[7:0];
	endfunction

	logic [63:0] bytes;

	for (genvar i = 0; i < 8; i++) begin : g_byte
		assign bytes[8*i +: 8] = narrow(operation, a[8*i +: 8], b[8*i +: 8]);
	end
	assign result = is_int32 ? {combine(operation, a[63:32], b[63:32]), combine(operation, a[31:0], b[31:0])}
				 : bytes;
endmodule
