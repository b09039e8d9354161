#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# libfabric 1.17.0, provider net (in 2.1.0 as tcp, seen on Debian 13, it is the same): two endpoints
# send to each other for the first time, at the same time. If one of them has had a peer in another
# process that ended before, the provider closes the connection on which the other one was just
# told that it may send: that one's message completes as sent, and never comes. Without the earlier
# peer it comes. The provider compares the process of the caller with that of an earlier peer, which
# is still written in the memory that the connection reuses (prov/tcp/src/xnet_rdm_cm.c,
# xnet_alloc_conn). tcp;ofi_rxm does not lose it.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
packages=(libfabric1=1.17.0-3 libfabric-dev=1.17.0-3)
apt-get -qq -o APT::Sandbox::User=root download "${packages[@]}" ||
    { echo "these versions can't be had here" >&2; exit 77; }
for package in *.deb; do
    dpkg-deb --extract "$package" root
done
lib=$(dirname "$(find "$PWD/root" -name libfabric.so.1 | head -n 1)")

cat >crossing.c <<'END'
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#define CHECK(call) ((call) ? (fprintf(stderr, "%s\n", #call), exit(2)) : (void)0)

struct end {
    struct fid_ep *ep;
    struct fid_cq *cq;
    struct fid_av *av;
    struct sockaddr_in address;
    char in[4][64];
    int num_received, num_sent;
};

static void open_end(struct end *end, const char *provider)
{
    struct fi_info *hints = fi_allocinfo(), *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fi_cq_attr queue = {.format = FI_CQ_FORMAT_MSG, .wait_obj = FI_WAIT_NONE};
    struct fi_av_attr table = {.type = FI_AV_TABLE};
    size_t bytes = sizeof end->address;
    hints->ep_attr->type = FI_EP_RDM;
    hints->caps = FI_MSG;
    hints->addr_format = FI_SOCKADDR_IN;
    hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
    hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
    hints->fabric_attr->prov_name = strdup(provider);
    CHECK(fi_getinfo(FI_VERSION(1, 17), "127.0.0.1", NULL, FI_SOURCE, hints, &info));
    CHECK(fi_fabric(info->fabric_attr, &fabric, NULL));
    CHECK(fi_domain(fabric, info, &domain, NULL));
    CHECK(fi_endpoint(domain, info, &end->ep, NULL));
    CHECK(fi_cq_open(domain, &queue, &end->cq, NULL));
    CHECK(fi_av_open(domain, &table, &end->av, NULL));
    CHECK(fi_ep_bind(end->ep, &end->cq->fid, FI_TRANSMIT | FI_RECV));
    CHECK(fi_ep_bind(end->ep, &end->av->fid, 0));
    CHECK(fi_enable(end->ep));
    CHECK(fi_getname(&end->ep->fid, &end->address, &bytes));
    for (int i = 0; i < 4; i++)
        CHECK(fi_recv(end->ep, end->in[i], 64, NULL, FI_ADDR_UNSPEC, end->in[i]));
}

static fi_addr_t know(struct end *end, const struct end *other)
{
    fi_addr_t address;
    CHECK(fi_av_insert(end->av, &other->address, 1, &address, 0, NULL) != 1);
    return address;
}

static void turn(struct end *end)
{
    struct fi_cq_msg_entry entry;
    struct fi_cq_err_entry error = {0};
    ssize_t n = fi_cq_read(end->cq, &entry, 1);
    if (n == 1 && entry.flags & FI_RECV)
        end->num_received++;
    else if (n == 1)
        end->num_sent++;
    else if (n == -FI_EAVAIL)
        fi_cq_readerr(end->cq, &error, 0);
    usleep(1000);
}

static void try(struct end *end, fi_addr_t to, int *is_accepted)
{
    if (!*is_accepted)
        *is_accepted = fi_send(end->ep, "x", 1, NULL, to, NULL) == 0;
    usleep(1000);
}

/* Another process sends to END, and ends. */
static void have_peer(struct end *end, const char *provider)
{
    pid_t pid = fork();
    if (pid == 0) {
        static struct end peer;
        int is_accepted = 0;
        open_end(&peer, provider);
        for (fi_addr_t to = know(&peer, end); peer.num_sent == 0; turn(&peer))
            try(&peer, to, &is_accepted);
        usleep(100000);
        _exit(0);
    }
    while (end->num_received == 0)
        turn(end);
    waitpid(pid, NULL, 0);
    for (int i = 0; i < 50; i++)
        turn(end);
    end->num_received = 0;
}

int main(int argc, char **argv)
{
    static struct end x, y;
    int a_sends = 0, b_sends = 0;
    open_end(&x, argv[1]);
    open_end(&y, argv[1]);
    /* Of two connections the one of the higher port is to stay. */
    struct end *a = ntohs(x.address.sin_port) > ntohs(y.address.sin_port) ? &x : &y;
    struct end *b = a == &x ? &y : &x;
    if (argc > 2)
        have_peer(a, argv[1]);
    fi_addr_t to_b = know(a, b), to_a = know(b, a);
    try(a, to_b, &a_sends);
    turn(a);
    try(b, to_a, &b_sends);
    turn(a);
    turn(b);
    turn(b);
    try(b, to_a, &b_sends);
    for (int i = 0; i < 500; i++) {
        turn(a);
        turn(b);
        try(b, to_a, &b_sends);
    }
    printf("sent %d, received %d\n", b->num_sent, a->num_received);
    return 0;
}
END
gcc -w -I root/usr/include -o crossing crossing.c -L "$lib" -lfabric
run()
{
    LD_LIBRARY_PATH=$lib timeout 60 ./crossing "$@" 2>/dev/null
}
seen="net: $(run net)
net, after a peer has ended: $(run net after)
tcp;ofi_rxm, after a peer has ended: $(run 'tcp;ofi_rxm' after)"
expected="net: sent 1, received 1
net, after a peer has ended: sent 1, received 0
tcp;ofi_rxm, after a peer has ended: sent 1, received 1"
echo "$seen"
[[ $seen == "$expected" ]] || { printf 'changed; expected:\n%s\n' "$expected" >&2; exit 1; }
