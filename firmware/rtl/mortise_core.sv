// SPDX-License-Identifier: MIT
// The sequencer: sessions, the ring, and packets, as <tenon/uapi/mortise.h> says and firmware/core/ does in C. Ranges
// are read and written by the two engines; each store is complete before the next begins, so that the host sees them in
// this order. Work that takes long is cut into ranges, between which the host is looked at.
module mortise_core #(
	parameter int unsigned TICK_HZ = 25000000,
	parameter int unsigned IDLE_POLLS = 256
) (
	input  logic         clk,
	input  logic         rst,
	input  logic [31:0]  window,
	input  logic [31:0]  window_size,
	input  logic [63:0]  cycles,
	input  logic         doorbell,
	output logic         notify,
	output logic         asleep,
	output logic [2:0]   state,
	// ranges to read
	output logic         read_start,
	output logic [31:0]  read_address,
	output logic [12:0]  read_length,
	input  logic         read_ready,
	input  logic         in_valid,
	input  logic [63:0]  in_data,
	input  logic [9:0]   in_index,
	input  logic [3:0]   in_bytes,
	input  logic         in_last,
	input  logic         read_failed,
	// ranges to write
	output logic         write_start,
	output logic [31:0]  write_address,
	output logic [12:0]  write_length,
	input  logic         write_done,
	input  logic         write_failed,
	input  logic [9:0]   write_index,
	output logic [63:0]  write_word
);
	typedef enum logic [6:0] {
		BOOT, BOOT_STALE, BOOT_STORE, POLL, POLLED, BEAT, SLEEP, SLEEP_LOOK, SLEEPING, WAKE,
		SESSION_END, SESSION_FAULT, SESSION_OPCODE, SETUP_READ, SETUP_HEAD, SETUP_CHECK, SETUP_TICKS, SETUP_TICKS2,
		REGION_READ, REGION_TAKE, SETUP_DONE, SETUP_RUN, SESSION_STATE, SESSION_POSITION, SESSION_NUMBER,
		NOTIFY, NOTIFIED, FAULT, FAULT_STORE,
		RUN, FETCH, DECODE, OPCODE, DISPATCH, BEGIN, FINISH, NEXT, LOOK, LOOK_HOST, LOOKED,
		READ_WAIT, WRITE_WAIT, CHECK, ROWS, ROWS2,
		COPY_FROM, COPY_BEGIN, COPY_LOOP, COPY_WRITE, COPY_DONE, FILL_BEGIN, FILL_LOOP, FILL_DONE,
		SEMAPHORE, SEMAPHORE_READ, SEMAPHORE_LOOK, STAMP,
		VECTOR_A, VECTOR_B, VECTOR_BEGIN, VECTOR_LOOP, VECTOR_READ_B, VECTOR_WRITE, VECTOR_DONE,
		TEST_BEGIN, TEST_WRITE, TEST_WRITTEN, TEST_READ, TEST_DONE,
		GEMM_A, GEMM_B, GEMM_BIAS, GEMM_BEGIN, GEMM_TILE, GEMM_COLUMNS, GEMM_PART, GEMM_LOAD, GEMM_LOADED,
		GEMM_FEED, GEMM_SCALE, GEMM_WRITE, GEMM_WRITTEN, GEMM_NEXT, STOP, STOPPED
	} step_t;

	// what becomes of the words that are read
	typedef enum logic [2:0] { TO_PACKET, TO_HOST, TO_WORD, TO_BUFFER, TO_VECTOR, TO_ROWS, TO_DOT, TO_TEST } sink_t;
	// where the words that are written come from
	typedef enum logic [1:0] { FROM_DATA, FROM_BUFFER, FROM_ADDRESS } source_t;

	localparam logic [31:0] WATCHDOG_TICKS = TICK_HZ / 1000;
	localparam logic [12:0] CHUNK = 13'd256;  // of copies and vectors: what the buffer holds
	localparam logic [12:0] FILL_CHUNK = 13'd2048;
	localparam logic [31:0] PART = 32'd512;   // of k
	localparam logic [31:0] COLUMNS = 32'd32; // of a tile
	localparam logic [5:0]  BIAS_AT = 6'd16;  // words of the buffer, in units of two
	localparam logic [6:0]  RESULT_AT = 7'd64;

	step_t   step, after, after_check, after_notify, after_look;
	sink_t   sink;
	source_t source;

	// ---- the session
	logic [31:0] session, at, published, heartbeat, answered, ring, ring_mask;
	logic [47:0] watchdog, began;
	logic [4:0]  region_count;
	logic [66:0] regions [0:15]; // access, size, address
	logic        doorbell_seen;

	// ---- what the host wrote
	logic [31:0] host_head, host_session, host_waiting, host_wanted;
	logic        has_work;

	assign has_work = host_session != session || (state == mortise_pkg::STATE_RUNNING && host_head != at);

	// ---- the packet
	logic [767:0] packet;
	logic [7:0]   opcode, last_opcode;
	logic [31:0]  value;         // of a semaphore
	logic [15:0]  words;
	logic [31:0]  room, ahead;   // words to the end of the ring, and to the head
	logic [15:0]  idle;
	logic [10:0]  since_look;
	logic         look_due;
	logic         bus_failed;
	logic [31:0]  bus_address;

