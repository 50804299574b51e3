/* SPDX-License-Identifier: Apache-2.0 */
/* The proxy's protocol: the pieces in which bytes arrive change nothing, and no bound is left. */
#include <stdint.h>
#include <stdlib.h>

#include "broker/proxy.h"
#include "policy/net.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct proxy *p)
{
    if (p->input_n > sizeof p->input || p->output_n > sizeof p->output)
        abort();
    if (p->state == PROXY_ASKS && (p->port == 0 || net_read_host(str_of(p->host)).kind == NET_BAD))
        abort();
}

static void feed(struct proxy *p, struct str text, size_t piece)
{
    proxy_init(p, STR("s3cret"));
    for (size_t at = 0; at < text.n && p->state == PROXY_READS; at += piece) {
        struct str part = str_slice(text, at, at + piece);
        proxy_feed(p, str_slice(part, 0, proxy_room(p)));
        check(p);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct proxy once, pieces;
    if (size == 0)
        return 0;
    struct str text = {(const char *)data + 1, size - 1};
    feed(&once, text, SIZE_MAX / 2);
    feed(&pieces, text, 1 + data[0] % 16);
    if (once.state != pieces.state || once.port != pieces.port ||
        strcmp(once.host, pieces.host) != 0 || once.output_n != pieces.output_n)
        abort();
    proxy_answer(&once, (enum proxy_outcome)(data[0] % 3), STR("why"));
    check(&once);
    return 0;
}
