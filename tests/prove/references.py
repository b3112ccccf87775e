# SPDX-License-Identifier: MIT
"""Small slow programs beside the real ones, on random inputs: graphs with planned memory, trees of modules, packets, caches, programs.

The graph executor runs a random graph whose values share storage as a compiler would plan it, and a few lines of Python
compute the same. A random module is linked, taken apart, put together again and taken apart again: payloads and imports are
those that were given, and both folders are the same. The packets of mortise are the simulator's suite, which has a reference of
its own (tests/hil/reference.c). So have the suites of key-value caches, which keep a plain list for each sequence
(tests/unit/kv_reference.h): random sequences are added, forked, shortened, removed and run until the pages do not suffice. And
so has the suite of random Relax programs (relax_programs_test.c), which interprets them a second time.
"""

import json
import os
import struct

from calls import content
from campaign import Round, Skip, run

OPERATORS = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "either": lambda a, b: a ^ b,
}
PACKETS = "random_streams*"
CACHES = ["unit/kv_cache_test", "unit/kv_window_test", "unit/kv_mla_test"]
HISTORIES = "random_histories*"
MACHINE = "prove/relax_programs_test"
PROGRAMS = "random_programs*"


def write_npy(path, numbers):
    header = f"{{'descr': '<i4', 'fortran_order': False, 'shape': ({len(numbers)},), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack(f"<{len(numbers)}i", *numbers))


def wrap(number):
    return (number + (1 << 31)) % (1 << 32) - (1 << 31)


class Graph:
    """A random graph: inputs first, then operators of two earlier values each; which values it returns; its storage."""

    def __init__(self, chance, elements):
        self.elements = elements
        self.inputs = chance.randint(1, 4)
        self.nodes = []
        for _ in range(chance.randint(1, 40)):
            last = self.inputs + len(self.nodes)
            self.nodes.append((chance.choice(sorted(OPERATORS)), chance.randrange(last), chance.randrange(last)))
        count = self.inputs + len(self.nodes)
        self.heads = sorted(chance.sample(range(self.inputs, count), chance.randint(1, min(3, len(self.nodes)))))
        self.storage = self.plan(chance)

    def plan(self, chance):
        """Storage of each value: a value that is read no more gives its own away."""
        last_use = {}
        for at, (_, first, second) in enumerate(self.nodes, self.inputs):
            last_use[first] = last_use[second] = at
        storage, free = list(range(self.inputs)), []
        made = self.inputs
        for at, _ in enumerate(self.nodes, self.inputs):
            if free and chance.random() < 0.8:
                storage.append(free.pop(chance.randrange(len(free))))
            else:
                storage.append(made)
                made += 1
            for value in range(self.inputs, at + 1):
                if last_use.get(value, value) == at and value not in self.heads:
                    free.append(storage[value])
        return storage

    def json(self):
        nodes = [{"op": "null", "name": f"x{i}", "inputs": []} for i in range(self.inputs)]
        for at, (name, first, second) in enumerate(self.nodes):
            nodes.append({"op": "tvm_op", "name": f"node{at}", "inputs": [[first, 0, 0], [second, 0, 0]],
                          "attrs": {"num_outputs": "1", "num_inputs": "2", "flatten_data": "0", "func_name": name}})
        count = len(nodes)
        return json.dumps({"nodes": nodes, "arg_nodes": list(range(self.inputs)), "heads": [[h, 0, 0] for h in self.heads],
                           "node_row_ptr": list(range(count + 1)),
                           "attrs": {"dltype": ["list_str", ["int32"] * count],
                                     "storage_id": ["list_int", self.storage],
                                     "shape": ["list_shape", [[self.elements]] * count]}})

    def compute(self, inputs):
        values = list(inputs)
        for name, first, second in self.nodes:
            values.append([wrap(OPERATORS[name](a, b)) for a, b in zip(values[first], values[second])])
        return [values[head] for head in self.heads]