`define WORD(n) packet[64*(n) +: 64]
`define LOW(n)	packet[64*(n) +: 32]
`define HIGH(n) packet[64*(n) + 32 +: 32]

	assign opcode = packet[7:0];
	assign words = packet[31:16];

	// ---- the buffer
	logic [63:0] buffer [0:127];
	logic        buffer_write;
	logic [6:0]  buffer_to, buffer_from, write_base, read_base;
	logic [63:0] buffer_in, buffer_out, pattern;

	assign buffer_out = buffer[buffer_from];
	always_ff @(posedge clk)
		if (buffer_write)
			buffer[buffer_to] <= buffer_in;

	// ---- addresses of the parts of an operation that goes on
	logic [31:0] to, from, other, left;
	logic [12:0] chunk;
	logic        is_up;

	// ---- checks of ranges
	logic [63:0] check_address, check_size;
	logic [2:0]  check_access, check_low;
	logic [4:0]  check_index;
	logic [31:0] region_offset, region_left;
	logic        region_fits;
	logic [31:0] region_address, region_size;
	logic [2:0]  region_access;

	assign {region_access, region_size, region_address} = regions[check_index[3:0]];
	assign region_offset = check_address[31:0] - region_address;
	assign region_left = region_size - region_offset;
	assign region_fits = (region_access & check_access) == check_access && check_address[63:32] == 0
			     && check_address[31:0] >= region_address && region_offset <= region_size
			     && check_size[63:32] == 0 && check_size[31:0] <= region_left
			     && (check_address[2:0] & check_low) == 0;

	// ---- a region of the setup: its words lie in the buffer, then in the packet's place
	logic        region_valid;
	logic [32:0] region_end, window_end, ring_end;
	logic [4:0]  region_number;

	assign window_end = {1'b0, window} + {1'b0, window_size};
	assign region_end = {1'b0, `LOW(0)} + {1'b0, `LOW(1)};
	assign ring_end = {1'b0, ring} + {1'b0, ring_mask[28:0] + 29'd1, 3'd0};
	assign region_valid = `WORD(1) != 0 && `HIGH(0) == 0 && `HIGH(1) == 0 && `HIGH(2) == 0 && packet[159:131] == 0
			      && {1'b0, `LOW(0)} >= {1'b0, window} + {1'b0, mortise_pkg::SHARED_OFFSET}
			      && region_end <= window_end
			      && (region_end <= {1'b0, ring} || ring_end <= {1'b0, `LOW(0)});

	// ---- a multiplier for addresses of rows, ticks, and scaling
	logic signed [32:0] factor_a, factor_b;
	logic signed [65:0] product;

	always_ff @(posedge clk)
		product <= factor_a * factor_b;

	// ---- faults
	logic [3:0]  fault_code;
	logic [31:0] fault_detail;
	logic [63:0] fault_address;
	logic [3:0]  store_step;

	// ---- the matrix product
	logic [31:0]  rows_left, columns_left, k_left, k_at, a_tile, b_tile, bias_tile, to_tile, to_rows, a_at, b_at, to_at;
	logic [2:0]   tile_rows;
	logic [5:0]   tile_columns, issued, received;
	logic [12:0]  part;
	logic [1:0]   size_bits;     // of a result: its size is 1 << size_bits
	logic [2:0]   row;
	logic         fresh, is_first_tile, is_wide; // results of int32
	logic [127:0] sums;
	logic         dot_busy, dot_load, dot_feed;
	logic [7:0]   feed_mask;

	assign is_wide = `LOW(8) == 0;
	assign size_bits = is_wide ? 2'd2 : 2'd0;
	assign dot_load = in_valid && sink == TO_ROWS;
	assign dot_feed = in_valid && sink == TO_DOT;
	assign feed_mask = 8'hff >> (4'd8 - in_bytes);

	mortise_dot dot (
		.clk, .rst,
		.load(dot_load), .load_row(row[1:0]), .load_index(in_index[5:0]), .load_data(in_data),
		.feed(dot_feed), .feed_data(in_data), .feed_index(in_index[5:0]), .feed_mask, .feed_last(in_last),
		.feed_column(received[4:0]), .a_zero(packet[64*10 + 32 +: 8]), .b_zero(packet[64*11 +: 8]), .fresh,
		.column(scale_column[4:0]), .sums, .busy(dot_busy));

	// ---- scaling of sums: a pipeline of three steps, an element a cycle
	logic [5:0]         scale_column;
	logic [2:0]         scale_row;
	logic               scale1, scale2, scale3, ends1, ends2, ends3;
	logic [4:0]         column1, column2, column3;
	logic [1:0]         row1, row2, row3;
	logic [31:0]        sum, sum1, sum2, sum3;
	logic signed [65:0] rounded;
	logic signed [63:0] scaled, shifted, placed, floor, ceiling;
	logic [7:0]         narrow;
	logic [63:0]        packed_now, packed_before;

	always_comb begin
		sum = sums[32*scale_row[1:0] +: 32];
		if (`WORD(4) != 0)
			sum = sum + (scale_column[0] ? buffer_out[63:32] : buffer_out[31:0]);
	end

	// zero point and limits are int8: they were checked
	assign rounded = product + (66'sd1 <<< (packet[64*8 + 32 +: 6] - 6'd1));
	assign scaled = 64'(rounded >>> packet[64*8 + 32 +: 6]);
	assign placed = shifted + {{56{packet[64*9 + 7]}}, packet[64*9 +: 8]};
	assign floor = {{56{packet[64*9 + 39]}}, packet[64*9 + 32 +: 8]};
	assign ceiling = {{56{packet[64*10 + 7]}}, packet[64*10 +: 8]};
	assign narrow = placed < floor ? floor[7:0] : placed > ceiling ? ceiling[7:0] : placed[7:0];

	always_comb begin
		packed_now = packed_before;
		if (is_wide)
			packed_now[32*column3[0] +: 32] = sum3;
		else
			packed_now[8*column3[2:0] +: 8] = narrow;
	end

	always_ff @(posedge clk) begin
		sum1 <= sum;
		sum2 <= sum1;
		sum3 <= sum2;
		{column1, row1} <= {scale_column[4:0], scale_row[1:0]};
		{column2, row2} <= {column1, row1};
		{column3, row3} <= {column2, row2};
		ends1 <= scale_column + 6'd1 == tile_columns;
		ends2 <= ends1;
		ends3 <= ends2;
		shifted <= scaled;
		if (scale3)
			packed_before <= packed_now;
		scale1 <= !rst && step == GEMM_SCALE && scale_row != tile_rows;
		scale2 <= !rst && scale1;
		scale3 <= !rst && scale2;
	end

	// ---- elementwise operations
	logic [63:0] vector_a, vector_b, vector_result, scalar;
	logic        vector_wide;

	assign vector_wide = packet[64*4 + 40];
	assign scalar = vector_wide ? {2{`LOW(5)}} : {8{packet[64*5 +: 8]}};
	assign vector_a = `WORD(3) != 0 ? buffer_out : in_data;
	assign vector_b = `WORD(3) != 0 ? in_data : scalar;

	mortise_vector vector (.operation(packet[64*4 + 32 +: 3]), .is_int32(vector_wide), .a(vector_a), .b(vector_b),
			       .result(vector_result));

	// ---- patterns of the test of memory, which differ between places
	logic [31:0] test_word;
	logic        inverted, test_failed;

	assign test_word = (sink == TO_TEST && step == READ_WAIT ? read_address + {19'd0, in_index, 3'd0}
			    : write_address + {19'd0, write_index, 3'd0}) ^ {32{inverted}};

	// ---- ports of the buffer
	always_comb begin
		if (step == GEMM_SCALE)
			buffer_from = {BIAS_AT, 1'b0} + {2'd0, scale_column[5:1]};
		else if (step == READ_WAIT)
			buffer_from = in_index[6:0];
		else
			buffer_from = write_base + write_index[6:0];
	end

	always_comb begin
		buffer_write = in_valid && (sink == TO_BUFFER || sink == TO_VECTOR);
		buffer_to = read_base + in_index[6:0];
		buffer_in = sink == TO_VECTOR ? vector_result : in_data;
		if (scale3) begin
			buffer_write = ends3 || (is_wide ? column3[0] : &column3[2:0]);
			buffer_to = RESULT_AT + {1'b0, row3, 4'd0} + (is_wide ? {3'd0, column3[4:1]} : {5'd0, column3[4:3]});
			buffer_in = packed_now;
		end
	end

	always_comb
		case (source)
		FROM_DATA:   write_word = pattern;
		FROM_BUFFER: write_word = buffer_out;
		default:     write_word = {~test_word, test_word};
		endcase

	// ---- what the sequencer does again and again
	task automatic read(input logic [31:0] address, input logic [12:0] length, input sink_t where, input step_t next);
		read_start <= 1;
		read_address <= address;
		read_length <= length;
		sink <= where;
		after <= next;
		step <= READ_WAIT;
	endtask

	task automatic write(input logic [31:0] address, input logic [12:0] length, input source_t where, input step_t next);
		write_start <= 1;
		write_address <= address;
		write_length <= length;
		source <= where;
		after <= next;
		step <= WRITE_WAIT;
	endtask

	task automatic store(input logic [31:0] offset, input logic [12:0] length, input logic [63:0] data, input step_t next);
		pattern <= data;
		write(window + mortise_pkg::CONTROL_OFFSET + offset, length, FROM_DATA, next);
	endtask

	task automatic read_host(input step_t next);
		read(window + mortise_pkg::CONTROL_OFFSET + mortise_pkg::HOST, 13'd16, TO_HOST, next);
	endtask

	task automatic fault(input logic [3:0] code, input logic [63:0] address, input logic [31:0] detail);
		fault_code <= code;
		fault_address <= address;
		fault_detail <= detail;
		step <= FAULT;
	endtask

	task automatic bad_field(input logic [31:0] offset);
		fault(mortise_pkg::FAULT_FIELD, 0, offset);
	endtask

	task automatic check(input logic [63:0] address, input logic [63:0] size, input logic [2:0] access,
			     input logic [2:0] low, input step_t next);
		check_address <= address;
		check_size <= size;
		check_access <= access;
		check_low <= low;
		check_index <= 0;
		after_check <= next;
		step <= CHECK;
	endtask

	// rows of width bytes, stride apart
	task automatic check_rows(input logic [63:0] address, input logic [31:0] rows, input logic [31:0] stride,
				  input logic [63:0] width, input logic [2:0] access, input logic [2:0] low,
				  input step_t next);
		check(address, width, access, low, next);
		factor_a <= {1'b0, rows - 32'd1};
		factor_b <= {1'b0, stride};
		step <= ROWS;
	endtask

	// look at the host where that is due
	task automatic look(input step_t next);
		after_look <= next;
		step <= look_due ? LOOK : next;
	endtask

	function automatic logic is_before(input logic [31:0] a, input logic [31:0] b);
		is_before = signed'(a - b) < 0;
	endfunction

	function automatic logic is_int8(input logic [31:0] number);
		is_int8 = number == {{24{number[7]}}, number[7:0]};
	endfunction

	// words of a packet; 0: there is no such packet
	function automatic logic [15:0] words_of(input logic [7:0] op);
		case (op)
		mortise_pkg::OP_COPY:	   words_of = 16'd4;
		mortise_pkg::OP_FILL:	   words_of = 16'd5;
		mortise_pkg::OP_WAIT:	   words_of = 16'd3;
		mortise_pkg::OP_SIGNAL:	   words_of = 16'd3;
		mortise_pkg::OP_TIMESTAMP: words_of = 16'd2;
		mortise_pkg::OP_BARRIER:   words_of = 16'd1;
		mortise_pkg::OP_VECTOR:	   words_of = 16'd6;
		mortise_pkg::OP_GEMM:	   words_of = 16'd12;
		mortise_pkg::OP_SELFTEST:  words_of = 16'd3;
		mortise_pkg::OP_SHUTDOWN:  words_of = 16'd1;
		default:		   words_of = 16'd0;
		endcase
	endfunction

	function automatic logic takes_long(input logic [7:0] op);
		takes_long = op == mortise_pkg::OP_COPY || op == mortise_pkg::OP_FILL || op == mortise_pkg::OP_WAIT
			     || op == mortise_pkg::OP_VECTOR || op == mortise_pkg::OP_GEMM || op == mortise_pkg::OP_SELFTEST;
	endfunction

	function automatic logic [12:0] least(input logic [31:0] bytes, input logic [12:0] most);
		least = bytes < {19'd0, most} ? bytes[12:0] : most;
	endfunction

	logic [12:0] copy_chunk, fill_chunk;
	logic [31:0] copy_at;
	logic [31:0] least_words;
	logic        overdue;

	assign copy_chunk = least(left, CHUNK);
	assign fill_chunk = least(left, FILL_CHUNK);
	// a copy to a higher address begins with its end
	assign copy_at = is_up ? 32'd0 : left - {19'd0, copy_chunk};
	assign least_words = room < ahead ? room : ahead;
	assign overdue = watchdog != 0 && cycles[47:0] - began > watchdog;

	logic [33:0] vector_bytes;
	logic [2:0]  vector_low;

	assign vector_bytes = vector_wide ? {`LOW(4), 2'd0} : {2'd0, `LOW(4)};
	assign vector_low = vector_wide ? 3'd3 : 3'd0;

	always_ff @(posedge clk) begin
		read_start <= 0;
		write_start <= 0;
		notify <= 0;
		{look_due, since_look} <= look_due ? {1'b1, since_look} : {1'b0, since_look} + 12'd1;

		if (in_valid)
			case (sink)
			TO_PACKET:
				for (int i = 0; i < 12; i++)
					if (in_index == 10'(i))
						packet[64*i +: 64] <= in_data;
			TO_HOST:
				if (in_index == 0)
					{host_session, host_head} <= in_data;
				else
					{host_wanted, host_waiting} <= in_data;
			TO_WORD: value <= in_data[31:0];
			TO_TEST:
				if (in_data != {~test_word, test_word})
					test_failed <= 1;
			default: ;
			endcase
		if (doorbell)
			doorbell_seen <= 1;
		if (read_failed || write_failed) begin
			bus_failed <= 1;
			bus_address <= read_failed ? read_address : write_address;
		end

		case (step)
		// ---- engines and checks
		READ_WAIT:
			if (in_valid && in_last)
				step <= after;
		WRITE_WAIT:
			if (write_done)
				step <= after;
		CHECK:
			if (check_index == region_count)
				fault(mortise_pkg::FAULT_ADDRESS, check_address, {29'd0, check_access});
			else if (region_fits)
				step <= after_check;
			else
				check_index <= check_index + 1;
		ROWS: step <= ROWS2;
		ROWS2: begin
			check_size <= check_size + product[63:0];
			step <= CHECK;
		end

		// ---- power-on
		BOOT: begin
			state <= mortise_pkg::STATE_RESET;
			store_step <= 0;
			read_host(BOOT_STALE);
		end
		BOOT_STALE: begin
			// what an older host left in memory is not a request
			session <= host_session;
			step <= BOOT_STORE;
		end
		BOOT_STORE: begin
			store_step <= store_step + 1;
			case (store_step)
			4'd0: store(mortise_pkg::IDENTITY, 8, {mortise_pkg::ABI, 32'd0}, BOOT_STORE);
			4'd1: store(mortise_pkg::STATUS + 4, 4, 0, BOOT_STORE);
			4'd2: store(mortise_pkg::COMPLETION, 8, 0, BOOT_STORE);
			4'd3: store(mortise_pkg::FAULT, 4, 0, BOOT_STORE);
			4'd4: store(mortise_pkg::IDENTITY + 8, 8, {32'd32, 32'd0}, BOOT_STORE);
			4'd5: store(mortise_pkg::IDENTITY + 16, 8, {mortise_pkg::VERSION, mortise_pkg::FEATURES}, BOOT_STORE);
			4'd6: store(mortise_pkg::IDENTITY + 24, 8, {32'd0, TICK_HZ}, BOOT_STORE);
			4'd7: store(mortise_pkg::IDENTITY + 32, 8, {32'd0, window}, BOOT_STORE);
			4'd8: store(mortise_pkg::IDENTITY + 40, 8, {32'd0, window_size}, BOOT_STORE);
			4'd9: begin
				state <= mortise_pkg::STATE_READY;
				store(mortise_pkg::STATUS, 4, {61'd0, mortise_pkg::STATE_READY}, BOOT_STORE);
			end
			default: store(mortise_pkg::IDENTITY, 4, {32'd0, mortise_pkg::MAGIC}, POLL);
			endcase
		end

		// ---- nothing to do
		POLL: read_host(POLLED);
		POLLED:
			if (host_session != session) begin
				idle <= 0;
				session <= host_session;
				step <= SESSION_END;
			end else if (state == mortise_pkg::STATE_RUNNING && host_head != at) begin
				idle <= 0;
				step <= RUN;
			end else begin
				step <= BEAT;
			end
		BEAT: begin
			heartbeat <= heartbeat + 1;
			idle <= idle + 1;
			store(mortise_pkg::STATUS + 8, 4, {32'd0, heartbeat + 32'd1}, idle == 16'(IDLE_POLLS) ? SLEEP : POLL);
		end
		SLEEP: begin
			idle <= 0;
			doorbell_seen <= 0;
			store(mortise_pkg::COMPLETION + 4, 4, 64'd1, SLEEP_LOOK);
		end
		SLEEP_LOOK: read_host(SLEEPING);
		SLEEPING:
			if (doorbell_seen || has_work) begin
				asleep <= 0;
				step <= WAKE;
			end else begin
				asleep <= 1;
			end
		WAKE: store(mortise_pkg::COMPLETION + 4, 4, 64'd0, POLL);

		// ---- another session
		SESSION_END: begin
			region_count <= 0;
			after_notify <= SESSION_POSITION;
			store(mortise_pkg::STATUS + 4, 4, 0, SESSION_FAULT);
		end
		SESSION_FAULT: store(mortise_pkg::FAULT, 4, 0, SESSION_OPCODE);
		SESSION_OPCODE: begin
			last_opcode <= mortise_pkg::OP_PAD;
			store(mortise_pkg::STATUS + 16, 4, 0, session == 0 ? SESSION_STATE : SETUP_READ);
		end
		SETUP_READ: read(window + mortise_pkg::CONTROL_OFFSET + mortise_pkg::SETUP, 13'd32, TO_PACKET, SETUP_HEAD);
		SETUP_HEAD: read_host(SETUP_CHECK);
		SETUP_CHECK: begin
			// magic, abi; ring_address; ring_words, ring_start; watchdog_ms, region_count
			ring <= `LOW(1);
			ring_mask <= `LOW(2) - 32'd1;
			factor_a <= {1'b0, `LOW(3)};
			factor_b <= {1'b0, WATCHDOG_TICKS};
			region_number <= 0;
			fault_code <= mortise_pkg::FAULT_SETUP;
			fault_address <= 0;
			step <= FAULT;
			if (`LOW(0) != mortise_pkg::MAGIC) begin
				fault_detail <= 32'd1;
			end else if (packet[63:48] != mortise_pkg::ABI[31:16]) begin
				fault_detail <= 32'd2;
			end else begin
				fault_address <= `WORD(1);
				if (`LOW(2) < 32'd2048 || `LOW(2) > 32'h100000 || (`LOW(2) & (`LOW(2) - 32'd1)) != 0) begin
					fault_detail <= 32'd3;
				end else if (`HIGH(1) != 0 || packet[69:64] != 0 || `LOW(1) < window + mortise_pkg::SHARED_OFFSET
					     || {1'b0, `LOW(1)} + {1'b0, packet[156:128], 3'd0} > window_end) begin
					fault_detail <= 32'd4;
				end else begin
					at <= `HIGH(2);
					if (host_head != `HIGH(2)) begin
						fault_detail <= 32'd5;
					end else if (`HIGH(3) > 32'd16) begin
						fault_detail <= 32'd6;
					end else begin
						check_index <= packet[228:224];
						step <= SETUP_TICKS;
					end
				end
			end
		end
		SETUP_TICKS: step <= SETUP_TICKS2;
		SETUP_TICKS2: begin
			watchdog <= product[47:0];
			step <= REGION_READ;
		end
		REGION_READ:
			if (region_number == check_index)
				step <= SETUP_DONE;
			else
				read(window + mortise_pkg::CONTROL_OFFSET + mortise_pkg::REGIONS
				     + 32'd24 * {27'd0, region_number}, 13'd24, TO_PACKET, REGION_TAKE);
		REGION_TAKE: begin
			fault_address <= `WORD(0);
			fault_detail <= 32'd7;
			fault_code <= mortise_pkg::FAULT_SETUP;
			if (region_valid) begin
				regions[region_number[3:0]] <= {packet[130:128], `LOW(1), `LOW(0)};
				region_number <= region_number + 1;
				step <= REGION_READ;
			end else begin
				step <= FAULT;
			end
		end
		SETUP_DONE: begin
			region_count <= check_index;
			published <= at;
			store(mortise_pkg::COMPLETION, 4, {32'd0, at}, SETUP_RUN);
		end
		SETUP_RUN: begin
			state <= mortise_pkg::STATE_RUNNING;
			store(mortise_pkg::STATUS, 4, {61'd0, mortise_pkg::STATE_RUNNING}, NOTIFY);
		end
		SESSION_STATE: begin
			state <= mortise_pkg::STATE_READY;
			store(mortise_pkg::STATUS, 4, {61'd0, mortise_pkg::STATE_READY}, NOTIFY);
		end
		SESSION_POSITION: store(mortise_pkg::STATUS + 12, 4, {32'd0, at}, SESSION_NUMBER);
		SESSION_NUMBER: begin
			after_notify <= POLL;
			store(mortise_pkg::STATUS + 4, 4, {32'd0, session}, NOTIFY);
		end

		// ---- interrupt a host that sleeps for this
		NOTIFY: read_host(NOTIFIED);
		NOTIFIED: begin
			step <= after_notify;
			if (host_waiting != 0 && host_waiting != answered
			    && (state != mortise_pkg::STATE_RUNNING || !is_before(published, host_wanted))) begin
				answered <= host_waiting;
				notify <= 1;
			end
		end

		// ---- faults; store_step counts the stores
		FAULT: begin
			store_step <= 0;
			// in a session that begins, its number is still to be said
			after_notify <= fault_code == mortise_pkg::FAULT_SETUP ? SESSION_POSITION : POLL;
			published <= at;
			if (published != at)
				store(mortise_pkg::COMPLETION, 4, {32'd0, at}, FAULT_STORE);
			else
				step <= FAULT_STORE;
		end
		FAULT_STORE: begin
			store_step <= store_step + 1;
			case (store_step)
			4'd0: store(mortise_pkg::FAULT, 8, {24'd0, last_opcode, 28'd0, fault_code}, FAULT_STORE);
			4'd1: store(mortise_pkg::FAULT + 8, 8, {fault_detail, at}, FAULT_STORE);
			4'd2: store(mortise_pkg::FAULT + 16, 8, fault_address, FAULT_STORE);
			4'd3: store(mortise_pkg::FAULT + 24, 8, 0, FAULT_STORE);
			default: begin
				state <= mortise_pkg::STATE_FAULTED;
				store(mortise_pkg::STATUS, 4, {61'd0, mortise_pkg::STATE_FAULTED}, NOTIFY);
			end
			endcase
		end

		// ---- a packet is fetched once, and checked where it cannot change any more
		RUN:
			if (host_head - at > ring_mask + 1) begin
				fault(mortise_pkg::FAULT_HEAD, 0, host_head);
			end else begin
				room <= ring_mask + 32'd1 - (at & ring_mask);
				ahead <= host_head - at;
				bus_failed <= 0;
				step <= FETCH;
			end
		FETCH: read(ring + {at[28:0] & ring_mask[28:0], 3'd0},
			    least_words < 32'd12 ? {6'd0, least_words[3:0], 3'd0} : 13'd96, TO_PACKET, DECODE);
		DECODE: begin
			heartbeat <= heartbeat + 1;
			last_opcode <= opcode;
			store(mortise_pkg::STATUS + 8, 8, {at, heartbeat + 32'd1}, OPCODE);
		end
		OPCODE: store(mortise_pkg::STATUS + 16, 4, {56'd0, opcode}, DISPATCH);
		DISPATCH:
			if (`HIGH(0) != at || words == 0 || {16'd0, words} > room || {16'd0, words} > ahead)
				fault(mortise_pkg::FAULT_HEADER, 0, `LOW(0));
			else if (opcode == mortise_pkg::OP_PAD)
				step <= FINISH;
			else if (words > 16'd528 || packet[15:9] != 0)
				fault(mortise_pkg::FAULT_HEADER, 0, `LOW(0));
			else if (words_of(opcode) == 0)
				fault(mortise_pkg::FAULT_OPCODE, 0, {24'd0, opcode});
			else if (words != words_of(opcode))
				bad_field(32'd2);
			else if (takes_long(opcode) && published != at) begin
				// the host shall not wait for what lies in front of a packet that takes long
				published <= at;
				after_notify <= BEGIN;
				store(mortise_pkg::COMPLETION, 4, {32'd0, at}, NOTIFY);
			end else
				step <= BEGIN;
		BEGIN: begin
			began <= cycles[47:0];
			look_due <= 0;
			since_look <= 0;
			case (opcode)
			mortise_pkg::OP_COPY: check(`WORD(1), `WORD(3), mortise_pkg::WRITE, 0, COPY_FROM);
			mortise_pkg::OP_FILL:
				if (`LOW(4) != 1 && `LOW(4) != 2 && `LOW(4) != 4 && `LOW(4) != 8)
					bad_field(32'd32);
				else if ((`LOW(2) & (`LOW(4) - 32'd1)) != 0)
					bad_field(32'd16);
				else if (`HIGH(4) != 0)
					bad_field(32'd36);
				else
					check(`WORD(1), `WORD(2), mortise_pkg::WRITE, packet[64*4 +: 3] - 3'd1, FILL_BEGIN);
			mortise_pkg::OP_WAIT: check(`WORD(1), 64'd4, mortise_pkg::READ, 3'd3, SEMAPHORE);
			mortise_pkg::OP_SIGNAL: check(`WORD(1), 64'd4, mortise_pkg::WRITE, 3'd3, SEMAPHORE);
			mortise_pkg::OP_TIMESTAMP: check(`WORD(1), 64'd8, mortise_pkg::WRITE, 3'd7, STAMP);
			mortise_pkg::OP_VECTOR:
				if (packet[288 +: 8] > 8'd4)
					bad_field(32'd36);
				else if (packet[296 +: 8] > 8'd1)
					bad_field(32'd37);
				else if (packet[304 +: 16] != 0)
					bad_field(32'd38);
				else if (`HIGH(5) != 0)
					bad_field(32'd44);
				else if (!vector_wide && !is_int8(`LOW(5)))
					bad_field(32'd40);
				else
					check(`WORD(1), {30'd0, vector_bytes}, mortise_pkg::WRITE, vector_low, VECTOR_A);
			mortise_pkg::OP_GEMM:
				if (`LOW(5) == 0)
					bad_field(32'd40);
				else if (`HIGH(5) == 0)
					bad_field(32'd44);
				else if (`LOW(6) == 0)
					bad_field(32'd48);
				else if (`HIGH(6) < `LOW(6))
					bad_field(32'd52);
				else if (`LOW(7) < `LOW(6))
					bad_field(32'd56);
				else if (is_wide ? {2'd0, packet[64*7 + 34 +: 30]} < `HIGH(5) || packet[64*7 + 32 +: 2] != 0
						 : `HIGH(7) < `HIGH(5))
					bad_field(32'd60);
				else if (!is_int8(`HIGH(10)))
					bad_field(32'd84);
				else if (!is_int8(`LOW(11)))
					bad_field(32'd88);
				else if (`HIGH(11) != 0)
					bad_field(32'd92);
				else if (!is_wide && (`HIGH(8) == 0 || `HIGH(8) > 32'd62))
					bad_field(32'd68);
				else if (!is_wide && !is_int8(`LOW(9)))
					bad_field(32'd72);
				else if (!is_wide && !is_int8(`HIGH(9)))
					bad_field(32'd76);
				else if (!is_wide && (!is_int8(`LOW(10)) || ceiling < floor))
					bad_field(32'd80);
				else
					check_rows(`WORD(1), `LOW(5), `HIGH(7), {32'd0, `HIGH(5)} << size_bits,
						   mortise_pkg::WRITE, is_wide ? 3'd3 : 3'd0, GEMM_A);
			mortise_pkg::OP_SELFTEST:
				check(`WORD(1), `WORD(2), mortise_pkg::READ | mortise_pkg::WRITE, 3'd7, TEST_BEGIN);
			mortise_pkg::OP_SHUTDOWN: begin
				at <= at + 1;
				published <= at + 1;
				state <= mortise_pkg::STATE_STOPPED;
				store(mortise_pkg::COMPLETION, 4, {32'd0, at + 32'd1}, STOP);
			end
			default: step <= FINISH; // a barrier: each store was complete before the next began
			endcase
		end
		FINISH:
			if (bus_failed) begin
				fault(mortise_pkg::FAULT_TRAP, {32'd0, bus_address}, 0);
			end else begin
				at <= at + {16'd0, words};
				step <= NEXT;
			end
		NEXT:
			if (published != at && (at == host_head || packet[8] || at - published >= 32'd128)) begin
				published <= at;
				after_notify <= NEXT;
				store(mortise_pkg::COMPLETION, 4, {32'd0, at}, NOTIFY);
			end else
				step <= host_session == session && host_head != at ? RUN : POLL;

		// ---- between the parts of work that takes long: does the host still want it
		LOOK: begin
			look_due <= 0;
			since_look <= 0;
			heartbeat <= heartbeat + 1;
			store(mortise_pkg::STATUS + 8, 4, {32'd0, heartbeat + 32'd1}, LOOK_HOST);
		end
		LOOK_HOST: read_host(LOOKED);
		LOOKED:
			if (host_session != session)
				step <= POLL;
			else if (overdue)
				fault(mortise_pkg::FAULT_WATCHDOG, 0, 0);
			else
				step <= after_look;

		// ---- copies
		COPY_FROM: check(`WORD(2), `WORD(3), mortise_pkg::READ, 0, COPY_BEGIN);
		COPY_BEGIN: begin
			to <= `LOW(1);
			from <= `LOW(2);
			left <= `LOW(3);
			is_up <= `LOW(1) <= `LOW(2);
			read_base <= 0;
			write_base <= 0;
			step <= COPY_LOOP;
		end
		COPY_LOOP:
			if (left == 0) begin
				step <= FINISH;
			end else begin
				chunk <= copy_chunk;
				read(from + copy_at, copy_chunk, TO_BUFFER, COPY_WRITE);
			end
		COPY_WRITE: write(to + copy_at, chunk, FROM_BUFFER, COPY_DONE);
		COPY_DONE: begin
			left <= left - {19'd0, chunk};
			if (is_up) begin
				to <= to + {19'd0, chunk};
				from <= from + {19'd0, chunk};
			end
			look(COPY_LOOP);
		end

		// ---- fills
		FILL_BEGIN: begin
			to <= `LOW(1);
			left <= `LOW(2);
			step <= FILL_LOOP;
		end
		FILL_LOOP:
			if (left == 0) begin
				step <= FINISH;
			end else begin
				chunk <= fill_chunk;
				case (packet[64*4 +: 4])
				4'd1:	 pattern <= {8{packet[64*3 +: 8]}};
				4'd2:	 pattern <= {4{packet[64*3 +: 16]}};
				4'd4:	 pattern <= {2{`LOW(3)}};
				default: pattern <= `WORD(3);
				endcase
				write(to, fill_chunk, FROM_DATA, FILL_DONE);
			end
		FILL_DONE: begin
			left <= left - {19'd0, chunk};
			to <= to + {19'd0, chunk};
			look(FILL_LOOP);
		end

		// ---- semaphores, timestamps
		SEMAPHORE:
			if (`HIGH(2) != 0) begin
				bad_field(32'd20);
			end else if (opcode == mortise_pkg::OP_SIGNAL) begin
				pattern <= {32'd0, `LOW(2)};
				write(`LOW(1), 13'd4, FROM_DATA, FINISH);
			end else
				step <= SEMAPHORE_READ;
		SEMAPHORE_READ: read(`LOW(1), 13'd4, TO_WORD, SEMAPHORE_LOOK);
		SEMAPHORE_LOOK:
			if (is_before(value, `LOW(2))) begin
				after_look <= SEMAPHORE_READ;
				step <= LOOK;
			end else
				step <= FINISH;
		STAMP: begin
			pattern <= cycles;
			write(`LOW(1), 13'd8, FROM_DATA, FINISH);
		end

		// ---- elementwise operations: the first operand is in the buffer when the second one comes
		VECTOR_A: check(`WORD(2), {30'd0, vector_bytes}, mortise_pkg::READ, vector_low, VECTOR_B);
		VECTOR_B:
			if (`WORD(3) != 0)
				check(`WORD(3), {30'd0, vector_bytes}, mortise_pkg::READ, vector_low, VECTOR_BEGIN);
			else
				step <= VECTOR_BEGIN;
		VECTOR_BEGIN: begin
			to <= `LOW(1);
			from <= `LOW(2);
			other <= `LOW(3);
			left <= vector_bytes[31:0];
			read_base <= 0;
			write_base <= 0;
			step <= VECTOR_LOOP;
		end
		VECTOR_LOOP:
			if (left == 0) begin
				step <= FINISH;
			end else begin
				chunk <= copy_chunk;
				if (`WORD(3) != 0)
					read(from, copy_chunk, TO_BUFFER, VECTOR_READ_B);
				else
					read(from, copy_chunk, TO_VECTOR, VECTOR_WRITE);
			end
		VECTOR_READ_B: read(other, chunk, TO_VECTOR, VECTOR_WRITE);
		VECTOR_WRITE: write(to, chunk, FROM_BUFFER, VECTOR_DONE);
		VECTOR_DONE: begin
			left <= left - {19'd0, chunk};
			to <= to + {19'd0, chunk};
			from <= from + {19'd0, chunk};
			other <= other + {19'd0, chunk};
			look(VECTOR_LOOP);
		end

		// ---- the test of memory: a pattern, then its complement
		TEST_BEGIN:
			if (packet[64*2 +: 3] != 0) begin
				bad_field(32'd16);
			end else begin
				inverted <= 0;
				test_failed <= 0;
				to <= `LOW(1);
				left <= `LOW(2);
				step <= TEST_WRITE;
			end
		TEST_WRITE:
			if (left == 0) begin
				to <= `LOW(1);
				left <= `LOW(2);
				step <= TEST_READ;
			end else begin
				chunk <= fill_chunk;
				write(to, fill_chunk, FROM_ADDRESS, TEST_WRITTEN);
			end
		TEST_WRITTEN: begin
			left <= left - {19'd0, chunk};
			to <= to + {19'd0, chunk};
			look(TEST_WRITE);
		end
		TEST_READ:
			if (left != 0) begin
				chunk <= fill_chunk;
				read(to, fill_chunk, TO_TEST, TEST_DONE);
			end else if (test_failed) begin
				fault(mortise_pkg::FAULT_SELFTEST, `WORD(1), 32'd4);
			end else if (inverted) begin
				step <= FINISH;
			end else begin
				inverted <= 1;
				to <= `LOW(1);
				left <= `LOW(2);
				step <= TEST_WRITE;
			end
		TEST_DONE: begin
			left <= left - {19'd0, chunk};
			to <= to + {19'd0, chunk};
			look(TEST_READ);
		end

		// ---- matrix products: tiles of 4 rows and 32 columns, parts of k
		GEMM_A: check_rows(`WORD(2), `LOW(5), `HIGH(6), {32'd0, `LOW(6)}, mortise_pkg::READ, 0, GEMM_B);
		GEMM_B: check_rows(`WORD(3), `HIGH(5), `LOW(7), {32'd0, `LOW(6)}, mortise_pkg::READ, 0, GEMM_BIAS);
		GEMM_BIAS:
			if (`WORD(4) != 0)
				check(`WORD(4), {30'd0, `HIGH(5), 2'd0}, mortise_pkg::READ, 3'd3, GEMM_BEGIN);
			else
				step <= GEMM_BEGIN;
		GEMM_BEGIN: begin
			rows_left <= `LOW(5);
			a_tile <= `LOW(2);
			to_rows <= `LOW(1);
			step <= GEMM_TILE;
		end
		GEMM_TILE: begin
			tile_rows <= rows_left < 32'd4 ? rows_left[2:0] : 3'd4;
			columns_left <= `HIGH(5);
			b_tile <= `LOW(3);
			bias_tile <= `LOW(4);
			to_tile <= to_rows;
			is_first_tile <= 1;
			step <= GEMM_COLUMNS;
		end
		GEMM_COLUMNS: begin
			tile_columns <= columns_left < COLUMNS ? columns_left[5:0] : COLUMNS[5:0];
			k_left <= `LOW(6);
			k_at <= 0;
			fresh <= 1;
			read_base <= {BIAS_AT, 1'b0};
			if (`WORD(4) != 0)
				read(bias_tile, columns_left < COLUMNS ? {5'd0, columns_left[5:0], 2'd0} : 13'd128,
				     TO_BUFFER, GEMM_PART);
			else
				step <= GEMM_PART;
		end
		GEMM_PART: begin
			part <= least(k_left, PART[12:0]);
			row <= 0;
			a_at <= a_tile + k_at;
			b_at <= b_tile + k_at;
			issued <= 0;
			received <= 0;
			// rows of the first matrix stay where all of k fits
			step <= is_first_tile || `LOW(6) > PART ? GEMM_LOAD : GEMM_FEED;
		end
		GEMM_LOAD:
			if (row == tile_rows)
				step <= GEMM_FEED;
			else
				read(a_at, part, TO_ROWS, GEMM_LOADED);
		GEMM_LOADED: begin
			row <= row + 1;
			a_at <= a_at + `HIGH(6);
			step <= GEMM_LOAD;
		end
		GEMM_FEED: begin
			sink <= TO_DOT;
			if (issued != tile_columns && read_ready && !read_start) begin
				read_start <= 1;
				read_address <= b_at;
				read_length <= part;
				issued <= issued + 1;
				b_at <= b_at + `LOW(7);
			end
			if (in_valid && in_last)
				received <= received + 1;
			if (received == tile_columns && !dot_busy) begin
				fresh <= 0;
				k_left <= k_left - {19'd0, part};
				k_at <= k_at + {19'd0, part};
				scale_row <= 0;
				scale_column <= 0;
				step <= k_left == {19'd0, part} ? GEMM_SCALE : GEMM_PART;
			end
		end
		GEMM_SCALE: begin
			row <= 0;
			to_at <= to_tile;
			factor_a <= {sum[31], sum};
			factor_b <= {packet[64*8 + 31], `LOW(8)};
			if (scale_row != tile_rows) begin
				if (scale_column + 6'd1 == tile_columns) begin
					scale_column <= 0;
					scale_row <= scale_row + 1;
				end else
					scale_column <= scale_column + 1;
			end else if (!scale1 && !scale2 && !scale3)
				step <= GEMM_WRITE;
		end
		GEMM_WRITE:
			if (row == tile_rows) begin
				step <= GEMM_NEXT;
			end else begin
				write_base <= RESULT_AT + {1'b0, row[1:0], 4'd0};
				write(to_at, {7'd0, tile_columns} << size_bits, FROM_BUFFER, GEMM_WRITTEN);
			end
		GEMM_WRITTEN: begin
			row <= row + 1;
			to_at <= to_at + `HIGH(7);
			step <= GEMM_WRITE;
		end
		GEMM_NEXT: begin
			columns_left <= columns_left - {26'd0, tile_columns};
			is_first_tile <= 0;
			b_tile <= b_tile + {packet[64*7 +: 27], 5'd0};
			bias_tile <= bias_tile + 32'd128;
			to_tile <= to_tile + (COLUMNS << size_bits);
			if (columns_left != {26'd0, tile_columns}) begin
				look(GEMM_COLUMNS);
			end else begin
				rows_left <= rows_left - {29'd0, tile_rows};
				a_tile <= a_tile + {packet[64*6 + 32 +: 30], 2'd0};
				to_rows <= to_rows + {packet[64*7 + 32 +: 30], 2'd0};
				if (rows_left == {29'd0, tile_rows})
					step <= FINISH;
				else
					look(GEMM_TILE);
			end
		end

		// ---- the end; only a reset helps
		STOP: begin
			after_notify <= STOPPED;
			store(mortise_pkg::STATUS, 4, {61'd0, mortise_pkg::STATE_STOPPED}, NOTIFY);
		end
		STOPPED: asleep <= 1;
		default: step <= BOOT;
		endcase

		if (rst) begin
			step <= BOOT;
			state <= mortise_pkg::STATE_RESET;
			asleep <= 0;
			doorbell_seen <= 0;
			bus_failed <= 0;
			region_count <= 0;
			at <= 0;
			published <= 0;
			answered <= 0;
			heartbeat <= 0;
			idle <= 0;
			watchdog <= 0;
			last_opcode <= mortise_pkg::OP_PAD;
			look_due <= 0;
			since_look <= 0;
		end
	end

`undef WORD
`undef LOW
`undef HIGH
endmodule
