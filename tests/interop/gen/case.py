# SPDX-License-Identifier: MIT
"""One case: a folder with a module, its inputs and outputs, cases.json and meta.json.

Every call is worked out with numpy and run by the peer's own runtime on the same inputs; both comparisons are
written to meta.json. A call that the two do not agree on is an error here, so what is stored is right twice.
"""

import json
import subprocess
import zlib
from pathlib import Path

import numpy as np

LIMIT = 64 * 1024

# dtypes that .npy files cannot name: stored as the unsigned integer of their size
STORED_AS = {"bfloat16": "uint16", "float8_e4m3fn": "uint8", "float8_e5m2": "uint8"}


class In:
    """A tensor that the call reads."""

    def __init__(self, array):
        self.array = np.ascontiguousarray(array).reshape(np.shape(array))


class Out:
    """A tensor that the call writes; `want` is what numpy says it holds afterwards, None where a call must fail."""

    def __init__(self, want=None, shape=None, dtype=None):
        self.want = want
        self.shape = tuple(np.shape(want) if want is not None else shape)
        self.dtype = str(want.dtype if want is not None else dtype)


def spec_shape(shape, dtype):
    return "x".join([str(n) for n in shape] + [dtype])


def scalar_spec(value):
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return "str:" + value
    return repr(value)


class Case:
    def __init__(self, suite, name, about):
        self.suite = suite
        self.name = name
        self.dir = suite.dir / name
        self.dir.mkdir(parents=True, exist_ok=True)
        for old in self.dir.iterdir():
            old.unlink()
        self.calls = []
        self.meta = {"name": name, "about": about, **suite.versions, "functions": [], "tree": {}, "exports": {},
                     "notes": []}
        self.rng = np.random.default_rng(zlib.crc32(name.encode()))

    def path(self, file):
        return self.dir / file

    def note(self, text):
        self.meta["notes"].append(text)

    def added(self, file, tree=None):
        """Keep a built file: strip it (its dynamic symbols stay), check its size, write down what it is."""
        path = self.path(file)
        if file.endswith(".so"):
            subprocess.run(["strip", "-s", str(path)], check=True)
        elif file.endswith(".o"):
            subprocess.run(["strip", "--strip-debug", str(path)], check=True)
        path.chmod(0o644)
        if path.stat().st_size > LIMIT:
            raise RuntimeError(f"{self.name}/{file} has {path.stat().st_size} bytes, the limit is {LIMIT}")
        self.meta["exports"][file] = {"bytes": path.stat().st_size}
        if tree is not None:
            self.meta["tree"][file] = tree

    def _store(self, stem, array):
        dtype = str(array.dtype)
        file = f"{stem}.npy"
        stored = array.view(STORED_AS[dtype]) if dtype in STORED_AS else array
        np.save(self.path(file), stored, allow_pickle=False)
        return f"{spec_shape(array.shape, dtype)}=@{file}" if dtype in STORED_AS else f"@{file}"

    def call(self, file, function, args, rtol=1e-5, atol=1e-6, fails=None, returns=None, cls="host", run=True,
             extra=None):
        """Add a call and, unless run is False, let the peer's runtime make it too.

        fails: why the call must be refused; returns: the value that comes back when no output tensor does.
        """
        n = len(self.calls)
        words, expect = [], []
        for i, arg in enumerate(args):
            if isinstance(arg, In):
                words.append({"input": self._store(f"c{n}_in{i}", arg.array)})
            elif isinstance(arg, Out):
                words.append({"output": spec_shape(arg.shape, arg.dtype)})
                if not fails and arg.want is not None:
                    expect.append(self._store(f"c{n}_out{i}", arg.want))
            else:
                words.append({"input": scalar_spec(arg)})
        if returns is not None:
            expect.append(self._store(f"c{n}_ret", returns) if isinstance(returns, np.ndarray)
                          else scalar_spec(returns))
        entry = {"class": cls, "file": file, "function": function, "args": words, "expect": expect,
                 "rtol": rtol, "atol": atol, **(extra or {})}
        if fails:
            entry["exit"] = 5
        self.calls.append(entry)
        record = {"name": function, "file": file, "rtol": rtol, "atol": atol}
        if fails:
            record.update({"note": fails, "expect_error": True})
        if run:
            record.update(self.suite.compare(self, file, function, args, rtol, atol, fails, returns))
        else:
            record["ran_on"] = None
        self.meta["functions"].append(record)

    def done(self):
        self.path("cases.json").write_text(json.dumps(self.calls, indent=1) + "\n")
        self.path("meta.json").write_text(json.dumps(self.meta, indent=1) + "\n")


