# SPDX-License-Identifier: MIT
"""Tiles that were timed on a machine (--tune), and the file that keeps which was best (--tuned).

The file is JSON: for each processor, as LLVM names it, the best tile of each kernel, by the operator and its shapes.
"""

import json
import math
import os
import time
from dataclasses import asdict, dataclass, fields

from .errors import CompileError, first_line, of_type
from .kernels import Tile

VERSION = 1
CANDIDATES = 4
ROUNDS = 5
# features of LLVM's that are instructions; others only say how code is best ordered
INSTRUCTIONS = {"sse4.2", "avx2", "fma", "bmi2", "f16c", "avx512f", "avx512bw", "neon", "dotprod", "i8mm", "v"}


class TuningError(CompileError):
    """An error of --tune or --tuned, which does not make the compiler fall back to default schedules."""


@dataclass(frozen=True)
class Kernel:
    """A product by its shapes: the input as the kernel reads it, weights as the network has them, and what follows."""

    name: str
    source: tuple
    weights: tuple
    how: tuple  # arguments of the function of kernels.py that come before the tile, the shape of the output first

    @property
    def key(self):
        return " ".join([self.name, *("x".join(map(str, one)) for one in (self.source, self.weights, *self.how))])

    @property
    def multiply_adds(self):
        return math.prod(self.how[0]) * math.prod(self.weights[1:])

    def packed_shape(self, tile):
        """The shape in which the loops read the weights."""
        outputs, inputs, *window = self.weights
        if self.name == "depthwise_conv2d":
            return (*window, outputs)
        return (outputs // tile.channels, *window, inputs, tile.channels)


def kernel_of(name, source, weights, how):
    def numbers(shape):
        return tuple(int(extent) for extent in shape)

    return Kernel(name, numbers(source), numbers(weights), tuple(numbers(one) for one in how))


class Tuned:
    """The best tiles that are known, by processor and kernel."""

    def __init__(self, path=None):
        self.path, self.tiles = path, {}
        self.processor = None  # whose tiles are asked for
        self.asked = {}  # the tiles of each kernel that there are, the one first that is chosen without tuning
        if path and path.exists():
            self._read()

    def _read(self):
        try:
            content = of_type(json.loads(self.path.read_text(encoding="utf-8")), dict, self.path, "the file")
            version = content.get("tenon-tuned")
            if version != VERSION:
                raise TuningError(f"{self.path}: version {version!r} of tuned tiles, expected {VERSION}; tune again")
            for processor, kernels in of_type(content.get("processors"), dict, self.path, '"processors"').items():
                for key, tile in of_type(kernels, dict, self.path, processor).items():
                    self.tiles.setdefault(processor, {})[key] = self._tile(tile, f"{processor}: {key}")
        except OSError as error:
            raise TuningError(f"{self.path}: {error.strerror}") from error
        except (ValueError, RecursionError) as error:
            raise TuningError(f"{self.path}: no file of tuned tiles: {error}") from error
        except CompileError as error:
            raise TuningError(str(error)) from error

    def _tile(self, content, where):
        names = [field.name for field in fields(Tile)]
        content = of_type(content, dict, self.path, where)
        if sorted(content) != sorted(names):
            raise TuningError(f"{self.path}: {where}: expected {', '.join(names)}")
        return Tile(**{name: of_type(content[name], int, self.path, f"{where}: {name}") for name in names})

    def write(self):
        """Write the file under a temporary name, then rename it."""
        processors = {
            processor: {key: asdict(tile) for key, tile in sorted(kernels.items())}
            for processor, kernels in sorted(self.tiles.items())
        }
        temporary = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        try:
            with temporary.open("w", encoding="utf-8") as file:
                file.write(json.dumps({"tenon-tuned": VERSION, "processors": processors}, indent="\t") + "\n")
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self.path)
        finally:
            temporary.unlink(missing_ok=True)

    def tile(self, kernel, tiles):
        """The best of the tiles that fit a kernel, which are all there are. One that does not fit any more is forgotten."""
        self.asked[kernel] = tiles
        known = self.tiles.get(self.processor, {})
        if known.get(kernel.key) not in tiles:
            known.pop(kernel.key, None)
        return known.get(kernel.key, tiles[0])

    def known(self):
        """How many of the kernels that were asked for."""
        known = self.tiles.get(self.processor, {})
        return sum(kernel.key in known for kernel in self.asked)

    def keep(self, kernel, tile):
        self.tiles.setdefault(self.processor, {})[kernel.key] = tile


def processor_name(target):
    """A processor as the file names it: of which architecture, which, and with which features."""
    triple = str(target.attrs.get("mtriple", "") or "").split("-")[0]
    features = "".join(str(one) for one in target.attrs.get("mattr", None) or [])
    return f"{triple} {target.attrs.get('mcpu', 'generic')}{features}".strip()


class HereMachine:
    """This machine, for code that it can run."""

    def __init__(self, target):
        import tvm
        from tvm.target import codegen

        def features(one):
            with one:
                return {str(feature) for feature in codegen.llvm_get_cpu_features(one)}

        lacking = features(target) & INSTRUCTIONS - features(tvm.target.Target({"kind": "llvm", "mcpu": codegen.llvm_get_system_cpu()}))
        if lacking:
            raise TuningError(
                f"--tune: this machine does not run code for {processor_name(target)} (it lacks {sorted(lacking)[0]}): "
                "choose another --processor, or a machine that does with --tune-on"
            )
        self.device = tvm.cpu()

    def load(self, built):
        return built.mod


