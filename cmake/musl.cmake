# SPDX-License-Identifier: Apache-2.0
# A static program with musl's C library, where that is installed. glibc asks the processor some fifty
# questions before main; a virtual machine answers each by leaving the machine, and that alone is most of a
# program's start there. No loader, and it runs on every distribution.
find_file(MUSL_SPECS musl-gcc.specs PATHS /usr/lib/x86_64-linux-musl /usr/lib/aarch64-linux-musl
          /usr/local/musl/lib NO_DEFAULT_PATH)

if(MUSL_SPECS)
  get_filename_component(MUSL_LIBRARIES ${MUSL_SPECS} DIRECTORY)
  # Its specs know no static-pie: the parts before and behind the program are named by hand.
  foreach(part crtbeginS crtendS)
    execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=${part}.o OUTPUT_VARIABLE MUSL_${part}
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
  endforeach()
endif()

function(use_musl target)
  # The kernel's headers are not musl's: they are looked for last.
  target_compile_options(${target} PRIVATE -specs=${MUSL_SPECS} "SHELL:-idirafter /usr/include"
                         "SHELL:-idirafter /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}")
  # Threads get the stack that the program's header names; musl's own default would be too small.
  target_link_options(${target} PRIVATE -specs=${MUSL_SPECS} -nostartfiles
                      -Wl,-static,-pie,--no-dynamic-linker,-z,text,-z,stack-size=8388608
                      ${MUSL_LIBRARIES}/rcrt1.o ${MUSL_LIBRARIES}/crti.o ${MUSL_crtbeginS})
  target_link_libraries(${target} PRIVATE ${MUSL_crtendS} ${MUSL_LIBRARIES}/crtn.o)
endfunction()