class Suite:
    """All cases of one version of one peer."""

    def __init__(self, root, name, versions):
        self.dir = Path(root) / name
        self.dir.mkdir(parents=True, exist_ok=True)
        self.versions = versions
        self.summary = {**versions, "built": [], "not_built": {}}

    def build(self, name, about, make, optional=False):
        print(f"{self.dir.name}/{name}", flush=True)
        case = Case(self, name, about)
        try:
            make(case)
        except Exception as why:  # an optional case records why this version cannot build it
            if not optional:
                raise
            self.summary["not_built"][name] = " ".join(f"{type(why).__name__}: {why}".split())[:300]
            for file in case.dir.iterdir():
                file.unlink()
            case.dir.rmdir()
            return
        case.done()
        self.summary["built"].append(name)

    def done(self):
        (self.dir / "summary.json").write_text(json.dumps(self.summary, indent=1) + "\n")

    # the peer's runtime, given by each family
    def load(self, path):
        raise NotImplementedError

    def tensor(self, array):
        raise NotImplementedError

    def empty(self, shape, dtype):
        raise NotImplementedError

    def numpy(self, tensor, dtype):
        raise NotImplementedError

    def compare(self, case, file, function, args, rtol, atol, fails, returns):
        """Make the call with the peer's runtime and hold the result against numpy's."""
        module = self.load(case.path(file))
        passed, outs = [], []
        for arg in args:
            if isinstance(arg, In):
                passed.append(self.tensor(arg.array))
            elif isinstance(arg, Out):
                passed.append(self.empty(arg.shape, arg.dtype))
                outs.append((passed[-1], arg))
            else:
                passed.append(arg)
        if fails:
            try:
                self.function(module, function)(*passed)
            except Exception as error:
                return {"ran_on": "cpu:0", "error_kind": type(error).__name__,
                        "error_text": str(error).strip().splitlines()[-1][:400]}
            raise RuntimeError(f"{case.name}: {function} took a call that must fail ({fails})")
        got = self.function(module, function)(*passed)
        result = {"ran_on": "cpu:0", "source": "numpy, and run by the peer's runtime",
                  "outputs": [], "largest_difference": {"absolute": 0.0, "relative": 0.0}}
        pairs = [(self.numpy(t, o.dtype), o.want) for t, o in outs if o.want is not None]
        if returns is not None:
            result["returned"] = type(got).__name__
            pairs.append((self.numpy(got, str(returns.dtype)), returns) if isinstance(returns, np.ndarray)
                         else (got, returns))
        for have, want in pairs:
            if isinstance(want, str):
                if str(have) != want:
                    raise RuntimeError(f"{case.name}: {function} returned {have!r}, want {want!r}")
                continue
            have, want = np.asarray(have).astype("float64"), np.asarray(want).astype("float64")
            np.testing.assert_allclose(have, want, rtol=rtol, atol=atol, err_msg=f"{case.name}: {function}")
            if have.size:
                away = np.abs(have - want)
                near = float(np.max(away / np.maximum(np.abs(want), 1e-30)))
                worst = result["largest_difference"]
                worst["absolute"] = max(worst["absolute"], float(away.max()))
                worst["relative"] = max(worst["relative"], near)
            result["outputs"].append({"shape": list(want.shape)})
        return result

    def function(self, module, name):
        return module[name]
