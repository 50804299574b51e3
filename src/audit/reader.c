/* SPDX-License-Identifier: Apache-2.0 */
/* Reading an audit back, line by line. */
#include "audit/audit.h"

int audit_read(struct audit_reader *r, struct arena *arena, struct json_value *event,
               struct json_error *error)
{
    while (r->pos < r->text.n) {
        size_t end = str_find_char(r->text, '\n', r->pos);
        bool whole = end < r->text.n;
        struct str line = str_trim(str_slice(r->text, r->pos, end));
        r->pos = end + 1;
        r->line++;
        if (line.n == 0)
            continue;
        int rc = json_read(arena, line, event, error);
        if (rc == 0 && event->type == JSON_OBJECT)
            return 1;
        if (!whole) {
            r->cut = true;
            return 0;
        }
        if (rc == 0) {
            *error = (struct json_error){{1, 1}, "the line is not an object"};
            rc = CORDON_E_SYNTAX;
        }
        error->place.line = r->line;
        return rc;
    }
    return 0;
}
