# find_package(pybandit) gives the target pybandit::pybandit, a static library with its headers.
get_filename_component(_pybandit "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET pybandit::pybandit)
  add_library(pybandit::pybandit STATIC IMPORTED)
  file(GLOB _pybandit_library "${_pybandit}/lib/libpybandit.a" "${_pybandit}/lib/pybandit.lib")
  set_target_properties(pybandit::pybandit PROPERTIES
    IMPORTED_LOCATION "${_pybandit_library}"
    IMPORTED_LINK_INTERFACE_LANGUAGES "C"
    INTERFACE_INCLUDE_DIRECTORIES "${_pybandit}/include")
  if(NOT MSVC)  # the maths library is part of its C library
    set_target_properties(pybandit::pybandit PROPERTIES INTERFACE_LINK_LIBRARIES "m")
  endif()
  unset(_pybandit_library)
endif()
unset(_pybandit)
