/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORDON_UNDO_LINUX_FS_H
#define CORDON_UNDO_LINUX_FS_H

#include <sys/stat.h>

#include "undo/fs.h"

struct fs_stat fs_stat_of(const struct stat *st);

#endif
