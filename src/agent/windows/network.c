/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sockets are handles of the AFD driver, and their operations are its control codes. One table
 * covers two shapes, Windows' and Wine's. Whatever leaves the process or lets others in is asked.
 */
#include "agent/windows/agent.h"

enum { LONGEST_ADDRESS = 128 };

/* Where the address is in the input of a control code. */
enum shape {
    INPUT_ITSELF, /* from at to the end */
    BY_POINTER,   /* a pointer at at, the length at length */
    BY_POINTERS,  /* a pointer at at, a pointer to the length at length; no pointer: connected */
    WITHOUT_ADDRESS
};

struct code {
    ULONG code;
    uint8_t what; /* enum wire_net */
    uint8_t shape;
    uint8_t at, length;     /* in a 64-bit program */
    uint8_t at32, length32; /* in a 32-bit one */
};

/* The driver's structures, as far as the offsets go: public headers, both widths. */
struct afd_buffers {
    void *array;
    ULONG count, flags;
};
struct tdi_request {
    void *handle, *notify, *context;
    LONG status;
    void *information;
};
struct tdi_connection {
    LONG data_size;
    void *data;
    LONG options_size;
    void *options;
    LONG address_size;
    void *address;
};
struct afd_send_datagram {
    struct afd_buffers buffers;
    struct tdi_request request;
    struct tdi_connection connection;
};
/* As one header has it: with a word of flags before the request. */
struct afd_send_datagram_flags {
    struct afd_buffers buffers;
    ULONG tdi_flags;
    struct tdi_request request;
    struct tdi_connection connection;
};
struct afd_message {
    struct afd_buffers buffers;
    ULONG tdi_flags;
    void *address;
    ULONG *address_size;
};
struct afd_connect {
    BOOLEAN san;
    HANDLE root, connection;
    USHORT family;
};
struct afd_super_connect {
    BOOLEAN san;
    USHORT family;
};
_Static_assert(offsetof(struct afd_send_datagram, connection.address) == 0x60, "layout");
_Static_assert(offsetof(struct afd_send_datagram, connection.address_size) == 0x58, "layout");
_Static_assert(offsetof(struct afd_send_datagram_flags, connection.address) == 0x68, "layout");
_Static_assert(offsetof(struct afd_send_datagram_flags, connection.address_size) == 0x60, "layout");
_Static_assert(offsetof(struct afd_message, address) == 0x18, "layout");
_Static_assert(offsetof(struct afd_message, address_size) == 0x20, "layout");
_Static_assert(offsetof(struct afd_connect, family) == 0x18, "layout");
_Static_assert(offsetof(struct afd_super_connect, family) == 2, "layout");

/* A code listed twice must pass in both shapes that it can have. */
static const struct code codes[] = {
    /* Windows */
    {0x12003, WIRE_NET_BIND, INPUT_ITSELF, 4, 0, 4, 0},           /* AFD_BIND, Wine too */
    {0x12007, WIRE_NET_CONNECT, INPUT_ITSELF, 0x18, 0, 0xC, 0},   /* AFD_CONNECT */
    {0x120C7, WIRE_NET_CONNECT, INPUT_ITSELF, 2, 0, 2, 0},        /* AFD_SUPER_CONNECT: ConnectEx */
    {0x120BB, WIRE_NET_OTHER, WITHOUT_ADDRESS, 0, 0, 0, 0},       /* AFD_JOIN_LEAF */
    {0x1211B, WIRE_NET_OTHER, WITHOUT_ADDRESS, 0, 0, 0, 0},       /* AFD_RIO */
    {0x1200B, WIRE_NET_LISTEN, WITHOUT_ADDRESS, 0, 0, 0, 0},      /* AFD_START_LISTEN */
    {0x12023, WIRE_NET_SEND, BY_POINTER, 0x60, 0x58, 0x34, 0x30}, /* AFD_SEND_DATAGRAM */
    {0x12023, WIRE_NET_SEND, BY_POINTER, 0x68, 0x60, 0x38, 0x34}, /* the same with flags */
    {0x120D3, WIRE_NET_SEND, BY_POINTERS, 0x18, 0x20, 0x10, 0x14}, /* AFD_SEND_MESSAGE */
    /* Wine */
    {0x120320, WIRE_NET_CREATE, INPUT_ITSELF, 0, 0, 0, 0},  /* family, type, protocol */
    {0x12032C, WIRE_NET_CONNECT, INPUT_ITSELF, 8, 0, 8, 0}, /* IOCTL_AFD_WINE_CONNECT */
    {0x120338, WIRE_NET_SEND, BY_POINTER, 0, 8, 0, 8},      /* IOCTL_AFD_WINE_SENDMSG */
    {0x12100C, WIRE_NET_SEND, INPUT_ITSELF, 28, 0, 28, 0},  /* the echo request of ping */
};

static bool read_number(const unsigned char *input, ULONG size, size_t at, size_t width,
                        uint64_t *out)
{
    *out = 0;
    if (size < at + width)
        return false;
    memcpy(out, input + at, width);
    return true;
}

/* True for what cannot be an address in a program. */
static bool is_pointer(uint64_t value)
{
    return value >= 0x10000 && value < 0x7FFFFFFF0000;
}

