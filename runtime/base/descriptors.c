/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

union control {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(COHORT__DESCRIPTORS_MOST * sizeof(int))];
};

void cohort__descriptors_open_standard(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

bool cohort__descriptor_read(int fd, void *buffer, size_t bytes, uint64_t at)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t got = pread(fd, (char *)buffer + done, bytes - done, (off_t)(at + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got == 0)
            errno = 0;
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

bool cohort__descriptor_write(int fd, const void *data, size_t bytes, uint64_t at)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t put = pwrite(fd, (const char *)data + done, bytes - done, (off_t)(at + done));
        if (put < 0 && errno == EINTR)
            continue;
        if (put == 0)
            errno = 0;
        if (put <= 0)
            return false;
        done += (size_t)put;
    }
    return true;
}

ssize_t cohort__descriptors_send(int socket, const void *data, size_t bytes, const int *descriptors,
                                 unsigned num, int flags)
{
    union control control = {0};
    struct iovec iovec = {.iov_base = (void *)data, .iov_len = bytes};
    struct msghdr message = {.msg_iov = &iovec, .msg_iovlen = 1};
    if (num > 0) {
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(num * sizeof(int));
        control.head.cmsg_level = SOL_SOCKET;
        control.head.cmsg_type = SCM_RIGHTS;
        control.head.cmsg_len = CMSG_LEN(num * sizeof(int));
        memcpy(CMSG_DATA(&control.head), descriptors, num * sizeof(int));
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL | flags);
}

ssize_t cohort__descriptors_receive(int socket, void *data, size_t bytes, int *descriptors,
                                    unsigned *num)
{
    union control control;
    struct iovec iovec = {.iov_base = data, .iov_len = bytes};
    struct msghdr message = {.msg_iov = &iovec,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = CMSG_SPACE(*num * sizeof(int))};
    ssize_t got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    const struct cmsghdr *head = got < 0 ? NULL : CMSG_FIRSTHDR(&message);
    bool are_there = head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS;
    size_t come = are_there ? head->cmsg_len - CMSG_LEN(0) : 0;
    if (come > 0)
        memcpy(descriptors, CMSG_DATA(head), come);
    *num = (unsigned)(come / sizeof(int));
    return got;
}
