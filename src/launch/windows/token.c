/* SPDX-License-Identifier: Apache-2.0 */
/* Creates the token of a run and matching security descriptors. Changes nothing outside this
   process. */
#include "launch/windows/token.h"

#include <aclapi.h>
#include <ntsecapi.h>

#include "cordon.h"

enum { MOST_TOKEN_BYTES = 65536 };

/* Any token information of unknown size; freed by the caller. */
static void *token_information(HANDLE token, TOKEN_INFORMATION_CLASS class)
{
    DWORD size = 0;
    GetTokenInformation(token, class, NULL, 0, &size);
    if (size == 0 || size > MOST_TOKEN_BYTES)
        return NULL;
    void *out = HeapAlloc(GetProcessHeap(), 0, size);
    if (out && !GetTokenInformation(token, class, out, size, &size)) {
        DWORD error = GetLastError();
        HeapFree(GetProcessHeap(), 0, out);
        SetLastError(error);
        return NULL;
    }
    return out;
}

static bool user_of(HANDLE token, BYTE *sid)
{
    union {
        TOKEN_USER user;
        BYTE bytes[sizeof(TOKEN_USER) + SECURITY_MAX_SID_SIZE];
    } found;
    DWORD size;
    return GetTokenInformation(token, TokenUser, &found, sizeof found, &size) &&
           CopySid(SECURITY_MAX_SID_SIZE, sid, found.user.User.Sid);
}

/* False only if it cannot be read; without a logon SID *has is false. */
static bool logon_of(HANDLE token, BYTE *sid, bool *has)
{
    TOKEN_GROUPS *groups = token_information(token, TokenGroups);
    if (!groups)
        return false;
    *has = false;
    for (DWORD i = 0; i < groups->GroupCount && !*has; i++)
        if ((groups->Groups[i].Attributes & SE_GROUP_LOGON_ID) == SE_GROUP_LOGON_ID)
            *has = CopySid(SECURITY_MAX_SID_SIZE, sid, groups->Groups[i].Sid);
    HeapFree(GetProcessHeap(), 0, groups);
    return true;
}

/* What the launcher's own token says; it never changes, and is read once. */
struct own_token {
    BYTE user[SECURITY_MAX_SID_SIZE], logon[SECURITY_MAX_SID_SIZE];
    bool has_logon, elevated;
};

static BOOL CALLBACK read_own_token(INIT_ONCE *once, void *out, void **result)
{
    (void)once, (void)result;
    struct own_token *own = out;
    TOKEN_ELEVATION elevation = {0};
    HANDLE token;
    DWORD size;
    if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token))
        return FALSE;
    bool known = user_of(token, own->user) && logon_of(token, own->logon, &own->has_logon);
    own->elevated =
        GetTokenInformation(token, TokenElevation, &elevation, sizeof elevation, &size) &&
        elevation.TokenIsElevated;
    CloseHandle(token);
    return known;
}

/* NULL: it cannot be read, this time. */
static const struct own_token *own_token(void)
{
    static INIT_ONCE known = INIT_ONCE_STATIC_INIT;
    static struct own_token own;
    return InitOnceExecuteOnce(&known, read_own_token, &own, NULL) ? &own : NULL;
}

/* S-1-0-a-b-c-d: the null authority issues nothing but S-1-0-0, so no account, group, logon session
   or capability can ever have such a SID; 128 random bits keep two runs apart. */
static bool draw_sid(BYTE *sid)
{
    SID_IDENTIFIER_AUTHORITY nobody = {SECURITY_NULL_SID_AUTHORITY};
    DWORD random[4];
    if (!RtlGenRandom(random, sizeof random) || !InitializeSid(sid, &nobody, 4))
        return false;
    for (DWORD i = 0; i < 4; i++)
        *GetSidSubAuthority(sid, i) = random[i];
    return true;
}

int token_run_sid(struct token_run *r, struct launch_failure *f)
{
    struct token_run made = {0};
    const struct own_token *own = own_token();
    if (!own)
        return launch_fail(f, "cannot read the launcher's own token (GetTokenInformation)");
    if (!own->has_logon)
        return launch_fail_words(f, "cannot make the token: this logon session has no logon SID, "
                                    "without which no program of the run could use windows");
    if (!draw_sid(made.sid))
        return launch_fail_words(f, "cannot draw the run's SID: cannot read random bytes");
    memcpy(made.user, own->user, sizeof made.user);
    memcpy(made.logon, own->logon, sizeof made.logon);
    *r = made;
    return 0;
}

static bool well_known(WELL_KNOWN_SID_TYPE type, BYTE *sid)
{
    DWORD size = SECURITY_MAX_SID_SIZE;
    return CreateWellKnownSid(type, NULL, sid, &size);
}

static bool add_allowed(ACL *acl, DWORD access, const BYTE *sid)
{
    return AddAccessAllowedAce(acl, ACL_REVISION, access, (PSID)sid);
}

