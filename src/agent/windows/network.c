/*
 * Sockets are handles of the AFD driver, and what they do are its control codes. Two shapes: that
 * of Windows and that of Wine, from one table. What leaves the process or lets others in is asked.
 */
#include "agent/windows/agent.h"

enum { LONGEST_ADDRESS = 128 };

/* Where the socket address stands in the input. */
static const struct {
    ULONG code;
    uint32_t what;   /* enum wire_net */
    uint16_t at;     /* of the address, or of a pointer to it */
    uint16_t length; /* of the length behind a pointer; 0: the address is in the input itself */
} codes[] = {
    /* Windows */
    {0x12003, WIRE_NET_BIND, 4, 0},       /* AFD_BIND, Wine too */
    {0x12007, WIRE_NET_CONNECT, 0x18, 0}, /* AFD_CONNECT */
    {0x120C7, WIRE_NET_CONNECT, 0x18, 0}, /* AFD_SUPER_CONNECT: ConnectEx */
    {0x12023, WIRE_NET_SEND, 0x38, 0x34}, /* AFD_SEND_DATAGRAM */
    {0x120D3, WIRE_NET_SEND, 0x20, 0x28}, /* AFD_SEND_MESSAGE */
    /* Wine */
    {0x120320, WIRE_NET_CREATE, 0, 0},  /* IOCTL_AFD_WINE_CREATE: family, type, protocol */
    {0x12032C, WIRE_NET_CONNECT, 8, 0}, /* IOCTL_AFD_WINE_CONNECT */
    {0x120338, WIRE_NET_SEND, 0, 8},    /* IOCTL_AFD_WINE_SENDMSG */
};

static struct piece address_of(size_t entry, const unsigned char *input, ULONG size)
{
    size_t at = codes[entry].at;
    if (codes[entry].length) {
        const void *p;
        uint32_t length;
        if (size < at + sizeof p || size < codes[entry].length + sizeof length)
            return NO_PIECE;
        memcpy(&p, input + at, sizeof p);
        memcpy(&length, input + codes[entry].length, sizeof length);
        return p ? (struct piece){p, length < LONGEST_ADDRESS ? length : LONGEST_ADDRESS}
                 : NO_PIECE;
    }
    if (size <= at)
        return NO_PIECE;
    size_t n = size - at;
    return (struct piece){input + at, n < LONGEST_ADDRESS ? n : LONGEST_ADDRESS};
}

static NTSTATUS ask_network(HANDLE socket, ULONG code, const void *input, ULONG size,
                            uint32_t *flags)
{
    struct wire_answer answer = {0};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        if (codes[i].code != code || !input)
            continue;
        struct piece address = address_of(i, input, size);
        if (address.n == 0 && codes[i].what == WIRE_NET_SEND)
            return STATUS_SUCCESS; /* to where it was connected */
        NTSTATUS status = agent_ask(WIRE_NETWORK, NUMBERS(NUMBER_OF_HANDLE(socket), codes[i].what),
                                    address, NO_PIECE, &answer);
        *flags = answer.flags;
        return status;
    }
    return STATUS_SUCCESS;
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

/* Every address becomes loopback: 127.0.0.1, or the form of it that a socket for both families
   takes; ::1 if it turns out to be one for IPv6 alone. */
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
    /* The broker must know which ports are the tree's own; the output is the address as bound. */
    if (code == codes[0].code && status == STATUS_SUCCESS && output && output_length >= 16)
        agent_ask(WIRE_NETWORK, NUMBERS(NUMBER_OF_HANDLE(file), WIRE_NET_BOUND),
                  (struct piece){output,
                                 output_length < LONGEST_ADDRESS ? output_length : LONGEST_ADDRESS},
                  NO_PIECE, &answer);
    return status;
}
