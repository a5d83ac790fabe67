"""Recipe for Conan 2: conan create packaging/conan. It builds the source tree that it lies in."""

import os

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy


class TenonConan(ConanFile):
    name = "tenon"
    version = "0.1.0"
    license = "Apache-2.0"
    description = "Operator registry and tensor-expression kernel generator"
    settings = "os", "arch", "compiler", "build_type"
    options = {
        "shared": [True, False],
        "with_onnx": [True, False],
        "with_onednn": [True, False],
        "with_tools": [True, False],
    }
    default_options = {
        "shared": False,
        "with_onnx": True,
        "with_onednn": True,
        "with_tools": True,
    }

    def export_sources(self):
        root = os.path.join(self.recipe_folder, "..", "..")
        copy(self, "*", root, self.export_sources_folder, excludes=("build/*", ".git/*"))

    def layout(self):
        cmake_layout(self)

    # LLVM and oneDNN are the system's. Tenon takes LLVM 19.1 or 22.1, and a oneDNN that was built for OpenMP; which recipes
    # Conan's index has of them changes.
    def requirements(self):
        self.requires("abseil/[>=20220623]", transitive_headers=True)
        self.requires("dlpack/[>=0.6]", transitive_headers=True)
        self.requires("nlohmann_json/[>=3.11]", transitive_headers=True)
        self.requires("zlib/[>=1.2.11]")
        if self.options.with_onnx:
            self.requires("onnx/[>=1.12]")
            self.requires("protobuf/[>=3.21]")
        if self.options.with_tools:
            self.requires("cli11/[>=2.1]")
            self.requires("sqlite3/[>=3.37]")
            self.requires("stb/[*]")

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["TENON_SHARED"] = bool(self.options.shared)
        toolchain.cache_variables["TENON_ONNX"] = bool(self.options.with_onnx)
        toolchain.cache_variables["TENON_ONEDNN"] = bool(self.options.with_onednn)
        toolchain.cache_variables["TENON_TOOLS"] = bool(self.options.with_tools)
        toolchain.cache_variables["TENON_MPI"] = False
        for option in ("TESTS", "BENCHMARKS", "EXAMPLES"):
            toolchain.cache_variables[f"TENON_BUILD_{option}"] = False
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()

    # CMake's own package of Tenon says what to link.
    def package_info(self):
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs.append(os.path.join("lib", "cmake", "Tenon"))
