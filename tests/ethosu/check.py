#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check Ethos-U command streams a second time, and compare the verdicts with those of tenon verify.

Written from the description of the streams, not from Tenon's sources: the two share no code and few
ideas. Feature maps are bounded by looking at the corners of runs of elements rather than by formulas
for tiles; setters are a dictionary.

  check.py one FILE [N=BYTES]...      print the verdict: "ok" and the extents, or the offset
  check.py mutants SEED COUNT FILE...   write COUNT damaged copies with their verdicts to standard output
  check.py streams SEED COUNT         write COUNT payloads that are made by chance, in the same way
"""
import random
import struct
import sys

U55, U65, U85 = 0, 1, 2
ADDRESS = 1 << 40


class Refused(Exception):
    def __init__(self, at, why):
        super().__init__(why)
        self.at = at


# ---- containers: (config, stream, offset of the stream)

def known_target(config, at):
    product, version = config >> 28, config >> 4 & 15
    if product > U85 or version != (1 if product == U85 else 0):
        raise Refused(at, "target")
    if product == U85 and config >> 12 & 3 > 2:
        raise Refused(at, "decoders")
    return config


def cop1(data):
    if len(data) % 4:
        raise Refused(4, "size")
    words = struct.unpack("<%dI" % (len(data) // 4), data)
    at, config, stream = 1, None, None
    while at < len(words):
        word = words[at]
        if word == 5:
            at += 1
        elif word & 0xffff == 1:
            if config is not None:
                raise Refused(4 * at, "second configuration")
            if at + 1 >= len(words):
                raise Refused(4 * at + 4, "short")
            if at + 2 >= len(words):
                raise Refused(4 * at + 8, "short")
            config = known_target(words[at + 1], 4 * at + 4)
            at += 3
        elif word & 0xff == 2:
            size = 4 * ((word >> 8 & 0xff) << 16 | word >> 16)
            if config is None:
                raise Refused(4 * at, "no configuration")
            at += 1
            if stream is not None or not size or at % 4 or 4 * at + size > len(data):
                raise Refused(4 * at, "stream")
            stream = (data[4 * at:4 * at + size], 4 * at)
            at += size // 4
        else:
            raise Refused(4 * at, "tag")
    if stream is None:
        raise Refused(len(data), "no stream")
    return (config,) + stream


def cop2(data):
    def word(at, size=4):
        if at + size > len(data):
            raise Refused(at, "short")
        return int.from_bytes(data[at:at + size], "little")

    if word(4) != 1:
        raise Refused(4, "version")
    if word(8, 8) != len(data) - 16:
        raise Refused(8, "size")
    if word(16) != 1:
        raise Refused(16, "type")
    if word(20) != len(data) - 24:
        raise Refused(20, "entry size")
    length = word(24)
    if length < 32 or length > len(data) - 28:
        raise Refused(24, "metadata size")
    if data[28:32] != b"VEUM":
        raise Refused(28, "magic")
    if word(32) != 1:
        raise Refused(32, "metadata version")
    if word(36) != 20:
        raise Refused(36, "metadata rest")
    config = known_target(word(40), 40)
    if word(48) not in (1, 2):
        raise Refused(48, "addressing")
    at = 28 + length
    size = len(data) - at
    if not size or size % 4 or at % 16:
        raise Refused(at, "stream")
    return config, data[at:], at


def container(data):
    if data[:4] == b"COP1":
        return cop1(data)
    if data[:4] == b"COP2":
        return cop2(data)
    raise Refused(0, "magic")


# ---- commands

ALL = {
    0x000: "STOP", 0x001: "IRQ", 0x002: "CONV", 0x003: "DEPTHWISE", 0x005: "POOL", 0x006: "ELEMENTWISE",
    0x010: "DMA_START", 0x011: "DMA_WAIT", 0x012: "KERNEL_WAIT", 0x013: "PMU_MASK",
    0x100: "PAD_TOP", 0x101: "PAD_LEFT", 0x102: "PAD_RIGHT", 0x103: "PAD_BOTTOM", 0x104: "IFM_DEPTH",
    0x105: "IFM_PRECISION", 0x107: "UPSCALE", 0x109: "IFM_ZERO", 0x10a: "IFM_W0", 0x10b: "IFM_H0",
    0x10c: "IFM_H1", 0x10f: "IFM_REGION", 0x111: "OFM_WIDTH", 0x112: "OFM_HEIGHT", 0x113: "OFM_DEPTH",
    0x114: "OFM_PRECISION", 0x115: "BLK_W", 0x116: "BLK_H", 0x117: "BLK_D", 0x118: "OFM_ZERO",
    0x11a: "OFM_W0", 0x11b: "OFM_H0", 0x11c: "OFM_H1", 0x11f: "OFM_REGION", 0x120: "KERNEL_W",
    0x121: "KERNEL_H", 0x122: "STRIDE", 0x124: "ACC", 0x125: "ACTIVATION", 0x126: "MIN", 0x127: "MAX",
    0x128: "WEIGHT_REGION", 0x129: "SCALE_REGION", 0x12f: "BLOCKDEP", 0x130: "SRC_REGION",
    0x131: "DST_REGION", 0x132: "SIZE0", 0x133: "SIZE1", 0x180: "BROADCAST2", 0x185: "IFM2_PRECISION",
    0x189: "IFM2_ZERO", 0x18a: "IFM2_W0", 0x18b: "IFM2_H0", 0x18c: "IFM2_H1", 0x18f: "IFM2_REGION",
    0x4020: "WEIGHT0", 0x4021: "WEIGHT0_LEN", 0x4022: "SCALE0", 0x4023: "SCALE0_LEN",
    0x4024: "OFM_SCALE", 0x4025: "OPA", 0x4026: "OPB", 0x4030: "SRC", 0x4031: "DST", 0x4032: "LEN",
}
for _name, _code in (("IFM", 0x4000), ("OFM", 0x4010), ("IFM2", 0x4080)):
    for _i, _part in enumerate(("BASE0", "BASE1", "BASE2", "BASE3", "SX", "SY", "SC")):
        ALL[_code + _i] = _name + "_" + _part
OLD = {0x10d: "IB_END", 0x12d: "AB_START", 0x181: "SCALAR", 0x18d: "IB2", 0x4033: "SKIP0", 0x4034: "SKIP1"}
ONLY65 = {0x123: "PARALLEL", 0x4090: "WEIGHT1", 0x4091: "WEIGHT1_LEN", 0x4092: "SCALE1", 0x4093: "SCALE1_LEN"}
ONLY85 = {
    0x007: "RESIZE", 0x108: "BROADCAST1", 0x12a: "X_SCALE", 0x12b: "Y_SCALE", 0x12c: "X_OFFSET", 0x12d: "Y_OFFSET", 0x12e: "WEIGHT_FORMAT",
    0x134: "UNBOUNDED", 0x4027: "SCALAR", 0x4033: "SRC_S0", 0x4034: "SRC_S1", 0x4035: "DST_S0", 0x4036: "DST_S1",
    0x4037: "UNBOUNDED", 0x4038: "UNBOUNDED", 0x4039: "UNBOUNDED", 0x4090: "WEIGHT1", 0x4091: "WEIGHT1_LEN",
    0x4092: "WEIGHT2", 0x4093: "WEIGHT2_LEN", 0x4094: "WEIGHT3", 0x4095: "WEIGHT3_LEN", 0x4096: "X_STEP",
    0x4097: "Y_STEP", 0x4100: "UNBOUNDED",
}
COMMANDS = {U55: {**ALL, **OLD}, U65: {**ALL, **OLD, **ONLY65}, U85: {**ALL, **ONLY85}}
WIDE = {"OFM_SCALE", "OPA", "OPB", "X_STEP", "Y_STEP"}    # whose parameter is no part of an address
LAST_KIND = {U55: 2, U65: 2, U85: 7}
# bytes of a table by its kind, and the axes of an output as it has them in memory
U85_TABLES = {1: 256, 4: 256, 5: 512, 7: 1024, 8: 2048, 9: 2048, 10: 2048, 11: 2048}
U85_ORDERS = {0: (0, 1, 2), 1: (1, 0, 2), 2: (0, 2, 1), 3: (1, 2, 0), 6: (2, 0, 1), 7: (2, 1, 0)}
KINDS = {U55: set(range(10)), U65: set(range(10)),
         U85: set(range(12)) | set(range(16, 20)) | {33, 34, 35, 36, 42}}


class Stream:
    def __init__(self, config, data, offset, sizes):
        self.product = config >> 28
        self.config = config
        self.data, self.offset, self.sizes = data, offset, sizes
        self.set = {}
        self.transfers, self.complete = 0, 0
        self.loaded = {}     # pieces of 256 bytes of the internal memory: the transfer that filled them
        self.read, self.write = [0] * 8, [0] * 8
        self.at = 0

    def refuse(self, why):
        raise Refused(self.offset + self.at, why)

    def get(self, name):
        if name not in self.set:
            self.refuse("needs " + name)
        return self.set[name]

    def need(self, *names):
        for name in names:
            self.get(name)

    # -- memory

    def touch(self, region, end, write=False):
        if region > 7 or end > ADDRESS or (self.sizes[region] is not None and end > self.sizes[region]):
            self.refuse("region %d to %d" % (region, end))
        side = self.write if write else self.read
        side[region] = max(side[region], end)

    def map(self, name, height, width, depth, write=False):
        precision = self.get(name + "_PRECISION")
        storage = precision >> 14 if self.product == U85 else 0
        if storage >= 2:
            return
        self.need(name + "_REGION", *(name + "_BASE%d" % i for i in range(4)))
        self.need(*(name + "_" + s for s in ("SX", "SY", "SC", "W0", "H0", "H1")))
        element = 1 << (precision >> (1 if name == "OFM" else 2) & 3)
        bricks = precision >> 6 & 3
        sx, sy, sc = (self.get(name + "_" + s) for s in ("SX", "SY", "SC"))
        if bricks > 1 or sy >> 39 or (sc if bricks else sx) >> 39:
            self.refuse("map")
        w0, h0, h1 = (self.get(name + "_" + s) + 1 for s in ("W0", "H0", "H1"))

        def place(y, x):
            """tile of an element, and its place in the tile"""
            if storage == 1:
                if y >= h1:
                    return 2, y - h1, x
                return (1, y - h0, x) if y >= h0 else (0, y, x)
            if x < w0:
                return (0, y, x) if y < h0 else (2, y - h0, x)
            return (1, y, x - w0) if y < h1 else (3, y - h1, x - w0)

        # coordinates where tiles begin or end
        ys = {y for edge in (h0, h1, height) for y in (edge - 1, edge) if 0 <= y < height} | {0}
        xs = {x for edge in (w0, width) for x in (edge - 1, edge) if 0 <= x < width} | {0}
        for y in ys:
            for x in xs:
                tile, ty, tx = place(y, x)
                start = self.get(name + "_BASE%d" % tile) + ty * sy
                if bricks:
                    inner = max(c // 16 * sc + (16 * tx + c % 16) * element
                                for c in range(max(0, depth - 17), depth))
                else:
                    inner = tx * sx + (depth - 1) * element
                self.touch(self.get(name + "_REGION"), start + inner + element, write)

    # -- operations

    def kernel_input(self):
        self.need("IFM_DEPTH", "PAD_TOP", "PAD_LEFT", "PAD_RIGHT", "PAD_BOTTOM", "KERNEL_W", "KERNEL_H", "STRIDE")
        pads = [self.get(p) for p in ("PAD_TOP", "PAD_BOTTOM", "PAD_LEFT", "PAD_RIGHT")]
        stride, upscale = self.get("STRIDE"), self.get("UPSCALE")
        if max(pads) > 127 or upscale > 2 or stride & 0xfd80:
            self.refuse("kernel")
        sx, sy = 1 + (stride & 1) + 2 * (stride >> 6 & 1), 1 + (stride >> 1 & 1) + 2 * (stride >> 9 & 1)
        h = self.get("OFM_HEIGHT") * sy + self.get("KERNEL_H") + 1 - pads[0] - pads[1]
        w = self.get("OFM_WIDTH") * sx + self.get("KERNEL_W") + 1 - pads[2] - pads[3]
        if h <= 0 or w <= 0:
            self.refuse("empty input")
        if upscale:
            h, w = -(-h // 2), -(-w // 2)
        self.map("IFM", h, w, self.get("IFM_DEPTH") + 1)

    def bytes_of(self, name, region):
        length = self.set.get(name + "_LEN", 0)
        if length:
            self.touch(self.get(region), self.get(name) + length)

    def weights(self):
        self.need("WEIGHT_REGION", "WEIGHT0", "WEIGHT0_LEN", "SCALE_REGION", "SCALE0", "SCALE0_LEN")
        if self.product == U65 and self.set.get("PARALLEL"):
            self.need("WEIGHT1", "WEIGHT1_LEN", "SCALE1", "SCALE1_LEN")
        if self.product == U85:
            self.need("WEIGHT_FORMAT")
            for i in range(1, 1 << (self.config >> 12 & 3)):
                self.need("WEIGHT%d_LEN" % i)
        for i in range(4):
            self.bytes_of("WEIGHT%d" % i, "WEIGHT_REGION")
        if not self.get("OFM_PRECISION") & 0x100:
            self.bytes_of("SCALE0", "SCALE_REGION")
            self.bytes_of("SCALE1", "SCALE_REGION")

    def output(self, box):
        precision = self.get("OFM_PRECISION")
        if self.product == U85 and precision >> 14 < 2:
            order = U85_ORDERS.get(precision >> 11 & 7)
            if not order:
                self.refuse("order of axes")
            box = [box[i] for i in order]
        self.map("OFM", *box, write=True)

    def operation(self, op, kind):
        self.need("OFM_WIDTH", "OFM_HEIGHT", "OFM_DEPTH", "OFM_PRECISION", "OFM_ZERO", "BLK_W", "BLK_H", "BLK_D",
                  "ACTIVATION", "MIN", "MAX", "ACC", "BLOCKDEP", "IFM_PRECISION", "IFM_ZERO", "UPSCALE")
        if self.product != U85:
            self.need("IB_END", "AB_START")
        function = self.get("ACTIVATION") & 31
        if function > (0 if self.product == U85 else 15):
            number = self.get("ACTIVATION") >> 5 & 7 if self.product == U85 else function - 16
            size = {0: 256, 1: 2048, 2: 1024, 3: 2048}[self.get("OFM_PRECISION") >> 1 & 3]
            if self.product == U85:
                size = U85_TABLES.get(function)
                if not size:
                    self.refuse("activation")
            for place in range(number * size, number * size + size, 256):
                if place >= 2048 or not 0 < self.loaded.get(place // 256, 0) <= self.complete:
                    self.refuse("table")
        box = [self.get("OFM_" + n) + 1 for n in ("HEIGHT", "WIDTH", "DEPTH")]
        self.output(box)
        if op in ("CONV", "DEPTHWISE"):
            if kind:
                self.refuse("weights of a map")
            self.kernel_input()
            self.weights()
        elif op == "POOL":
            if kind > LAST_KIND[self.product]:
                self.refuse("pool")
            self.need("OFM_SCALE")
            self.kernel_input()
            if self.product == U85 and not self.get("OFM_PRECISION") & 0x100:
                self.need("SCALE_REGION", "SCALE0", "SCALE0_LEN")
                self.bytes_of("SCALE0", "SCALE_REGION")
        elif op == "RESIZE":
            if kind > 2:
                self.refuse("mode")
            self.need("IFM_DEPTH", "KERNEL_W", "KERNEL_H", "OFM_SCALE", "X_SCALE", "Y_SCALE", "X_OFFSET", "Y_OFFSET", "X_STEP", "Y_STEP")
            if self.get("UPSCALE"):
                self.refuse("upscale")
            # the edge is where the kernel ends
            self.map("IFM", self.get("KERNEL_H") + 1, self.get("KERNEL_W") + 1, self.get("IFM_DEPTH") + 1)
        else:
            self.elementwise(kind, box)

    def operand(self, name, box, broadcast):
        self.map(name, *(1 if broadcast >> i & 1 else n for i, n in enumerate(box)))

    def elementwise(self, kind, box):
        if kind not in KINDS[self.product]:
            self.refuse("kind")
        self.need("OFM_SCALE")
        if kind in (1, 2):
            self.need("OPA", "OPB")
        first = self.get("BROADCAST1") if self.product == U85 else 0
        if first & 8:
            self.need("SCALAR")
        else:
            self.operand("IFM", box, first)
        if kind in (5, 6, 7, 36):
            return
        self.need("BROADCAST2", "IFM2_PRECISION", "IFM2_ZERO")
        second = self.get("BROADCAST2")
        if second & (8 if self.product == U85 else 0x80):
            self.need("SCALAR")
        else:
            self.operand("IFM2", box, second)

    def dma(self):
        self.need("SRC_REGION", "DST_REGION", "SRC", "DST", "LEN")
        if self.product == U85:
            self.need("SIZE0")
        self.transfers += 1
        source, target, length = self.get("SRC_REGION"), self.get("DST_REGION"), self.get("LEN")
        dimensions = source >> 9 & 3
        if dimensions == 3 or (dimensions and self.product != U85):
            self.refuse("dimensions")
        sizes = [self.get("SIZE%d" % i) for i in range(dimensions)]
        if 0 in sizes:
            self.refuse("no repetition")
        for name, region, known in (("SRC", source, 0x707), ("DST", target, 0x107)):
            strides = [self.get("%s_S%d" % (name, i)) for i in range(dimensions)]
            if region & ~known or (length and any(s >> 39 for s in strides)):
                self.refuse("side")
            extent = length + sum((n - 1) * s for n, s in zip(sizes, strides)) if length else 0
            start = self.get(name)
            if region & 0x100:
                if self.product == U85:
                    low, high = 0, 2048
                else:
                    high = (self.config >> 8 & 255) * 1024 // (2 if self.cores() == 2 else 1)
                    low = high - 2048
                if low < 0 or start < low or start + extent > high:
                    self.refuse("internal memory")
                if name == "DST" and extent:
                    first, last = start - low, start - low + extent - 1
                    self.loaded.update((piece, self.transfers) for piece in range(first // 256, last // 256 + 1))
            elif extent:
                self.touch(region & 7, start + extent, name == "DST")

    def cores(self):
        return 2 if self.product == U65 and (self.config & 15) > 8 else 1

    def run(self):
        names = COMMANDS[self.product]
        while True:
            if self.at >= len(self.data):
                self.refuse("no OP_STOP")
            first = struct.unpack_from("<I", self.data, self.at)[0]
            code, param = first & 0xffff, first >> 16
            if code not in names:
                self.refuse("unknown command %04x" % code)
            name, size, value = names[code], 4, param
            if code & 0x4000:
                size = 8
                if self.at + 8 > len(self.data):
                    self.refuse("half a command")
                value = struct.unpack_from("<I", self.data, self.at + 4)[0]
                if name.endswith("_LEN"):
                    if param:
                        self.refuse("length")
                elif name not in WIDE and code != 0x4027:
                    if param > 255:
                        self.refuse("address")
                    value |= param << 32
            if name == "UNBOUNDED":
                self.refuse("unbounded")
            if name in ("CONV", "DEPTHWISE", "POOL", "ELEMENTWISE", "RESIZE"):
                self.operation(name, param)
            elif name == "DMA_START":
                self.dma()
            elif name == "DMA_WAIT":
                self.complete = max(self.complete, self.transfers - param)
            elif name == "STOP":
                self.at += size
                if self.at != len(self.data):
                    self.refuse("bytes after OP_STOP")
                return
            elif code > 0x13:
                self.set[name] = value
            self.at += size


def verdict(data, sizes):
    try:
        stream = Stream(*container(data), sizes)
        stream.run()
        return "ok %s %s" % (" ".join(map(str, stream.read)), " ".join(map(str, stream.write)))
    except Refused as refused:
        return "refused 0x%x" % refused.at


# ---- damage

def damage(data, rng):
    data = bytearray(data)
    words = len(data) // 4
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        at = 4 * rng.randrange(words)
        how = rng.randrange(9)
        if how == 0:
            data[at + rng.randrange(4)] ^= 1 << rng.randrange(8)
        elif how == 1:
            data[at + rng.randrange(4)] = rng.randrange(256)
        elif how == 2:
            struct.pack_into("<I", data, at, rng.choice((0, 1, 0xffffffff, 0x80000000, 0x7fffffff, rng.getrandbits(32))))
        elif how == 3:
            other = 4 * rng.randrange(words)
            data[at:at + 4], data[other:other + 4] = data[other:other + 4], data[at:at + 4]
        elif how == 4:
            code = rng.choice(sorted(set(ALL) | set(OLD) | set(ONLY65) | set(ONLY85)))
            struct.pack_into("<H", data, at, code)
        elif how == 5:
            struct.pack_into("<H", data, at + 2, rng.choice((0, 1, 2, 7, 8, 15, 255, 256, rng.getrandbits(16))))
        elif how == 6:
            other = 4 * rng.randrange(words)
            data[at:at + 4] = data[other:other + 4]
        elif how == 7:
            del data[at:at + 4 * rng.randrange(1, 3)]
            words = len(data) // 4
        else:
            value = struct.unpack_from("<I", data, at)[0]
            struct.pack_into("<I", data, at, (value + rng.choice((-16, -1, 1, 16, 1 << 16, 1 << 20))) & 0xffffffff)
        if words < 2:
            break
    return bytes(data)


def repaired(data):
    """COP1 after words came or went: the length of the stream is right again, so that damage inside is seen."""
    if data[:4] == b"COP1" and len(data) > 32 and data[28] == 2:
        words = (len(data) - 32) // 4
        data = data[:28] + struct.pack("<I", 2 | (words >> 16 & 0xff) << 8 | (words & 0xffff) << 16) + data[32:]
    return data


def record(data, limits, out):
    """Write size, limits (2^64 - 1: none), offset of the fault (2^64 - 1: none), extents, bytes."""
    none = (1 << 64) - 1
    words = verdict(data, limits).split()
    refused = words[0] == "refused"
    out.write(struct.pack("<26Q", len(data), *(none if n is None else n for n in limits),
                          int(words[1], 16) if refused else none,
                          *([0] * 16 if refused else map(int, words[1:]))))
    out.write(data)


def mutants(seed, count, files, out):
    """One record for each."""
    rng = random.Random(seed)
    sources = []
    for path in files:
        with open(path, "rb") as file:
            data = file.read()
        words = verdict(data, [None] * 8).split()
        sources.append((data, [max(int(words[1 + i]), int(words[9 + i])) for i in range(8)]))
    for i in range(count):
        data, sizes = sources[i % len(sources)]
        data = damage(data, rng)
        if rng.randrange(4):
            data = repaired(data)
        record(data, sizes if rng.randrange(2) else [None] * 8, out)


# ---- payloads by chance: each has all setters but a few, and operations of every kind

CONFIGS = (0x1807, 0x10003008, 0x10006009, 0x20000117, 0x20000118, 0x20001119, 0x2000251a)
ODD = (0, 1, 3, 7, 8, 15, 16, 127, 128, 255, 256, 0x4000, 0x8000, 0xc000, 0xffff)
ODD_WIDE = (0, 1, 255, 1 << 20, 1 << 32, 1 << 39, ADDRESS - 1, ADDRESS - 256)
ORDERS = (0,) * 10 + (1, 2, 3, 6, 7) * 2 + (4, 5)


def precision(name, product, rng):
    value = rng.randrange(3) << (1 if name == "OFM_PRECISION" else 2) | rng.randrange(2) | rng.choice((0, 0, 0x40))
    if product == U85:
        value |= rng.choice((0, 0, 0, 0x4000))
    if name == "OFM_PRECISION":
        value |= rng.choice((0, 0x100))
        if product == U85:
            value |= rng.choice(ORDERS) << 11
    return value


def scale(product, rng):
    """A multiplier, a shift, and on U85 how it is rounded."""
    shift, multiplier = rng.choice(((0, 1), (0, 1), (30, 1 << 30), (40, 0x60000000), (63, 0x7fffffff), (5, 33)))
    if product == U85:
        shift |= rng.choice((0, 0, 1, 1, 3, 4, 5, 2)) << 13
    return shift << 32 | multiplier


def usual(name, product, rng):
    """A value that the check takes for most operations."""
    if name.endswith("_PRECISION"):
        return precision(name, product, rng)
    if name in ("IFM_DEPTH", "OFM_DEPTH"):
        return rng.choice((0, 3, 15, 16, 40))
    if name.startswith("PAD_"):
        return rng.choice((0, 0, 1))
    if name == "STRIDE":
        return rng.choice((0, 0, 3, 2, 1, 0x240))
    if name == "UPSCALE":
        return rng.choice((0, 0, 0, 1, 2))
    if name == "ACTIVATION":
        return 0
    if name in ("MIN", "MAX"):
        return {"MIN": 0x8000, "MAX": 0x7fff}[name]
    if name.startswith("BROADCAST"):
        return rng.choice((0, 0, 1, 2, 4, 7, 8 if product == U85 else 0x80))
    if name.endswith("_REGION"):
        return rng.randrange(8)
    if name in ("OPA", "OPB", "OFM_SCALE"):
        return scale(product, rng)
    if name in ("X_STEP", "Y_STEP"):
        return rng.choice((0, 1, 1, 2)) << 32 | rng.choice((0, 0, 1, 3))
    if name in ("X_OFFSET", "Y_OFFSET"):
        return rng.choice((0, 0, 1, 0xfff))
    if name in ("BLK_W", "BLK_H", "BLK_D"):
        return rng.choice((0, 0, 0, 7))
    if name.endswith("_ZERO"):
        return rng.choice((0, 0, 0, 1, 0xffff, 0x7fff))
    if name.endswith(("_SX", "_SY", "_SC")):
        return rng.choice((0, 1, 16, 128))
    if "BASE" in name:
        return rng.choice((0, 0, 16, 512))
    if name.endswith("_LEN") or name == "LEN":
        return rng.choice((0, 16, 64, 256))
    return rng.randrange(8)


def command(code, value):
    if code & 0x4000:
        return struct.pack("<HHI", code, value >> 32 & 0xffff, value & 0xffffffff)
    return struct.pack("<HH", code, value & 0xffff)


def table(product, config, rng):
    """Load tables, wait for them, and use one."""
    high = 2048 if product == U85 else (config >> 8 & 255) * 1024 // (2 if config == 0x10006009 else 1)
    size = rng.choice((2048, 2048, 2048, 256, 2304))
    kind = rng.choice((1, 3, 4, 5, 7, 8, 33)) if product == U85 else rng.choice((15, 16, 16, 17, 18))
    return b"".join((command(0x130, rng.choice((0, 0, 0, 0, 0, 1, 8, 0x100))), command(0x131, 0x100), command(0x4030, 0),
                     command(0x4031, high - 2048), command(0x4032, size), command(0x10, 0),
                     command(0x11, rng.choice((0, 0, 0, 1))), command(0x125, kind)))


def transfer(product, rng):
    dimensions = rng.choice((0, 0, 0, 1, 1, 2, 2, 3)) if product == U85 else rng.choice((0, 0, 0, 0, 0, 0, 1))
    return command(0x130, dimensions << 9 | rng.randrange(8)) + command(0x10, 0)


def chance(rng):
    config = rng.choice(CONFIGS)
    product = config >> 28
    names = {code: name for code, name in COMMANDS[product].items() if code >= 0x100 and name != "UNBOUNDED"}
    odd = set(rng.sample(sorted(names), rng.choice((0, 0, 1, 1, 3, 8))))
    data, depth = [], rng.choice((0, 3, 15, 16, 40))
    for code, name in names.items():
        if code not in odd and name in ("IFM_DEPTH", "OFM_DEPTH") and rng.randrange(8):
            data.append(command(code, depth))
        elif code not in odd:
            data.append(command(code, usual(name, product, rng)))
        elif rng.randrange(2):
            data.append(command(code, rng.choice(ODD_WIDE if code & 0x4000 else ODD)))
    for _ in range(rng.choice((1, 1, 2, 3))):
        if not rng.randrange(4):
            data.append(table(product, config, rng))
        code = rng.choice((2, 2, 3, 5, 5, 6, 6, 6, 16, 7 if product == U85 else 6))
        kinds = {5: range(LAST_KIND[product] + 1), 6: sorted(KINDS[product]), 7: range(3)}.get(code, (0,))
        data.append(transfer(product, rng) if code == 16 else
                    command(code, rng.choice(kinds) if rng.randrange(16) else rng.randrange(50)))
    if not rng.randrange(12):
        data.append(command(rng.choice((0x134, 0x4037, 0x4100, 0x106, 0x2000, 0x1, 0x12, 0x13)), 0))
    if rng.randrange(16):
        data.append(command(0, 0xffff))
    stream = b"".join(data)
    return repaired(struct.pack("<4s7I", b"COP1", 0x00100001, config, 0x10066001, 5, 5, 5, 2) + stream)


def streams(seed, count, out):
    rng = random.Random(seed)
    for _ in range(count):
        record(chance(rng), [None] * 8, out)


def main():
    if sys.argv[1:2] == ["one"]:
        sizes = [None] * 8
        for word in sys.argv[3:]:
            region, size = word.split("=")
            sizes[int(region)] = int(size)
        with open(sys.argv[2], "rb") as file:
            print(verdict(file.read(), sizes))
    elif sys.argv[1:2] == ["mutants"]:
        mutants(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:], sys.stdout.buffer)
    elif sys.argv[1:2] == ["streams"]:
        streams(int(sys.argv[2]), int(sys.argv[3]), sys.stdout.buffer)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
