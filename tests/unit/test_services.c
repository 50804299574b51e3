/* SPDX-License-Identifier: Apache-2.0 */
/* Services that are called by RPC: the messages as Windows lays them out, the table, the
   verdicts. */
#include "policy/interfaces.h"
#include "policy/rules.h"
#include "tap.h"
#include "wire/lrpc.h"

enum { BIND_DATA = 72, REQUEST_DATA = 64, TYPE_REQUEST = 0, TYPE_BIND = 1 };

static const char scheduler[] = "86d35949-83c9-4044-b424-db363231fd0c";
static const char services[] = "367abb81-9844-35f1-ad32-98f038001003";
static const char resolver[] = "45776b01-5956-4485-9f80-f428f7d60129";
static const char endpoints[] = "e1af8308-5d1f-11c9-91a4-08002b14a0fa"; /* passes */

static unsigned hex(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* The bytes of a GUID in memory, from its text; written without a look at interface_text(). */
static void guid(const char *text, unsigned char out[16])
{
    static const int from[16] = {6, 4, 2, 0, 11, 9, 16, 14, 19, 21, 24, 26, 28, 30, 32, 34};
    for (int i = 0; i < 16; i++)
        out[i] = (unsigned char)(hex(text[from[i]]) << 4 | hex(text[from[i] + 1]));
}

struct message {
    unsigned char bytes[LRPC_HEADER + 256];
    size_t size;
};

static void put32(struct message *m, size_t at, uint32_t value)
{
    memcpy(m->bytes + LRPC_HEADER + at, &value, sizeof value);
}

static struct message message(uint32_t type, uint16_t length)
{
    struct message m = {.size = (size_t)LRPC_HEADER + length};
    uint16_t total = (uint16_t)m.size;
    memset(m.bytes, 0xA5, sizeof m.bytes);
    memcpy(m.bytes, &length, sizeof length);
    memcpy(m.bytes + 2, &total, sizeof total);
    put32(&m, 0, type);
    return m;
}

static struct message bind_to(const char *id, uint16_t length)
{
    struct message m = message(TYPE_BIND, length);
    put32(&m, 4, 0);
    put32(&m, 8, 0);
    guid(id, m.bytes + LRPC_HEADER + 12);
    return m;
}

static struct message call(uint32_t procedure, uint16_t length)
{
    struct message m = message(TYPE_REQUEST, length);
    put32(&m, 16, 7); /* binding */
    put32(&m, 20, procedure);
    return m;
}

static struct lrpc_message read_all(const struct message *m)
{
    struct lrpc_message out;
    lrpc_read(m->bytes, m->size, &out);
    return out;
}

static void test_messages(void)
{
    char text[INTERFACE_ID_TEXT + 1];
    struct message m = bind_to(scheduler, BIND_DATA);
    struct lrpc_message read = read_all(&m);
    interface_text(read.id, text);
    ok(read.kind == LRPC_BIND && strcmp(text, scheduler) == 0, "a bind names its interface: %s",
       text);
    m = call(12, REQUEST_DATA);
    read = read_all(&m);
    ok(read.kind == LRPC_REQUEST && read.procedure == 12, "a request names its procedure");
    static const uint32_t others[] = {2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 13, 0x10001, UINT32_MAX};
    bool good = true;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        m = message(others[i], BIND_DATA);
        good = good && read_all(&m).kind == LRPC_OTHER;
    }
    ok(good, "other types are neither");
    good = true;
    for (uint16_t n = 0; n < 28; n++) {
        m = bind_to(scheduler, n);
        good = good && read_all(&m).kind == LRPC_BROKEN;
    }
    m = bind_to(scheduler, 28);
    ok(good && read_all(&m).kind == LRPC_BIND, "a bind that ends before its interface is broken");
    good = true;
    for (uint16_t n = 0; n < 24; n++) {
        m = call(12, n);
        good = good && read_all(&m).kind == LRPC_BROKEN;
    }
    m = call(12, 24);
    ok(good && read_all(&m).kind == LRPC_REQUEST, "so is a request before its procedure");
    m = bind_to(scheduler, BIND_DATA);
    good = true;
    struct lrpc_message out;
    for (size_t n = 0; n < m.size; n++) {
        lrpc_read(m.bytes, n, &out);
        good = good && out.kind == LRPC_BROKEN;
    }
    ok(good, "and one that says it is longer than it is");
}

