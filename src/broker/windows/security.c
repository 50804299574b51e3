/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Access lists that a program gives its files. Entries for a SID of the run's own token are left
 * out: with one the tree could write the file without asking. Owners, labels and audit lists are
 * left unchanged.
 */
#include "broker/windows/broker.h"

enum { GIVEN = DACL_SECURITY_INFORMATION };

/* The list as given, checked to lie within its bytes; a missing list means everybody. */
static const ACL *given_list(const struct request *r, unsigned text)
{
    const ACL *list = r->wire.text[text].p;
    if (r->wire.text[text].n < sizeof *list || list->AclSize > r->wire.text[text].n ||
        list->AclSize < sizeof *list)
        return NULL;
    return IsValidAcl((ACL *)list) ? list : NULL;
}

static bool is_of_the_run(const struct broker *b, const ACE_HEADER *ace, size_t room)
{
    /* Every allow entry has its SID after a mask; kinds with more fields before it are left out. */
    bool plain = ace->AceType == ACCESS_ALLOWED_ACE_TYPE || ace->AceType == ACCESS_DENIED_ACE_TYPE;
    const ACCESS_ALLOWED_ACE *entry = (const void *)ace;
    if (!plain || room < sizeof *entry + 4 || ace->AceSize > room)
        return true;
    PSID sid = (PSID)&entry->SidStart;
    return !IsValidSid(sid) ||
           (ace->AceType == ACCESS_ALLOWED_ACE_TYPE &&
            (EqualSid(sid, (PSID)b->who->sid) || EqualSid(sid, (PSID)b->who->logon)));
}

static ACL *filtered_list(struct request *r, const ACL *given)
{
    ACL *list = arena_alloc(&r->arena, given->AclSize);
    if (!list || !InitializeAcl(list, given->AclSize, given->AclRevision))
        return NULL;
    const unsigned char *end = (const unsigned char *)given + given->AclSize;
    for (DWORD i = 0; i < given->AceCount; i++) {
        void *ace;
        if (!GetAce((ACL *)given, i, &ace) || (const unsigned char *)ace >= end)
            return NULL;
        if (!is_of_the_run(r->broker, ace, (size_t)(end - (const unsigned char *)ace)) &&
            !AddAce(list, given->AclRevision, MAXDWORD, ace, ((ACE_HEADER *)ace)->AceSize))
            return NULL;
    }
    return list;
}

/* "Everybody" as an entry: a missing list would let the tree in as well. */
static ACL *open_list(struct request *r)
{
    enum { SIZE = 64 };
    BYTE everyone[SECURITY_MAX_SID_SIZE];
    DWORD size = sizeof everyone;
    ACL *list = arena_alloc(&r->arena, SIZE);
    return list && InitializeAcl(list, SIZE, ACL_REVISION) &&
                   CreateWellKnownSid(WinWorldSid, NULL, everyone, &size) &&
                   AddAccessAllowedAce(list, ACL_REVISION, FILE_ALL_ACCESS, everyone)
               ? list
               : NULL;
}

bool security_make(struct request *r, unsigned text, SECURITY_DESCRIPTOR *out)
{
    bool everybody = r->wire.text[text].n == 0;
    const ACL *given = everybody ? NULL : given_list(r, text);
    ACL *list = everybody ? open_list(r) : given ? filtered_list(r, given) : NULL;
    return list && InitializeSecurityDescriptor(out, SECURITY_DESCRIPTOR_REVISION) &&
           SetSecurityDescriptorDacl(out, TRUE, list, FALSE);
}

NTSTATUS security_set(struct request *r, HANDLE file)
{
    SECURITY_INFORMATION what = (SECURITY_INFORMATION)r->wire.numbers[1];
    SECURITY_DESCRIPTOR descriptor;
    if (!(what & GIVEN))
        return STATUS_ACCESS_DENIED;
    if (!security_make(r, 0, &descriptor))
        return STATUS_INVALID_ACL;
    SECURITY_INFORMATION kept = what & (GIVEN | PROTECTED_DACL_SECURITY_INFORMATION |
                                        UNPROTECTED_DACL_SECURITY_INFORMATION);
    return SetKernelObjectSecurity(file, kept, &descriptor) ? STATUS_SUCCESS : STATUS_ACCESS_DENIED;
}
