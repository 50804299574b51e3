/* SPDX-License-Identifier: Apache-2.0 */
/* Judges of single programs, named in tables/handlers.def, and shared helpers. */
#ifndef CORDON_GUARD_JUDGES_JUDGES_H
#define CORDON_GUARD_JUDGES_JUDGES_H

#include "guard/effects.h"

/* lolbas.c: programs that run what they are given. */
/* row: the first one of this name, by lolbas_row. */
void judge_lolbas(struct guard *g, const struct guard_call *call, struct str name, size_t row);
size_t lolbas_row(struct str name);

/* protected.c: programs that change the files that they name (changers.def), by the first row. */
void judge_changer(struct guard *g, const struct guard_call *call, struct str name, size_t row);
size_t changer_row(struct str name);
/* The same for a program that no table knows: a person should look. */
void judge_mention(struct guard *g, const struct guard_call *call, struct str name, size_t row);

/* wrapper.c: programs that start the program named in their arguments. */
bool is_wrapper(struct str name);
void judge_wrapper(struct guard *g, const struct guard_call *call, struct str name);
/* Index of the program in a wrapper's arguments: after its options and their values. */
size_t wrapped_program(const struct guard_call *call, size_t from, struct str value_options);

/* browser.c */
void judge_browser(struct guard *g, const struct guard_call *call);

/* option.c: options that hold a command, for programs without a judge of their own. */
void judge_options(struct guard *g, const struct guard_call *call);

/* Judges the words from an index on as a program of their own. */
void judge_rest(struct guard *g, const struct guard_call *call, size_t from);
/* Arguments from this one on that are an opener with its address, or hold one. */
void judge_carried(struct guard *g, const struct guard_call *call, size_t from);

/* shell.c: programs that hand things to the desktop's shell */
void judge_explorer(struct guard *g, const struct guard_call *call);
void judge_opener(struct guard *g, const struct guard_call *call);
void judge_gio(struct guard *g, const struct guard_call *call);
void judge_start(struct guard *g, const struct guard_call *call);
void judge_rundll32(struct guard *g, const struct guard_call *call);

/* delete.c: programs that delete */
void judge_rm(struct guard *g, const struct guard_call *call);
void judge_rimraf(struct guard *g, const struct guard_call *call);
void judge_find(struct guard *g, const struct guard_call *call);
void judge_fd(struct guard *g, const struct guard_call *call);
void judge_cmake(struct guard *g, const struct guard_call *call);
void judge_cmd_delete(struct guard *g, const struct guard_call *call);
void judge_reg(struct guard *g, const struct guard_call *call);
void judge_robocopy(struct guard *g, const struct guard_call *call);
void judge_dd(struct guard *g, const struct guard_call *call);

/* command_line.c: programs that take a command line as an argument */
void judge_env(struct guard *g, const struct guard_call *call);
void judge_forfiles(struct guard *g, const struct guard_call *call);
void judge_shell_arguments(struct guard *g, const struct guard_call *call);
void judge_shell_option(struct guard *g, const struct guard_call *call);
void judge_nodemon(struct guard *g, const struct guard_call *call);

/* git.c */
void judge_git(struct guard *g, const struct guard_call *call);
void judge_gh(struct guard *g, const struct guard_call *call);

/* interpreter.c */
void judge_interpreter(struct guard *g, const struct guard_call *call);
void judge_script_host(struct guard *g, const struct guard_call *call);

/* writing.c: programs that copy, fetch or change files */
void judge_copy(struct guard *g, const struct guard_call *call);
void judge_tee(struct guard *g, const struct guard_call *call);
void judge_download(struct guard *g, const struct guard_call *call);
void judge_change(struct guard *g, const struct guard_call *call);

/* language.c: programs with a command language of their own */
void judge_embedded(struct guard *g, const struct guard_call *call);
void judge_awk(struct guard *g, const struct guard_call *call);

/* npm.c */
void judge_npm(struct guard *g, const struct guard_call *call);

/* agent.c */
void judge_agent(struct guard *g, const struct guard_call *call);
void judge_cordon(struct guard *g, const struct guard_call *call);
void judge_hook(struct guard *g, const struct guard_call *call);
void judge_agent_script(struct guard *g, const struct guard_call *call);
/* True for a variable that tells an agent where its settings are, or what to skip. */
bool agent_obeys(struct str variable);

/* container.c */
void judge_container(struct guard *g, const struct guard_call *call);

#endif
