/* SPDX-License-Identifier: Apache-2.0 */
/* Links: where a junction or symlink leads, read from its data. The broker never lets the system
   follow one. */
#include "base/utf.h"
#include "broker/windows/broker.h"

enum { LINK_IS_RELATIVE = 1, MOST_DATA = 16384 /* MAXIMUM_REPARSE_DATA_BUFFER_SIZE */ };

bool link_read(struct request *r, const void *data, size_t size, struct str path, struct path *out)
{
    struct {
        ULONG tag;
        USHORT size, reserved;
        USHORT name_at, name_size, shown_at, shown_size;
    } head;
    struct path_context context = {
        .dialect = PATH_WINDOWS, .maps = r->broker->maps, .map_count = r->broker->map_count};
    const unsigned char *bytes = data;
    size_t at = sizeof head;
    auto_buf struct buf name = {0};
    ULONG flags = 0;
    if (size < sizeof head)
        return false;
    memcpy(&head, bytes, sizeof head);
    if (head.tag == IO_REPARSE_TAG_SYMLINK) {
        if (size < at + sizeof flags)
            return false;
        memcpy(&flags, bytes + at, sizeof flags);
        at += sizeof flags;
    } else if (head.tag != IO_REPARSE_TAG_MOUNT_POINT) {
        return false;
    }
    if (at + head.name_at + head.name_size > size || head.name_size % 2 || (at + head.name_at) % 2)
        return false;
    utf_from16(&name, (const void *)(bytes + at + head.name_at), head.name_size / 2);
    if (flags & LINK_IS_RELATIVE)
        context.cwd = path_parent(PATH_WINDOWS, path);
    else
        context.nt = true;
    struct str given = arena_copy(&r->arena, buf_str(&name));
    size_t room = given.n + context.cwd.n + 16;
    char *normal = arena_alloc(&r->arena, room);
    return given.p && normal && path_normalize(&context, given, normal, room, out) == 0;
}

bool link_target(struct request *r, HANDLE link, struct str path, struct path *out)
{
    enum { GET_REPARSE = 0x900A8 };
    IO_STATUS_BLOCK io = {0};
    unsigned char *data = arena_alloc(&r->arena, MOST_DATA);
    return data &&
           NtFsControlFile(link, NULL, NULL, NULL, &io, GET_REPARSE, NULL, 0, data, MOST_DATA) >=
               0 &&
           io.Information <= MOST_DATA && link_read(r, data, io.Information, path, out);
}
