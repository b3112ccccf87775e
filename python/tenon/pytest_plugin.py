# SPDX-License-Identifier: MIT
"""For pytest: --tenon-device NAME, the fixtures tenon_device and tenon_load, and assert_close().

pip registers it; elsewhere: pytest -p tenon.pytest_plugin.
"""

import math

import pytest

import tenon

# differences that a failure names
SHOWN = 5


def pytest_addoption(parser):
    parser.addoption(
        "--tenon-device", default="cpu:0", metavar="NAME", help="device of the fixture tenon_device, such as opencl:0"
    )


@pytest.fixture(scope="session")
def tenon_device(request):
    """The device of --tenon-device; tests are skipped, with the reason, where it is missing."""
    name = request.config.getoption("--tenon-device")
    try:
        return tenon.Device(name)
    except tenon.DeviceError as error:
        pytest.skip(f"--tenon-device {name}: {error}")


@pytest.fixture
def tenon_load(tenon_device):
    """tenon.load() on that device; files without code for it are skipped."""

    def load(path, **options):
        try:
            return tenon.load(path, device=tenon_device, **options)
        except tenon.DeviceError as error:
            pytest.skip(str(error))

    return load


def _numbers(value):
    """Shape and elements of a tensor, an array, or nested lists."""
    if isinstance(value, (list, tuple, int, float, complex)):
        value = tenon.tensor(value)
    elif not isinstance(value, tenon.Tensor):
        value = tenon.from_dlpack(value) if hasattr(value, "__dlpack__") else tenon.from_buffer(value)
    pending, elements = [value.to("cpu").tolist()], []
    while pending:
        item = pending.pop()
        if isinstance(item, list):
            pending.extend(reversed(item))
        else:
            elements.append(item)
    return value.shape, elements


def _differs(a, b, rtol, atol):
    if a != a or b != b:
        return not (a != a and b != b)
    if a == b:
        return False
    return math.isinf(abs(a)) or math.isinf(abs(b)) or abs(a - b) > atol + rtol * abs(b)


def _place(index, shape):
    place = []
    for extent in reversed(shape):
        index, at = divmod(index, extent)
        place.append(at)
    return tuple(reversed(place))


def assert_close(actual, expected, rtol=1e-5, atol=1e-6):
    """Compare tensors, on any device, arrays or lists; a failure says how many elements differ, by how much, and where."""
    __tracebackhide__ = True
    shape, a = _numbers(actual)
    wanted, b = _numbers(expected)
    assert shape == wanted, f"the shape is {shape}, not {wanted}"
    wrong = [i for i, (x, y) in enumerate(zip(a, b)) if _differs(x, y, rtol, atol)]
    if wrong:
        largest = max(wrong, key=lambda i: abs(a[i] - b[i]) if a[i] == a[i] and b[i] == b[i] else math.inf)
        rows = [f"  at {_place(i, shape)}: {a[i]!r}, not {b[i]!r}" for i in wrong[:SHOWN]]
        more = f"\n  and {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
        pytest.fail(
            f"{len(wrong)} of {len(a)} elements differ (rtol {rtol:g}, atol {atol:g}), the most by "
            f"{abs(a[largest] - b[largest]):g} at {_place(largest, shape)}\n" + "\n".join(rows) + more
        )
