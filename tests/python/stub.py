# SPDX-License-Identifier: MIT
"""The stub says what the package has: the same names, and the same parameters."""

import ast
import inspect
import re

import tenon
from cases import SOURCE

STUB = ast.parse((SOURCE / "python/tenon/__init__.pyi").read_text())

# what every object has, or what Python makes of slots
UNSAID = frozenset(dir(type("Empty", (Exception,), {}))) | {
    "__weakref__", "__slots__", "__bool__", "__match_args__", "__release_buffer__", "__buffer__", "__getstate__", "__eq__",
    "__hash__", "__annotations__", "__static_attributes__", "__firstlineno__", "__type_params__",
}  # fmt: skip


def _named(body):
    """Names that a part of the stub declares, with their declaration."""
    found = {}
    for node in body:
        if isinstance(node, ast.AnnAssign):
            found[node.target.id] = node
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found[node.name] = node
    return found


def _is_property(node):
    return any(isinstance(mark, ast.Name) and mark.id == "property" for mark in node.decorator_list)


def _parameters(node):
    """(name, kind, whether it has a default) of each parameter in the stub; without self."""
    args = node.args
    positional = args.posonlyargs + args.args
    without = len(positional) - len(args.defaults)
    found = [
        (arg.arg, "positional" if arg in args.posonlyargs else "any", i >= without) for i, arg in enumerate(positional)
    ]
    found += [(args.vararg.arg, "*", False)] if args.vararg else []
    found += [(arg.arg, "keyword", value is not None) for arg, value in zip(args.kwonlyargs, args.kw_defaults)]
    found += [(args.kwarg.arg, "**", False)] if args.kwarg else []
    return [one for one in found if one[0] not in ("self", "cls")]


KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: "positional",
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "any",
    inspect.Parameter.VAR_POSITIONAL: "*",
    inspect.Parameter.KEYWORD_ONLY: "keyword",
    inspect.Parameter.VAR_KEYWORD: "**",
}


def _real_parameters(function):
    found = inspect.signature(function).parameters.values()
    return [
        (p.name, KINDS[p.kind], p.default is not p.empty) for p in found if p.name not in ("self", "cls")
    ]


def the_stub_has_the_public_names_of_the_package():
    said = {name for name in _named(STUB.body) if not name.startswith("_")}
    assert said == set(tenon.__all__), said ^ set(tenon.__all__)
    assert all(hasattr(tenon, name) for name in tenon.__all__)


def functions_have_the_parameters_of_the_stub():
    for name, node in _named(STUB.body).items():
        if isinstance(node, ast.FunctionDef) and name not in ("register", "module_kind"):
            said, real = _parameters(node), _real_parameters(getattr(tenon, name))
            assert said == real, (name, said, real)


def classes_have_the_attributes_of_the_stub():
    for name, node in _named(STUB.body).items():
        if not isinstance(node, ast.ClassDef):
            continue
        real, said = getattr(tenon, name), _named(node.body)
        for attribute, declared in said.items():
            if isinstance(declared, ast.AnnAssign):
                # of instances, which have no place in the class
                continue
            if attribute not in ("__getattr__", "__buffer__"):
                assert hasattr(real, attribute), (name, attribute)
            if _is_property(declared):
                assert not callable(inspect.getattr_static(real, attribute)), (name, attribute)
            elif not attribute.startswith("__"):
                assert _parameters(declared) == _real_parameters(getattr(real, attribute)), (name, attribute)
        more = {a for a in vars(real) if not a.startswith("_")} - set(said)
        assert not more, (name, more)
        bases = [base.id for base in node.bases if isinstance(base, ast.Name)]
        assert not bases or [base.__name__ for base in real.__bases__] == bases, (name, bases)


def everything_has_a_docstring():
    for name in tenon.__all__:
        thing = getattr(tenon, name)
        assert inspect.getdoc(thing), name
        if isinstance(thing, type):
            for attribute, value in vars(thing).items():
                assert attribute.startswith("_") or not callable(value) or value.__doc__, (name, attribute)


def formats_of_arguments_suit_all_versions_of_python():
    for source in (SOURCE / "python/src").glob("*.c"):
        assert not re.search(r'(Parse\w*|BuildValue)\([^;]*"[^"]*[szy]#', source.read_text()), source