static const char *const ids[] = {
#define INTERFACE(id, kind, name, why) id,
#define INTERFACE_LOOK(procedure)
#include "policy/interfaces.def"
};

static void test_table(void)
{
    unsigned char id[16];
    bool good = true;
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        bool shape = strlen(ids[i]) == INTERFACE_ID_TEXT;
        for (size_t j = 0; j < INTERFACE_ID_TEXT && shape; j++)
            shape = j == 8 || j == 13 || j == 18 || j == 23
                        ? ids[i][j] == '-'
                        : strchr("0123456789abcdef", ids[i][j]) != NULL;
        guid(ids[i], id);
        if (!shape || interface_find(id) != (int)i) {
            note("%s", ids[i]);
            good = false;
        }
        id[15] ^= 1;
        good = good && interface_find(id) != (int)i;
    }
    ok(good, "every id is well-formed, there once, and found");
    ok(interface_only_looks(15) && interface_only_looks(16) && interface_only_looks(64),
       "opening looks");
    static const uint32_t changing[] = {1,  2,  5,  7,  11, 12, 19, 22, 23,  24,
                                        31, 36, 37, 44, 45, 50, 51, 60, 128, UINT32_MAX};
    good = true;
    for (size_t i = 0; i < sizeof changing / sizeof *changing; i++)
        good = good && !interface_only_looks(changing[i]);
    ok(good, "creating, changing, starting, controlling and deleting do not");
}

/* The decision, with its rule and remedy. */
static const struct {
    const char *what, *id;
    uint32_t procedure;
    enum policy_mode mode;
    enum policy_net net;
    enum cordon_verdict verdict;
    const char *rule, *fix;
} rows[] = {
    {"the scheduler", scheduler, 0, POLICY_WORKSPACE_WRITE, POLICY_NET_ON, CORDON_DENY,
     "service.outside", "this cannot be overridden"},
    {"the scheduler, full access", scheduler, 0, POLICY_FULL_ACCESS, POLICY_NET_OFF, CORDON_ALLOW,
     "mode.full-access", ""},
    {"opening the service manager", services, 15, POLICY_READ_ONLY, POLICY_NET_OFF, CORDON_ALLOW,
     "service.other", ""},
    {"a new service", services, 12, POLICY_READ_ONLY, POLICY_NET_OFF, CORDON_DENY,
     "service.outside", "this cannot be overridden"},
    {"a message that cannot be read", services, UINT32_MAX, POLICY_READ_ONLY, POLICY_NET_OFF,
     CORDON_DENY, "service.outside", "this cannot be overridden"},
    {"names, off", resolver, 0, POLICY_WORKSPACE_WRITE, POLICY_NET_OFF, CORDON_DENY, "net.off",
     "--net=on"},
    {"names, loopback", resolver, 0, POLICY_WORKSPACE_WRITE, POLICY_NET_LOOPBACK, CORDON_DENY,
     "net.loopback", "--net=on"},
    {"names, on", resolver, 0, POLICY_WORKSPACE_WRITE, POLICY_NET_ON, CORDON_ALLOW, "net.on", ""},
    {"another service", endpoints, 0, POLICY_READ_ONLY, POLICY_NET_OFF, CORDON_ALLOW,
     "service.other", ""},
};

static void test_verdicts(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct policy_settings settings = {.mode = rows[i].mode, .net = rows[i].net};
        struct policy_service service = {.procedure = rows[i].procedure};
        struct policy_answer answer;
        struct policy *policy;
        auto_buf struct buf error = {0}, why = {0}, fix = {0};
        guid(rows[i].id, service.id);
        if (policy_compile(&settings, &policy, &error)) {
            ok(false, "%s: %s", rows[i].what, buf_cstr(&error));
            continue;
        }
        policy_service_decide(policy, &service, &answer);
        policy_service_explain(&service, &answer, &why, &fix);
        ok(answer.verdict == rows[i].verdict &&
               strcmp(policy_rule_id(answer.rule), rows[i].rule) == 0 &&
               strcmp(buf_cstr(&fix), rows[i].fix) == 0 && why.n > 0,
           "%s: %s", rows[i].what, buf_cstr(&why));
        policy_free(policy);
    }
}

int main(void)
{
    test_messages();
    test_table();
    test_verdicts();
    return tap_done();
}
