"""The build of this installation: its compiler and its vector instructions."""

__all__ = ["compiler", "targets"]


cdef extern from *:
    """
    #if defined(__clang__)
    #define BUILD_COMPILER "Clang " __clang_version__
    #elif defined(__GNUC__)
    #define BUILD_COMPILER "GCC " __VERSION__
    #elif defined(_MSC_VER)
    #define BUILD_COMPILER "MSVC " BUILD_SHOWN(_MSC_FULL_VER)
    #else
    #define BUILD_COMPILER "an unknown compiler"
    #endif
    #define BUILD_TEXT(...) #__VA_ARGS__
    #define BUILD_SHOWN(...) BUILD_TEXT(__VA_ARGS__)
    #include "../../csrc/_shared/wide.h"
    static const char *build_targets(void) { return BUILD_SHOWN(WIDE); }
    #undef L  /* a short name, which the rest of this file may use */
    """
    const char *BUILD_COMPILER
    const char *build_targets()


def compiler():
    """Return the name and version of the compiler."""
    return BUILD_COMPILER.decode()


def targets():
    """Return the instruction sets that hot loops were compiled for, as GCC names them."""
    written = build_targets().decode()
    return [word for word in written.split('"')[1::2]] or ["default"]
