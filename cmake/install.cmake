# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where: program, library, header, pkg-config and CMake packages, manual,
# completions.
include(CMakePackageConfigHelpers)

install(TARGETS cordon RUNTIME)
set(libraries cordon_static)
if(TARGET cordon_shared)
  list(APPEND libraries cordon_shared)
endif()
foreach(library ${libraries})
  target_include_directories(${library} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endforeach()
set_target_properties(cordon_static PROPERTIES EXPORT_NAME static)
target_link_libraries(cordon_static INTERFACE $<INSTALL_INTERFACE:Threads::Threads>)
if(TARGET cordon_shared)
  set_target_properties(cordon_shared PROPERTIES EXPORT_NAME cordon)
  target_compile_definitions(cordon_shared INTERFACE CORDON_SHARED)
endif()
install(TARGETS ${libraries} EXPORT cordon-targets)
install(FILES include/cordon.h TYPE INCLUDE)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/cordon)
install(EXPORT cordon-targets NAMESPACE cordon:: DESTINATION ${package})
configure_package_config_file(cmake/cordon-config.cmake.in cordon-config.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(cordon-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/cordon-config.cmake ${CMAKE_BINARY_DIR}/cordon-config-version.cmake
        DESTINATION ${package})

# The prefix is known when it is installed, not before.
if(WIN32)
  set(CORDON_PRIVATE_LIBS -lntdll)
else()
  set(CORDON_PRIVATE_LIBS -pthread)
endif()
# Distributions may name whole paths.
foreach(folder LIBDIR INCLUDEDIR)
  set(CORDON_${folder} "\${prefix}/${CMAKE_INSTALL_${folder}}")
  if(IS_ABSOLUTE "${CMAKE_INSTALL_${folder}}")
    set(CORDON_${folder} "${CMAKE_INSTALL_${folder}}")
  endif()
endforeach()
install(CODE "
  set(CORDON_LIBDIR [[${CORDON_LIBDIR}]])
  set(CORDON_INCLUDEDIR [[${CORDON_INCLUDEDIR}]])
  set(PROJECT_VERSION \"${PROJECT_VERSION}\")
  set(CORDON_PRIVATE_LIBS \"${CORDON_PRIVATE_LIBS}\")
  configure_file(\"${CMAKE_SOURCE_DIR}/cmake/cordon.pc.in\" \"${CMAKE_BINARY_DIR}/cordon.pc\" @ONLY)")
install(FILES ${CMAKE_BINARY_DIR}/cordon.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The program writes its own manual and completions.
if(NOT CMAKE_CROSSCOMPILING)
  set(made ${CMAKE_INSTALL_MANDIR}/man1/cordon.1:help:--man
           ${CMAKE_INSTALL_DATADIR}/bash-completion/completions/cordon:completion:bash
           ${CMAKE_INSTALL_DATADIR}/zsh/site-functions/_cordon:completion:zsh
           ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d/cordon.fish:completion:fish)
  foreach(entry ${made})
    string(REPLACE ":" ";" words ${entry})
    list(POP_FRONT words place)
    install(CODE "
      set(place \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${place}\")
      get_filename_component(folder \"\${place}\" DIRECTORY)
      file(MAKE_DIRECTORY \"\${folder}\")
      execute_process(COMMAND \"$<TARGET_FILE:cordon>\" ${words} OUTPUT_FILE \"\${place}\" COMMAND_ERROR_IS_FATAL ANY)
      message(STATUS \"Installing: \${place}\")")
  endforeach()
endif()