/* Never raises the level: that would need a privilege, and would be wrong. */
static int set_integrity(HANDLE token, bool medium, struct launch_failure *f)
{
    BYTE sid[SECURITY_MAX_SID_SIZE];
    DWORD wanted = medium ? SECURITY_MANDATORY_MEDIUM_RID : SECURITY_MANDATORY_LOW_RID;
    TOKEN_MANDATORY_LABEL *now = token_information(token, TokenIntegrityLevel);
    DWORD level = MAXDWORD;
    if (now) {
        level = *GetSidSubAuthority(now->Label.Sid, *GetSidSubAuthorityCount(now->Label.Sid) - 1u);
        HeapFree(GetProcessHeap(), 0, now);
    }
    if (level <= wanted)
        return 0;
    if (!well_known(medium ? WinMediumLabelSid : WinLowLabelSid, sid))
        return launch_fail(f, "cannot name an integrity level (CreateWellKnownSid)");
    TOKEN_MANDATORY_LABEL label = {{sid, SE_GROUP_INTEGRITY}};
    if (!SetTokenInformation(token, TokenIntegrityLevel, &label, sizeof label + GetLengthSid(sid)))
        return launch_fail(f, "cannot lower the token's integrity (SetTokenInformation)");
    return 0;
}

static int set_default_dacl(HANDLE token, const struct token_run *r, struct launch_failure *f)
{
    struct token_descriptor d;
    int rc = token_describe(r, GENERIC_ALL, &d, f);
    TOKEN_DEFAULT_DACL dacl = {&d.dacl.acl};
    if (rc == 0 && !SetTokenInformation(token, TokenDefaultDacl, &dacl, sizeof dacl))
        rc = launch_fail(f, "cannot set the token's default DACL (SetTokenInformation)");
    return rc;
}

int token_make(const struct token_run *r, const struct token_options *how, HANDLE *out,
               struct launch_failure *f)
{
    BYTE interactive[SECURITY_MAX_SID_SIZE], everyone[SECURITY_MAX_SID_SIZE];
    HANDLE own, token;
    if (!well_known(WinInteractiveSid, interactive) || !well_known(WinWorldSid, everyone))
        return launch_fail(f, "cannot name INTERACTIVE and Everyone (CreateWellKnownSid)");
    if (!OpenProcessToken(
            GetCurrentProcess(),
            TOKEN_DUPLICATE | TOKEN_QUERY | TOKEN_ASSIGN_PRIMARY | TOKEN_ADJUST_DEFAULT, &own))
        return launch_fail(f, "cannot open the launcher's own token (OpenProcessToken)");
    SID_AND_ATTRIBUTES disabled[] = {{interactive, 0}};
    SID_AND_ATTRIBUTES restricting[] = {{(PSID)r->sid, 0}, {(PSID)r->logon, 0}, {everyone, 0}};
    BOOL made = CreateRestrictedToken(own, DISABLE_MAX_PRIVILEGE | LUA_TOKEN | WRITE_RESTRICTED,
                                      how->interactive ? 0 : 1, disabled, 0, NULL,
                                      how->everyone ? 3 : 2, restricting, &token);
    int rc = made ? 0
             : token_is_restricted(own)
                 ? launch_fail(f, "cannot make the token: cordon itself runs under a restricted "
                                  "token, inside another sandbox (CreateRestrictedToken)")
                 : launch_fail(f, "cannot make the token (CreateRestrictedToken)");
    CloseHandle(own);
    if (rc)
        return rc;
    rc = set_default_dacl(token, r, f);
    if (rc == 0)
        rc = set_integrity(token, how->medium, f);
    if (rc)
        CloseHandle(token);
    else
        *out = token;
    return rc;
}

bool token_is_elevated(void)
{
    const struct own_token *own = own_token();
    return own && own->elevated;
}

bool token_is_restricted(HANDLE token)
{
    return IsTokenRestricted(token);
}

/* Fills the parts that both kinds share; the DACL is still empty. */
static bool begin(struct token_descriptor *d)
{
    memset(d, 0, sizeof *d);
    d->attributes = (SECURITY_ATTRIBUTES){sizeof d->attributes, &d->descriptor, FALSE};
    return InitializeSecurityDescriptor(&d->descriptor, SECURITY_DESCRIPTOR_REVISION) &&
           InitializeAcl(&d->dacl.acl, sizeof d->dacl, ACL_REVISION) &&
           SetSecurityDescriptorDacl(&d->descriptor, TRUE, &d->dacl.acl, FALSE) &&
           SetSecurityDescriptorControl(&d->descriptor, SE_DACL_PROTECTED, SE_DACL_PROTECTED);
}

/* No-write-up at Low: without a label the object would count as Medium and be closed to the
   tree. */
