/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions of the kernel that Debian 12's headers lack. */
#ifndef CORDON_LAUNCH_LINUX_KERNEL_H
#define CORDON_LAUNCH_LINUX_KERNEL_H

#include <linux/landlock.h>
#include <stdint.h>

/* struct landlock_ruleset_attr as of ABI 6; shorter ones are accepted by older kernels. */
struct kernel_ruleset {
    uint64_t handled_access_fs;
    uint64_t handled_access_net; /* ABI 4 */
    uint64_t scoped;             /* ABI 6 */
};

#define KERNEL_FS_TRUNCATE (1ULL << 14)  /* ABI 3 */
#define KERNEL_FS_IOCTL_DEV (1ULL << 15) /* ABI 5 */
#define KERNEL_SCOPE_ABSTRACT_UNIX (1ULL << 0)
#define KERNEL_SCOPE_SIGNAL (1ULL << 1)

/* Kernel 6.6: answering a call wakes the caller on the same CPU. */
#define KERNEL_NOTIF_SET_FLAGS 0x40082104UL /* _IOW('!', 4, uint64_t) */
#define KERNEL_NOTIF_SYNC_WAKE_UP 1UL

/* Kernel 6.15: how a process ended, for the holder of a pidfd. */
struct kernel_pidfd_info {
    uint64_t mask, cgroup;
    uint32_t ids[11];
    int32_t exit_code; /* as wait tells it */
};
#define KERNEL_PIDFD_GET_INFO 0xC040FF0BUL /* _IOWR(0xFF, 11, 64 bytes) */
#define KERNEL_PIDFD_INFO_EXIT (1ULL << 3)

/* struct statx, which the release program's C library lacks. */
struct kernel_statx {
    uint32_t mask, blksize;
    uint64_t attributes;
    uint32_t nlink, uid, gid;
    uint16_t mode, unused;
    uint64_t ino, size, blocks, attributes_mask;
    struct {
        int64_t sec;
        uint32_t nsec;
        int32_t unused;
    } atime, btime, ctime, mtime;
    uint32_t rdev_major, rdev_minor, dev_major, dev_minor;
    uint64_t rest[14];
};
#define KERNEL_STATX_INO 0x100U
#define KERNEL_STATX_BTIME 0x800U

#endif
