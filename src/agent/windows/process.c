/* SPDX-License-Identifier: Apache-2.0 */
/* Children: judged before they exist, created suspended, given their agent, then resumed. */
#include "agent/windows/agent.h"

/* RTL_USER_PROCESS_PARAMETERS, as far as it is the same everywhere. */
struct parameters {
    ULONG head[4];
    HANDLE console;
    ULONG console_flags;
    HANDLE in, out, error;
    UNICODE_STRING folder;
    HANDLE folder_handle;
    UNICODE_STRING dll_path, image, command;
};

static const struct nt_ps_attribute *attribute(const struct nt_ps_attribute_list *list,
                                               ULONG_PTR number)
{
    size_t head = offsetof(struct nt_ps_attribute_list, items);
    size_t count = list && list->total > head ? (list->total - head) / sizeof *list->items : 0;
    for (size_t i = 0; i < count; i++)
        if ((list->items[i].attribute & NT_PS_ATTRIBUTE_NUMBER) == number)
            return &list->items[i];
    return NULL;
}

static NTSTATUS ask_start(const struct parameters *parameters, ULONG process_flags,
                          const struct nt_ps_attribute_list *list, uint32_t *answered)
{
    struct wire_answer answer = {0};
    struct piece image = {parameters->image.Buffer, parameters->image.Length};
    const struct nt_ps_attribute *name = attribute(list, NT_PS_IMAGE_NAME);
    uint64_t flags = (process_flags & NT_PROCESS_BREAKAWAY ? WIRE_BREAKAWAY : 0) |
                     (attribute(list, NT_PS_PARENT_PROCESS) ? WIRE_OTHER_PARENT : 0);
    if (name && name->value && name->size)
        image = (struct piece){(const void *)name->value, name->size};
    NTSTATUS status =
        agent_ask(WIRE_START, NUMBERS(flags), image,
                  (struct piece){parameters->command.Buffer, parameters->command.Length}, &answer);
    *answered = answer.flags;
    return status;
}

/* A copy of the caller's attributes with the stub in place of the program; points into itself. */
enum { MOST_ATTRIBUTES = 16 };
struct stub_list {
    SIZE_T total;
    struct nt_ps_attribute items[MOST_ATTRIBUTES];
};

static struct nt_ps_attribute_list *with_stub(const struct nt_ps_attribute_list *list,
                                              struct stub_list *out)
{
    const struct wire_shared *s = agent_shared;
    if (!list || !s->stub_size || list->total > sizeof *out || !attribute(list, NT_PS_IMAGE_NAME))
        return NULL;
    memcpy(out, list, list->total);
    struct nt_ps_attribute *name =
        (struct nt_ps_attribute *)attribute((void *)out, NT_PS_IMAGE_NAME);
    name->value = (ULONG_PTR)s->stub;
    name->size = s->stub_size;
    return (void *)out;
}

/*
 * A new console, one without a window, or none: the token may be refused the first two, and a
 * grandchild all of them. The parent's console serves instead. The caller's own block is changed,
 * and restored after the call.
 */
static HANDLE keep_console(struct parameters *parameters)
{
    enum { DETACHED = -1, NEW = -2, NO_WINDOW = -3 };
    intptr_t asked = (intptr_t)parameters->console;
    HANDLE given = parameters->console;
    const struct parameters *own;
    __asm__("movq %%gs:0x60, %0\n\tmovq 0x20(%0), %0" : "=r"(own)); /* PEB.ProcessParameters */
    if (agent_shared->flags & WIRE_KEEP_CONSOLE &&
        (asked == DETACHED || asked == NEW || asked == NO_WINDOW) && own->console)
        parameters->console = own->console;
    return given;
}