static bool label_low(struct token_descriptor *d)
{
    BYTE low[SECURITY_MAX_SID_SIZE];
    return well_known(WinLowLabelSid, low) &&
           InitializeAcl(&d->sacl.acl, sizeof d->sacl, ACL_REVISION) &&
           AddMandatoryAce(&d->sacl.acl, ACL_REVISION, 0, SYSTEM_MANDATORY_LABEL_NO_WRITE_UP,
                           low) &&
           SetSecurityDescriptorSacl(&d->descriptor, TRUE, &d->sacl.acl, FALSE);
}

int token_describe(const struct token_run *r, DWORD access, struct token_descriptor *out,
                   struct launch_failure *f)
{
    BYTE system[SECURITY_MAX_SID_SIZE];
    if (!begin(out) || !well_known(WinLocalSystemSid, system) ||
        !add_allowed(&out->dacl.acl, access, r->user) ||
        !add_allowed(&out->dacl.acl, access, r->sid) ||
        !add_allowed(&out->dacl.acl, access, system) || !label_low(out))
        return launch_fail(f, "cannot write a security descriptor for the run");
    return 0;
}

/*
 * The tree runs as the owner of what the launcher creates, and an owner may rewrite any DACL that
 * does not say otherwise. At Low integrity that is refused anyway; at Medium only this refuses it.
 */
static bool bind_owner(struct token_descriptor *d, DWORD user_access)
{
    BYTE owner[SECURITY_MAX_SID_SIZE];
    if (user_access & (WRITE_DAC | GENERIC_ALL))
        return true;
    return well_known(WinCreatorOwnerRightsSid, owner) &&
           add_allowed(&d->dacl.acl, READ_CONTROL, owner);
}

int token_describe_own(DWORD user_access, struct token_descriptor *out, struct launch_failure *f)
{
    BYTE system[SECURITY_MAX_SID_SIZE];
    const struct own_token *own = own_token();
    if (!own)
        return launch_fail(f, "cannot read the launcher's own token (GetTokenInformation)");
    if (!begin(out) || !well_known(WinLocalSystemSid, system) ||
        !add_allowed(&out->dacl.acl, GENERIC_ALL, system) ||
        !add_allowed(&out->dacl.acl, user_access, own->user) || !bind_owner(out, user_access))
        return launch_fail(f, "cannot write a security descriptor for the launcher");
    return 0;
}

int token_open_up(const struct token_run *r, HANDLE process, struct launch_failure *f)
{
    struct token_descriptor d;
    HANDLE token;
    int rc = token_describe(r, TOKEN_ALL_ACCESS, &d, f);
    if (rc)
        return rc;
    if (!OpenProcessToken(process, READ_CONTROL | WRITE_DAC | WRITE_OWNER, &token))
        return launch_fail(f, "cannot open the command's token (OpenProcessToken)");
    if (!SetKernelObjectSecurity(
            token, DACL_SECURITY_INFORMATION | PROTECTED_DACL_SECURITY_INFORMATION, &d.descriptor))
        rc = launch_fail(f, "cannot set the DACL of the command's token (SetKernelObjectSecurity)");
    else if (!SetKernelObjectSecurity(token, LABEL_SECURITY_INFORMATION, &d.descriptor))
        rc = launch_fail(f, "cannot label the command's token (SetKernelObjectSecurity)");
    CloseHandle(token);
    return rc;
}

static bool protect(HANDLE object, struct token_descriptor *d)
{
    return SetKernelObjectSecurity(
        object, DACL_SECURITY_INFORMATION | PROTECTED_DACL_SECURITY_INFORMATION, &d->descriptor);
}

/* Handles to the threads of this process in turn, including the loader's own. */
typedef LONG(NTAPI *next_thread)(HANDLE process, HANDLE thread, ACCESS_MASK access,
                                 ULONG attributes, ULONG flags, HANDLE *next);

static bool protect_threads(struct token_descriptor *d)
{
    next_thread next =
        (next_thread)(void *)GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "NtGetNextThread");
    if (!next)
        return protect(GetCurrentThread(), d);
    HANDLE thread = NULL, following;
    bool all = true;
    while (all && next(GetCurrentProcess(), thread, WRITE_DAC, 0, 0, &following) >= 0) {
        if (thread)
            CloseHandle(thread);
        thread = following;
        all = protect(thread, d);
    }
    if (thread)
        CloseHandle(thread);
    return all;
}

int token_protect_self(struct launch_failure *f)
{
    struct token_descriptor process, thread;
    int rc = token_describe_own(PROCESS_QUERY_LIMITED_INFORMATION | SYNCHRONIZE, &process, f);
    if (rc == 0)
        rc = token_describe_own(THREAD_QUERY_LIMITED_INFORMATION | SYNCHRONIZE, &thread, f);
    if (rc)
        return rc;
    if (!protect_threads(&thread))
        return launch_fail(f, "cannot protect the launcher's threads (SetKernelObjectSecurity)");
    if (!protect(GetCurrentProcess(), &process))
        return launch_fail(f, "cannot protect the launcher's process (SetKernelObjectSecurity)");
    return 0;
}