class RemoteMachine:
    """A machine where "tenon rpc serve" or TVM's server runs, by rpc://HOST:PORT[/KEY]."""

    def __init__(self, address, compiler):
        from tvm import rpc

        host, port, key = split_address(address)
        self._compiler = compiler
        try:
            self._session = rpc.connect(host, port, key)
        except Exception as error:  # TVM raises several kinds
            raise TuningError(f"--tune-on {address}: {str(error).strip().splitlines()[-1]}") from error
        self.device = self._session.cpu()

    def load(self, built):
        import tempfile
        from pathlib import Path

        from .targets import export_library

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"tiles{os.getpid()}.so"
            export_library(built, path, self._compiler)
            self._session.upload(str(path))
            return self._session.load_module(path.name)


def split_address(address):
    """Host, port and key of rpc://HOST:PORT[/KEY]."""
    rest = address.removeprefix("rpc://")
    place, _, key = rest.partition("/")
    host, _, port = place.rpartition(":")
    if rest == address or not host or not port.isdecimal():
        raise TuningError(f"--tune-on {address}: expected rpc://HOST:PORT or rpc://HOST:PORT/KEY")
    return host.strip("[]"), int(port), key


def primitive(kernel, tile, vectors):
    """A scheduled function of a kernel alone."""
    from tvm import te

    from . import kernels
    from .schedules import schedule_kernel

    x = te.placeholder(kernel.source, "float32", name="x")
    weights = te.placeholder(kernel.packed_shape(tile), "float32", name="weights")
    out = getattr(kernels, kernel.name)(x, weights, *kernel.how, tile)
    return schedule_kernel(te.create_prim_func([x, weights, out]), vectors, True)[0]


def times_of(kernel, tiles, vectors, target, machine):
    """Seconds of each tile: the least of some rounds, in turns, so that other programs slow all."""
    import numpy
    import tvm

    functions = {f"tile{i}": primitive(kernel, tile, vectors) for i, tile in enumerate(tiles)}
    module = tvm.IRModule({name: one.with_attr("global_symbol", name) for name, one in functions.items()})
    loaded = machine.load(tvm.compile(module, target=target))
    numbers, arguments = numpy.random.default_rng(1), []
    for tile in tiles:
        shapes = kernel.source, kernel.packed_shape(tile), kernel.how[0]
        arrays = [numbers.random(shape, "float32") for shape in shapes]
        arguments.append([tvm.runtime.tensor(array, machine.device) for array in arrays])
    timers = [loaded.time_evaluator(name, machine.device, number=1, repeat=1, min_repeat_ms=2) for name in functions]
    rounds = [[timer(*one).min for timer, one in zip(timers, arguments)] for _ in range(ROUNDS)]
    return [min(column) for column in zip(*rounds)]


def tune(tuned, target, vectors, seconds, machine, progress):
    """Time tiles of the kernels that were asked for and are not known, those first that compute most.

    How many, of how many; and seconds that they take with the tiles that are chosen without tuning, and with the best.
    """
    end, known = time.monotonic() + seconds, tuned.tiles.get(tuned.processor, {})
    left = [kernel for kernel, tiles in tuned.asked.items() if len(tiles) > 1 and kernel.key not in known]
    left.sort(key=lambda kernel: -kernel.multiply_adds)
    chosen = best = 0.0
    for done, kernel in enumerate(left):
        remaining = end - time.monotonic()
        if remaining <= 0:
            return done, len(left), chosen, best
        progress(f"timing kernel {done + 1} of {len(left)}, {remaining:.0f} s left")
        tiles = tuned.asked[kernel][:CANDIDATES]
        times = times_of(kernel, tiles, vectors, target, machine)
        chosen, best = chosen + times[0], best + min(times)
        tuned.keep(kernel, tiles[times.index(min(times))])
        tuned.write()  # now, since Ctrl-C may end the process before the next one
    return len(left), len(left), chosen, best


class Tuning:
    """What --tune, --tuned and --tune-on ask for."""

    def __init__(self, tuned, seconds, on, compiler, progress):
        self.tuned = tuned
        self.seconds = seconds  # 0: nothing is timed
        self._on, self._compiler, self._progress = on, compiler, progress

    def begin(self, target):
        """Tiles for this target are asked for."""
        self.tuned.processor = processor_name(target)

    def run(self, target, vectors):
        """Time tiles of the kernels that were asked for, and write down the best."""
        if not self.seconds:
            known, count = self.tuned.known(), len(self.tuned.asked)
            print(f"{self.tuned.path}: has tiles for {known} of {count} kernels for {self.tuned.processor}")
            return
        machine = RemoteMachine(self._on, self._compiler) if self._on else HereMachine(target)
        try:
            done, count, chosen, best = tune(self.tuned, target, vectors, self.seconds, machine, self._progress)
        except Exception as error:  # of TVM, or of a connection that ended
            raise TuningError(f"--tune: {first_line(error)}") from error
        finally:
            self.tuned.write()
        gain = f": {chosen * 1e6:.0f} µs became {best * 1e6:.0f}" if done else ""
        print(f"{self.tuned.path}: timed {done} of {count} kernels for {self.tuned.processor}{gain}")
