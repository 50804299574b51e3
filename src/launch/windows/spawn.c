/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/windows/spawn.h"

#include <stdbool.h>
#include <stdlib.h>

#include "launch/windows/wine.h"

/* Mitigations that no real tool trips over: no code from the network or from Low folders, no legacy
   extension points. */
#define MITIGATIONS                                                         \
    (PROCESS_CREATION_MITIGATION_POLICY_EXTENSION_POINT_DISABLE_ALWAYS_ON | \
     PROCESS_CREATION_MITIGATION_POLICY_IMAGE_LOAD_NO_REMOTE_ALWAYS_ON |    \
     PROCESS_CREATION_MITIGATION_POLICY_IMAGE_LOAD_NO_LOW_LABEL_ALWAYS_ON)

#ifndef PROCESS_CREATION_MITIGATION_POLICY_EXTENSION_POINT_DISABLE_ALWAYS_ON
#define PROCESS_CREATION_MITIGATION_POLICY_EXTENSION_POINT_DISABLE_ALWAYS_ON (1ULL << 32)
#endif
#ifndef PROCESS_CREATION_MITIGATION_POLICY_IMAGE_LOAD_NO_REMOTE_ALWAYS_ON
#define PROCESS_CREATION_MITIGATION_POLICY_IMAGE_LOAD_NO_REMOTE_ALWAYS_ON (1ULL << 52)
#endif
#ifndef PROCESS_CREATION_MITIGATION_POLICY_IMAGE_LOAD_NO_LOW_LABEL_ALWAYS_ON
#define PROCESS_CREATION_MITIGATION_POLICY_IMAGE_LOAD_NO_LOW_LABEL_ALWAYS_ON (1ULL << 56)
#endif
#ifndef PROC_THREAD_ATTRIBUTE_JOB_LIST
#define PROC_THREAD_ATTRIBUTE_JOB_LIST 0x2000D
#endif

#ifndef PROC_THREAD_ATTRIBUTE_PSEUDOCONSOLE
#define PROC_THREAD_ATTRIBUTE_PSEUDOCONSOLE 0x20016
#endif

enum { ATTRIBUTES = 4, MORE = 2 };

/* Each handle once: Windows refuses a list with a handle twice. */
static SIZE_T inherited(const struct spawn_plan *plan, HANDLE *out)
{
    SIZE_T count = 0;
    for (int i = 0; i < 3; i++) {
        bool known = false;
        for (SIZE_T j = 0; j < count; j++)
            known = known || out[j] == plan->stdio[i];
        if (!known)
            out[count++] = plan->stdio[i];
    }
    for (int i = 0; plan->more && i < MORE; i++)
        out[count++] = plan->more[i];
    return count;
}

static DWORD console_flags(const struct spawn_plan *plan)
{
    if (plan->pseudo || plan->console == SPAWN_INHERITED_CONSOLE)
        return 0;
    return plan->console == SPAWN_HIDDEN_CONSOLE ? CREATE_NO_WINDOW
                                                 : wine_console_flags(CREATE_NO_WINDOW);
}

int spawn_suspended(const struct spawn_plan *plan, HANDLE *process, HANDLE *thread,
                    struct launch_failure *f)
{
    STARTUPINFOEXW startup = {.StartupInfo = {.cb = sizeof startup,
                                              .dwFlags = STARTF_USESTDHANDLES,
                                              .lpDesktop = plan->desktop,
                                              .hStdInput = plan->stdio[0],
                                              .hStdOutput = plan->stdio[1],
                                              .hStdError = plan->stdio[2]}};
    PROCESS_INFORMATION made;
    DWORD64 mitigations = MITIGATIONS;
    HANDLE job = plan->job;
    HANDLE handles[3 + MORE];
    SIZE_T size = 0, count = inherited(plan, handles);
    InitializeProcThreadAttributeList(NULL, ATTRIBUTES, 0, &size);
    startup.lpAttributeList = malloc(size);
    if (!startup.lpAttributeList ||
        !InitializeProcThreadAttributeList(startup.lpAttributeList, ATTRIBUTES, 0, &size)) {
        free(startup.lpAttributeList);
        return launch_fail(f, "cannot describe the process (InitializeProcThreadAttributeList)");
    }
    LPPROC_THREAD_ATTRIBUTE_LIST list = startup.lpAttributeList;
    int rc = 0;
    /* With a console of its own for all three, nothing is inherited. */
    if (plan->on_console)
        startup.StartupInfo.dwFlags = 0;
    if ((!plan->on_console &&
         !UpdateProcThreadAttribute(list, 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, handles,
                                    count * sizeof *handles, NULL, NULL)) ||
        (plan->pseudo &&
         !UpdateProcThreadAttribute(list, 0, PROC_THREAD_ATTRIBUTE_PSEUDOCONSOLE, plan->pseudo,
                                    sizeof plan->pseudo, NULL, NULL)) ||
        (job && !UpdateProcThreadAttribute(list, 0, PROC_THREAD_ATTRIBUTE_JOB_LIST, &job,
                                           sizeof job, NULL, NULL)) ||
        !UpdateProcThreadAttribute(list, 0, PROC_THREAD_ATTRIBUTE_MITIGATION_POLICY, &mitigations,
                                   sizeof mitigations, NULL, NULL))
        rc = launch_fail(f, "cannot describe the process (UpdateProcThreadAttribute)");
    DWORD flags = CREATE_SUSPENDED | CREATE_UNICODE_ENVIRONMENT | EXTENDED_STARTUPINFO_PRESENT |
                  console_flags(plan);
    BOOL inherit = !plan->on_console;
    BOOL good =
        rc == 0 &&
        (plan->token ? CreateProcessAsUserW(plan->token, plan->image, plan->cmdline, NULL, NULL,
                                            inherit, flags, plan->environment, plan->cwd,
                                            &startup.StartupInfo, &made)
                     : CreateProcessW(plan->image, plan->cmdline, NULL, NULL, inherit, flags,
                                      plan->environment, plan->cwd, &startup.StartupInfo, &made));
    DWORD error = GetLastError();
    if (rc == 0 && !good)
        rc = launch_fail(f, "cannot start the program (CreateProcess)");
    DeleteProcThreadAttributeList(list);
    free(list);
    if (rc)
        SetLastError(error);
    if (rc == 0) {
        *process = made.hProcess;
        *thread = made.hThread;
    }
    return rc;
}