NTSTATUS NTAPI hook_NtCreateUserProcess(HANDLE *process, HANDLE *thread, ACCESS_MASK process_access,
                                        ACCESS_MASK thread_access,
                                        OBJECT_ATTRIBUTES *process_object,
                                        OBJECT_ATTRIBUTES *thread_object, ULONG process_flags,
                                        ULONG thread_flags, void *parameters, void *create_info,
                                        struct nt_ps_attribute_list *list)
{
    struct wire_answer answer = {0};
    HANDLE new_process, new_thread;
    if (!parameters)
        return STATUS_INVALID_PARAMETER;
    uint32_t flags = 0;
    struct stub_list stub;
    NTSTATUS status = ask_start(parameters, process_flags, list, &flags);
    if (status < 0 && flags & WIRE_STUB && (list = with_stub(list, &stub)) != NULL)
        status = STATUS_SUCCESS;
    if (status < 0)
        return status;
    HANDLE console = keep_console(parameters);
    status = REAL(NtCreateUserProcess)(
        &new_process, &new_thread, process_access, thread_access, process_object, thread_object,
        process_flags & ~(ULONG)NT_PROCESS_BREAKAWAY, thread_flags | NT_THREAD_SUSPENDED,
        parameters, create_info, list);
    ((struct parameters *)parameters)->console = console;
    if (status < 0)
        return status;
    NTSTATUS started = agent_ask(WIRE_STARTED, NUMBERS(NUMBER_OF_HANDLE(new_process)), NO_PIECE,
                                 NO_PIECE, &answer);
    if (started >= 0 && !(thread_flags & NT_THREAD_SUSPENDED))
        started = CALL(NtResumeThread)(new_thread, NULL);
    if (started < 0) {
        CALL(NtTerminateProcess)(new_process, started);
        REAL(NtClose)(new_thread);
        REAL(NtClose)(new_process);
        return started;
    }
    *process = new_process;
    *thread = new_thread;
    return status;
}

/* Clones and processes without an image could not be given an agent before they run. */
NTSTATUS NTAPI hook_NtCreateProcess(HANDLE *process, ACCESS_MASK access, OBJECT_ATTRIBUTES *object,
                                    HANDLE parent, BOOLEAN inherit, HANDLE section, HANDLE debug,
                                    HANDLE exception)
{
    (void)process, (void)access, (void)object, (void)parent, (void)inherit, (void)section;
    (void)debug, (void)exception;
    return agent_refuse(WIRE_REFUSED_PROCESS_CLONE, NO_PIECE, STATUS_ACCESS_DENIED);
}

NTSTATUS NTAPI hook_NtCreateProcessEx(HANDLE *process, ACCESS_MASK access,
                                      OBJECT_ATTRIBUTES *object, HANDLE parent, ULONG flags,
                                      HANDLE section, HANDLE debug, HANDLE exception,
                                      BOOLEAN in_job)
{
    (void)process, (void)access, (void)object, (void)parent, (void)flags, (void)section;
    (void)debug, (void)exception, (void)in_job;
    return agent_refuse(WIRE_REFUSED_PROCESS_CLONE, NO_PIECE, STATUS_ACCESS_DENIED);
}

/* Querying other processes passes; what could change one is asked. */
static NTSTATUS ask_reach(HANDLE id, ACCESS_MASK access, ACCESS_MASK looks, bool thread)
{
    struct wire_answer answer = {0};
    if (!(access & ~looks))
        return STATUS_SUCCESS;
    return agent_ask(WIRE_REACH, NUMBERS(NUMBER_OF_HANDLE(id), access, thread), NO_PIECE, NO_PIECE,
                     &answer);
}

NTSTATUS NTAPI hook_NtOpenProcess(HANDLE *process, ACCESS_MASK access, OBJECT_ATTRIBUTES *object,
                                  CLIENT_ID *id)
{
    enum {
        LOOKS = PROCESS_QUERY_INFORMATION | PROCESS_QUERY_LIMITED_INFORMATION | SYNCHRONIZE |
                READ_CONTROL | PROCESS_VM_READ
    };
    NTSTATUS status =
        id && id->UniqueProcess && (uintptr_t)id->UniqueProcess != agent_shared->process
            ? ask_reach(id->UniqueProcess, access, LOOKS, false)
            : STATUS_SUCCESS;
    return status < 0 ? status : REAL(NtOpenProcess)(process, access, object, id);
}

NTSTATUS NTAPI hook_NtOpenThread(HANDLE *thread, ACCESS_MASK access, OBJECT_ATTRIBUTES *object,
                                 CLIENT_ID *id)
{
    enum {
        LOOKS = THREAD_QUERY_INFORMATION | THREAD_QUERY_LIMITED_INFORMATION | SYNCHRONIZE |
                READ_CONTROL | THREAD_GET_CONTEXT
    };
    NTSTATUS status =
        id && id->UniqueThread ? ask_reach(id->UniqueThread, access, LOOKS, true) : STATUS_SUCCESS;
    return status < 0 ? status : REAL(NtOpenThread)(thread, access, object, id);
}
