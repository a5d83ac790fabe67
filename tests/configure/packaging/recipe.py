"""recipe.py ROOT VERSION PACKAGE=LEAST...: runs the recipe of Conan with other classes in place of Conan's, and holds what it
asks for against the options of Tenon and the least versions that the configure step takes."""

import itertools
import os
import re
import sys
import types

root, version, *least = sys.argv[1:]
least = dict(pair.split("=") for pair in least)
conanfile = os.path.join(root, "packaging", "conan", "conanfile.py")


class Toolchain:
    last = None

    def __init__(self, recipe):
        self.cache_variables = {}
        Toolchain.last = self

    def generate(self):
        pass


class Nothing:
    def __init__(self, recipe):
        pass

    def generate(self):
        pass


def module(name, **members):
    made = types.ModuleType(name)
    made.__dict__.update(members)
    sys.modules[name] = made


module("conan", ConanFile=type("ConanFile", (), {}))
module("conan.tools")
module("conan.tools.cmake", CMake=Nothing, CMakeDeps=Nothing, CMakeToolchain=Toolchain, cmake_layout=None)
module("conan.tools.files", copy=None)
members = {}
with open(conanfile, encoding="utf-8") as file:
    exec(compile(file.read(), conanfile, "exec"), members)
recipe_class = members["TenonConan"]

with open(os.path.join(root, "CMakeLists.txt"), encoding="utf-8") as file:
    known = set(re.findall(r"^option\((TENON_\w+)", file.read(), re.MULTILINE))
assert recipe_class.version == version, f"the recipe is of {recipe_class.version}, and this is {version}"
assert recipe_class.options.keys() == recipe_class.default_options.keys(), "an option has no default"

asked = {}
for values in itertools.product(*recipe_class.options.values()):
    chosen = dict(zip(recipe_class.options, values))
    recipe = recipe_class()
    recipe.options = types.SimpleNamespace(**chosen)
    required = {}
    recipe.requires = lambda reference, **traits: required.update([reference.split("/")])
    recipe.requirements()
    recipe.generate()
    variables = Toolchain.last.cache_variables
    unknown = variables.keys() - known
    assert not unknown, f"Tenon has no option {unknown}"
    for option, value in chosen.items():
        name = "TENON_" + option.removeprefix("with_").upper()
        assert variables[name] == value, f"with {option}={value}, {name} is {variables[name]}"
    for part, package in (("with_onnx", "onnx"), ("with_onnx", "protobuf"), ("with_tools", "cli11"), ("with_tools", "stb")):
        assert (package in required) == chosen[part], f"with {part}={chosen[part]} it requires {sorted(required)}"
    asked.update(required)

for package, number in least.items():
    assert asked[package] == f"[>={number}]", f"of {package} it asks for {asked[package]}, and Tenon needs {number}"