/* False: it cannot be read. An empty piece: the connected peer. */
static bool address_of(const struct code *c, const unsigned char *input, ULONG size,
                       struct piece *out)
{
    bool narrow = agent_shared->flags & WIRE_NARROW;
    size_t at = narrow ? c->at32 : c->at, width = narrow ? 4 : 8;
    uint64_t pointer, length;
    *out = NO_PIECE;
    if (c->shape == WITHOUT_ADDRESS)
        return true;
    if (c->shape == INPUT_ITSELF) {
        if (size <= at)
            return false;
        *out = (struct piece){input + at, size - at};
    } else {
        bool wine = c->code == 0x120338;
        size_t length_at = narrow ? c->length32 : c->length;
        bool by_pointers = c->shape == BY_POINTERS;
        if (!read_number(input, size, at, wine ? 8 : width, &pointer) ||
            !read_number(input, size, length_at, by_pointers ? width : 4, &length))
            return false;
        if (pointer == 0 && (by_pointers || wine))
            return true;
        if (by_pointers && is_pointer(length))
            length = *(const uint32_t *)(uintptr_t)length;
        if (!is_pointer(pointer) || length < 2 || length > 0xFFFF)
            return false;
        *out = (struct piece){(const void *)(uintptr_t)pointer, (size_t)length};
    }
    if (out->n > LONGEST_ADDRESS)
        out->n = LONGEST_ADDRESS;
    return true;
}

static NTSTATUS ask_network(HANDLE socket, ULONG code, const void *input, ULONG size,
                            uint32_t *flags)
{
    NTSTATUS status = STATUS_SUCCESS, first = STATUS_SUCCESS;
    bool known = false, read = false;
    for (size_t i = 0; i < sizeof codes / sizeof *codes && status >= 0; i++) {
        struct wire_answer answer = {0};
        struct piece address;
        if (codes[i].code != code)
            continue;
        known = true;
        if ((!input && codes[i].shape != WITHOUT_ADDRESS) ||
            !address_of(&codes[i], input, size, &address))
            continue;
        read = true;
        if (address.n == 0 && codes[i].what == WIRE_NET_SEND)
            continue; /* to where it was connected */
        status = agent_ask(WIRE_NETWORK, NUMBERS(NUMBER_OF_HANDLE(socket), codes[i].what), address,
                           NO_PIECE, &answer);
        *flags = answer.flags;
    }
    if (known && !read) {
        struct wire_answer answer;
        first = agent_ask(WIRE_NETWORK, NUMBERS(NUMBER_OF_HANDLE(socket), WIRE_NET_OTHER), NO_PIECE,
                          NO_PIECE, &answer);
    }
    return status < 0 ? status : first;
}

/* The input of a bind: how the port may be shared, then the address. */
union bind_input {
    struct {
        ULONG share;
        USHORT family, port;
        unsigned char v4[4];
    } four;
    struct {
        ULONG share;
        USHORT family, port;
        ULONG flow;
        unsigned char v6[16];
        ULONG scope;
    } six;
    unsigned char bytes[64];
};

/* Every wildcard address becomes loopback: 127.0.0.1, or its mapped form on a dual-stack socket;
   ::1 if the socket turns out to be IPv6-only. */
static void to_loopback(union bind_input *in, bool only_v6)
{
    enum { V4 = 2 };
    if (in->four.family == V4) {
        in->four.v4[0] = 127;
        in->four.v4[3] = 1;
        return;
    }
    if (!only_v6) {
        in->six.v6[10] = in->six.v6[11] = 0xFF;
        in->six.v6[12] = 127;
    } else {
        in->six.v6[10] = in->six.v6[11] = in->six.v6[12] = 0;
    }
    in->six.v6[15] = 1;
}

NTSTATUS NTAPI hook_NtDeviceIoControlFile(HANDLE file, HANDLE event, void *apc, void *context,
                                          IO_STATUS_BLOCK *io, ULONG code, void *input,
                                          ULONG input_length, void *output, ULONG output_length)
{
    struct wire_answer answer = {0};
    union bind_input local;
    uint32_t flags = 0;
    NTSTATUS status = ask_network(file, code, input, input_length, &flags);
    if (status < 0)
        return status;
    bool here = flags & WIRE_LOOPBACK && input_length >= 12 && input_length <= sizeof local;
    if (here) {
        memcpy(&local, input, input_length);
        to_loopback(&local, false);
    }
    status = REAL(NtDeviceIoControlFile)(file, event, apc, context, io, code, here ? &local : input,
                                         input_length, output, output_length);
    if (here && status < 0 && local.four.family != 2) {
        to_loopback(&local, true);
        status = REAL(NtDeviceIoControlFile)(file, event, apc, context, io, code, &local,
                                             input_length, output, output_length);
    }
    /* The broker must know which ports belong to the tree; the output is the address as bound. */
    if (code == codes[0].code && status == STATUS_SUCCESS && output && output_length >= 16)
        agent_ask(WIRE_NETWORK, NUMBERS(NUMBER_OF_HANDLE(file), WIRE_NET_BOUND),
                  (struct piece){output,
                                 output_length < LONGEST_ADDRESS ? output_length : LONGEST_ADDRESS},
                  NO_PIECE, &answer);
    return status;
}
