"""Settings by which numpy and its BLAS compute as they do on other processors."""

from __future__ import annotations

from numpy._core import _multiarray_umath as numpy_core

AVX512 = ("AVX512F", "AVX512CD", "AVX512_SKX", "AVX512_CLX", "AVX512_CNL", "AVX512_ICL", "AVX512_SPR", "X86_V4")
"""What numpy calls them until 2.3 and since; it warns of names that it does not know."""

AVX2 = ("AVX", "F16C", "FMA3", "AVX2", "X86_V3")


def _without(*names: str) -> dict[str, str]:
    here, known = numpy_core.__cpu_features__, numpy_core.__cpu_dispatch__
    return {"NPY_DISABLE_CPU_FEATURES": " ".join(name for name in names if name in known and here[name])}


def _has(*names: str) -> bool:
    return any(numpy_core.__cpu_features__.get(name) for name in names)


# A kernel of instructions that this processor does not have would end the process.
KERNELS = ["Prescott", "Nehalem", *["Haswell"] * _has("AVX2"), *["SkylakeX"] * _has("AVX512_SKX", "X86_V4")]

PROCESSORS: dict[str, dict[str, str]] = {
    **{kernel: {"OPENBLAS_CORETYPE": kernel} for kernel in KERNELS},
    "without AVX-512": _without(*AVX512), "without AVX2": _without(*AVX512, *AVX2)}
"""The variables of the environment, by what they stand for."""

OLDEST = PROCESSORS["Prescott"] | PROCESSORS["without AVX2"]
"""The BLAS of 2004, and none of the instructions since 2011."""