class References:
    NAME = "references"
    ABOUT = "graphs, trees of modules, packets, caches and Relax programs beside small slow programs"

    def __init__(self, place):
        self.place = place

    def prepare(self):
        flags = os.environ.get("PROVE_PLANT_OPERATOR", "").split()
        self.library = self.place.compile("tests/prove/operators.c", "operators.so", "-shared", "-fPIC", *flags)
        self.kinds = [self.graph, self.tree, self.graph]
        self.simulators, self.caches = self.programs(["hil/sim_board"]), self.programs(CACHES)
        self.machines = self.programs([MACHINE])
        if self.simulators:
            self.kinds.append(self.packets)
        if self.caches:
            self.kinds.append(self.histories)
        if self.machines:
            self.kinds.append(self.relax_programs)

    def programs(self, names):
        """Those that are there: a configuration may lack what they test."""
        found = []
        for name in names:
            try:
                found.append(self.place.program(name))
            except Skip:
                pass
        return found

    def round(self, number):
        return self.kinds[number % len(self.kinds)](self.place.random(self.NAME, number))

    def graph(self, chance):
        done = Round()
        graph = Graph(chance, chance.randint(1, 70))
        inputs = [[wrap(chance.getrandbits(32)) for _ in range(graph.elements)] for _ in range(graph.inputs)]
        with self.place.folder() as folder:
            path = os.path.join(folder, "graph.json")
            with open(path, "w") as file:
                file.write(graph.json())
            words = [self.place.command, "run", self.library, "--graph", path]
            for at, numbers in enumerate(inputs):
                write_npy(os.path.join(folder, f"x{at}.npy"), numbers)
                words += ["--input", f"x{at}=@{folder}/x{at}.npy"]
            for at, numbers in enumerate(graph.compute(inputs)):
                write_npy(os.path.join(folder, f"out{at}.npy"), numbers)
                words += ["--expect", f"@{folder}/out{at}.npy"]
            ended = run(words)
        done.count("graphs")
        if ended.status != 0:
            done.found.append(f"a graph of {len(graph.nodes)} nodes: {ended.complaint()}")
        return done

    def tree(self, chance):
        """Programs with random comments, imports of random shape. The host code imports what no other part does."""
        done = Round()
        with self.place.folder() as folder:
            names, words = [], []
            for at in range(chance.randint(1, 6)):
                name = f"part{at}"
                names.append(name)
                with open(os.path.join(folder, f"{name}.cl"), "w") as file:
                    file.write(f"// {chance.getrandbits(64)}\n" * chance.randint(1, 200) +
                               f"__kernel void {name}(__global float *x) {{ x[get_global_id(0)] = {at}; }}\n")
                meta = {"func_info": {name: {"name": name, "arg_types": ["handle"], "launch_param_tags": ["blockIdx.x"]}},
                        "tvm_version": "0.18.0"}
                with open(os.path.join(folder, f"{name}.tvm_meta.json"), "w") as file:
                    json.dump(meta, file)
                words.append(f"{folder}/{name}.cl=opencl")
            edges = set()
            for at, name in enumerate(names):
                parent = f"{names[chance.randrange(at)]}.cl" if at and chance.random() < 0.5 else None
                edges.add((parent, f"{name}.cl"))
                if parent:
                    words += ["--import", f"{parent}:{name}.cl"]
            abi = chance.choice(["modern", "legacy"])
            steps = [["link", "--abi", abi, "-o", f"{folder}/first.so", self.library_source(folder), *words],
                     ["unpack", f"{folder}/first.so", f"{folder}/parts"],
                     ["link", "-o", f"{folder}/second.so", f"{folder}/parts/manifest.json"],
                     ["unpack", f"{folder}/second.so", f"{folder}/again"]]
            for step in steps:
                ended = run([self.place.command, *step], seconds=120)
                if ended.status:
                    done.found.append(f"tenon {' '.join(step)}: {ended.complaint()}")
                    return done
            wrong = self.judge(folder, names, edges)
        done.count("trees")
        if wrong:
            done.found.append(f"tenon link, unpack, link, unpack: {wrong}")
        return done

    def judge(self, folder, names, edges):
        """What is wrong with the parts of the module, or with those of the module that was made of them."""
        parts, again = content(f"{folder}/parts"), content(f"{folder}/again")
        different = [name for name in sorted(parts.keys() | again.keys()) if parts.get(name) != again.get(name)]
        if different:
            return f"the module that was put together again has other parts: {', '.join(different)}"
        different = [f"{name}.cl" for name in names if parts.get(f"{name}.cl") != content(f"{folder}/{name}.cl")]
        if different:
            return f"the module has other payloads than were given: {', '.join(different)}"
        modules = json.loads(parts["manifest.json"])["modules"]
        found = {(parent.get("file"), modules[child].get("file")) for parent in modules for child in parent["imports"]}
        return None if found == edges else f"imports {sorted(edges, key=str)} became {sorted(found, key=str)}"

    def library_source(self, folder):
        path = os.path.join(folder, "host.c")
        with open(path, "w") as file:
            file.write("int host(void);\nint host(void)\n{\n\treturn 0;\n}\n")
        return path

    def packets(self, chance):
        return self.suites(chance, "streams of packets", self.simulators, PACKETS)

    def histories(self, chance):
        return self.suites(chance, "histories of caches", self.caches, HISTORIES)

    def relax_programs(self, chance):
        return self.suites(chance, "suites of Relax programs", self.machines, PROGRAMS)

    def suites(self, chance, what, programs, case):
        """A case of some suites that have a reference of their own."""
        done = Round()
        seed = chance.randint(1, 1 << 31)
        for program in programs:
            ended = run([program], seconds=300, folder=self.place.source,
                        environment={"SEED": str(seed), "TENON_BUILD": self.place.build, "TENON_CASE": case})
            done.count(what)
            if ended.status != 0:
                done.found.append(f"SEED={seed} TENON_CASE='{case}' {program}: {ended.complaint()}")
        return done
