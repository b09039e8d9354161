/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/net/ofi.h"

#include <dirent.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <rdma/fabric.h>
#include <rdma/fi_errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/bell.h"
#include "runtime/base/clock.h"
#include "runtime/base/log.h"
#include "runtime/net/ofi_end.h"

/* How long a caller may send nothing before the kernel passes it to the provider, where it takes a
 * descriptor. */
static const int silent_seconds = 3600;

static bool is_listener(int fd, const void *address, size_t bytes)
{
    struct sockaddr_storage name;
    socklen_t name_bytes = sizeof name;
    int listens = 0;
    socklen_t listens_bytes = sizeof listens;
    return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &listens_bytes) == 0 && listens &&
           getsockname(fd, (struct sockaddr *)&name, &name_bytes) == 0 && name_bytes == bytes &&
           memcmp(&name, address, bytes) == 0;
}

static int find(const void *address, size_t bytes)
{
    DIR *folder = opendir("/proc/self/fd");
    if (!folder)
        return -1;
    int found = -1;
    for (struct dirent *entry; found < 0 && (entry = readdir(folder));) {
        int fd = (int)strtol(entry->d_name, NULL, 10); /* 0 for names that are not numbers */
        found = is_listener(fd, address, bytes) ? fd : -1;
    }
    closedir(folder);
    return found;
}

/* For the provider's listener at ADDRESS, whose descriptor the provider doesn't tell us. From now
 * on the kernel holds back callers that send nothing, as long as they fit into the listener's
 * backlog. A real peer sends first. Does nothing for providers whose addresses are not TCP, or if
 * the listener is not found. */
static void ofi_listener_defer(const struct fi_info *info, const void *address, size_t bytes)
{
    if (!cohort__ofi_address_is_tcp(info))
        return;
    int fd = find(address, bytes);
    if (fd < 0 ||
        setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &silent_seconds, sizeof silent_seconds) != 0)
        cohort__log(COHORT__LOG_INFO, "net: callers that say nothing each take a descriptor");
}

/* How long a provider may take to close its endpoint. Normally it takes milliseconds. */
enum { CLOSE_SECONDS = 5 };

static const char *setting(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return value && *value ? value : otherwise;
}

static const char *provider_name(const struct cohort__ofi *ofi)
{
    return setting("COHORT_OFI_PROVIDER",
                   cohort__ofi_library_provider(ofi->library->version, ofi->library->revision));
}

cohort_status cohort__ofi_fail(const struct cohort__ofi *ofi, const char *call, int error)
{
    const char *provider = ofi->info ? ofi->info->fabric_attr->prov_name : provider_name(ofi);
    return cohort_fail(error == -FI_ENOMEM ? COHORT_ERR_NO_MEMORY : COHORT_ERR_NETWORK,
                       "libfabric provider %s at %s: %s: %s", provider, ofi->local_address, call,
                       ofi->library->strerror(-error));
}

static void hints_fill(struct fi_info *hints, char *provider)
{
    hints->fabric_attr->prov_name = provider;
    hints->caps = FI_MSG | FI_RMA;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    /* With FI_PROGRESS_AUTO ofi_rxm has a thread of its own for connections. */
    hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
    hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
    hints->domain_attr->threading = FI_THREAD_SAFE;
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
    hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_PROV_KEY | FI_MR_ALLOCATED | FI_MR_LOCAL;
    hints->tx_attr->size = COHORT__OFI_NUM_SENDS;
    hints->rx_attr->size = COHORT__OFI_NUM_SENDS;
}

/* If several providers match the name ("tcp" matches both), moves the one with exactly that name to
 * the front. */
static void info_choose(struct cohort__ofi *ofi, const char *provider)
{
    struct fi_info **at = &ofi->info;
    while (*at && strcmp((*at)->fabric_attr->prov_name, provider) != 0)
        at = &(*at)->next;
    struct fi_info *chosen = *at;
    if (!chosen)
        return;
    *at = chosen->next;
    chosen->next = ofi->info;
    ofi->info = chosen;
}

/* The provider's name in the hints excludes all others from the choice. It can't keep them from
 * starting, which takes most of the time of the first fi_getinfo. */
static int info_try(struct cohort__ofi *ofi, const char *name)
{
    struct fi_info *hints = ofi->library->dupinfo(NULL);
    char *provider = strdup(name);
    if (!hints || !provider) {
        ofi->library->freeinfo(hints);
        free(provider);
        return -FI_ENOMEM;
    }
    hints_fill(hints, provider);
    uint32_t version = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION);
    int error =
        ofi->library->getinfo(version, ofi->local_address, NULL, FI_SOURCE, hints, &ofi->info);
    if (!error)
        info_choose(ofi, provider);
    ofi->library->freeinfo(hints);
    return error;
}

static cohort_status info_get(struct cohort__ofi *ofi)
{
    int error = info_try(ofi, provider_name(ofi));
    if (error == -FI_ENODATA && !setting("COHORT_OFI_PROVIDER", NULL))
        error = info_try(ofi, COHORT__OFI_OLD_PROVIDER);
    if (error == -FI_ENODATA)
        return cohort_fail(COHORT_ERR_NETWORK,
                           "libfabric provider %s at %s: fi_getinfo: there is no such provider "
                           "(COHORT_OFI_PROVIDER), or no such address (COHORT_OFI_ADDRESS)",
                           provider_name(ofi), ofi->local_address);
    return error ? cohort__ofi_fail(ofi, "fi_getinfo", error) : COHORT_OK;
}

/* Two faults of `net` are avoided. It has no fi_trywait that would take back the signal of its
 * queue, so who waited for the queue's own descriptor would never sleep again; fi_wait on a wait
 * set does take it back. And it looks up registered memory, for a peer that fetches, without the
 * lock under which other threads register memory. */
static cohort_status queue_open(struct cohort__ofi *ofi)
{
    bool is_net = strcmp(ofi->info->fabric_attr->prov_name, "net") == 0;
    struct fi_cq_attr cq_attr = {
        .format = FI_CQ_FORMAT_MSG,
        .wait_obj = is_net ? FI_WAIT_SET : FI_WAIT_FD,
        .size = 2 * COHORT__OFI_NUM_SENDS + COHORT__OFI_NUM_RECEIVES,
    };
    int error = is_net ? cohort__ofi_wait_set_open(ofi->fabric, &ofi->wait) : 0;
    if (error)
        return cohort__ofi_fail(ofi, "fi_wait_open", error);
    ofi->is_serial = is_net;
    cq_attr.wait_set = ofi->wait;
    error = fi_cq_open(ofi->domain, &cq_attr, &ofi->cq, NULL);
    return error ? cohort__ofi_fail(ofi, "fi_cq_open", error) : COHORT_OK;
}

static cohort_status endpoint_open(struct cohort__ofi *ofi)
{
    struct fi_av_attr av_attr = {.type = ofi->info->domain_attr->av_type};
    int error = ofi->library->fabric(ofi->info->fabric_attr, &ofi->fabric, NULL);
    if (error)
        return cohort__ofi_fail(ofi, "fi_fabric", error);
    if ((error = fi_domain(ofi->fabric, ofi->info, &ofi->domain, NULL)))
        return cohort__ofi_fail(ofi, "fi_domain", error);
    if ((error = fi_av_open(ofi->domain, &av_attr, &ofi->av, NULL)))
        return cohort__ofi_fail(ofi, "fi_av_open", error);
    cohort_status st = queue_open(ofi);
    if (st != COHORT_OK)
        return st;
    if ((error = fi_endpoint(ofi->domain, ofi->info, &ofi->ep, NULL)))
        return cohort__ofi_fail(ofi, "fi_endpoint", error);
    if ((error = fi_ep_bind(ofi->ep, &ofi->av->fid, 0)) ||
        (error = fi_ep_bind(ofi->ep, &ofi->cq->fid, FI_TRANSMIT | FI_RECV)))
        return cohort__ofi_fail(ofi, "fi_ep_bind", error);
    if ((error = fi_enable(ofi->ep)))
        return cohort__ofi_fail(ofi, "fi_enable", error);
    if ((error = cohort__ofi_receives_post(ofi)))
        return cohort__ofi_fail(ofi, "fi_recv", error);
    return COHORT_OK;
}

/* Keys begin at a random number, so that a key from an earlier run of a locality matches
 * nothing. */
static void keys_start(struct cohort__ofi *ofi)
{
    size_t bits = 8 * ofi->info->domain_attr->mr_key_size;
    if (getrandom(&ofi->next_key, sizeof ofi->next_key, GRND_NONBLOCK) < 0)
        ofi->next_key = cohort__clock_now();
    ofi->next_key &= (bits < 64 ? UINT64_C(1) << bits : 0) - 1;
    ofi->next_key /= 2;
}

static bool watch(int epoll, int fd)
{
    struct epoll_event event = {.events = EPOLLIN};
    return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

/* One fd for the loop: the completion queue's, a wake-up and a timer. */
static cohort_status poller_open(struct cohort__ofi *ofi)
{
    int cq_fd = -1;
    int error = fi_control(&ofi->cq->fid, FI_GETWAIT, &cq_fd);
    if (error)
        return cohort__ofi_fail(ofi, "fi_control(FI_GETWAIT)", error);
    ofi->wake_fd = cohort__bell_create();
    ofi->retry_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    int fd = epoll_create1(EPOLL_CLOEXEC);
    ofi->net.poller = (struct cohort__poller){
        .context = ofi,
        .progress = cohort__ofi_progress,
        .expects = cohort__ofi_expects,
        .arm = cohort__ofi_arm,
        .disarm = cohort__ofi_disarm,
        .fd = fd,
    };
    if (ofi->wake_fd < 0 || ofi->retry_fd < 0 || fd < 0 || !watch(fd, cq_fd) ||
        !watch(fd, ofi->wake_fd) || !watch(fd, ofi->retry_fd))
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no descriptor to wait for the network: %m");
    return COHORT_OK;
}

static void fid_close(struct fid *fid)
{
    if (fid)
        fi_close(fid);
}

static void fd_close(int fd)
{
    if (fd >= 0)
        close(fd);
}

static void *close_endpoint(void *context)
{
    fid_close(context);
    return NULL;
}

/* Starts a thread that takes no signals: those are for the program's own threads. False: it could
 * not be started. */
static bool start_closing(struct cohort__ofi *ofi, pthread_t *ret_closer)
{
    sigset_t all, mask;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &mask);
    bool has_started = pthread_create(ret_closer, NULL, close_endpoint, &ofi->ep->fid) == 0;
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    return has_started;
}

/* Closes the endpoint. False: the provider is still closing it. The tcp provider of 1.17 may do so
 * for ever, after an outsider has sent it bytes that break its own protocol. */
static bool end_endpoint(struct cohort__ofi *ofi)
{
    pthread_t closer;
    struct timespec until;
    if (!ofi->ep)
        return true;
    if (!start_closing(ofi, &closer)) {
        close_endpoint(&ofi->ep->fid);
        return true;
    }
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += CLOSE_SECONDS;
    if (pthread_timedjoin_np(closer, NULL, &until) == 0)
        return true;
    pthread_detach(closer);
    cohort__log(COHORT__LOG_WARN,
                "net: libfabric provider %s has not closed its endpoint for %d s; that is left to "
                "the end of the process",
                ofi->info->fabric_attr->prov_name, CLOSE_SECONDS);
    return false;
}

/* Also destroys one that is only partly created. */
static void destroy(struct cohort__net *net)
{
    struct cohort__ofi *ofi = (struct cohort__ofi *)net;
    pthread_mutex_lock(&ofi->lock);
    ofi->is_closing = true;
    pthread_mutex_unlock(&ofi->lock);
    if (ofi->net.address_bytes > 0)
        cohort__ofi_linger(ofi);
    if (!end_endpoint(ofi))
        return; /* the provider may still use all of it */
    cohort__ofi_fetches_cancel(ofi);
    cohort__ofi_landings_fini(ofi);
    cohort__ofi_regions_fini(ofi);
    cohort__ofi_sends_fini(ofi);
    cohort__ofi_receives_fini(ofi);
    fid_close(ofi->cq ? &ofi->cq->fid : NULL);
    fid_close(ofi->wait ? &ofi->wait->fid : NULL);
    fid_close(ofi->av ? &ofi->av->fid : NULL);
    cohort__ofi_peers_fini(ofi);
    fid_close(ofi->domain ? &ofi->domain->fid : NULL);
    fid_close(ofi->fabric ? &ofi->fabric->fid : NULL);
    if (ofi->info)
        ofi->library->freeinfo(ofi->info);
    fd_close(ofi->net.poller.fd);
    fd_close(ofi->retry_fd);
    fd_close(ofi->wake_fd);
    pthread_mutex_destroy(&ofi->lock);
    free(ofi);
}

/* A provider reports that bytes have left, not that they have arrived. And ofi_rxm reconnects after
 * a connection has broken. */
static bool may_lose(const struct cohort__net *net, uint32_t peer)
{
    (void)net;
    (void)peer;
    return true;
}

static const struct cohort__net_operations operations = {
    .name = "ofi",
    .destroy = destroy,
    .add_peer = cohort__ofi_peer_add,
    .remove_peer = cohort__ofi_peer_remove,
    .send = cohort__ofi_send,
    .release = cohort__ofi_release,
    .expose = cohort__ofi_expose,
    .withdraw = cohort__ofi_withdraw,
    .fetch = cohort__ofi_fetch,
    .may_lose = may_lose,
};

static struct cohort__ofi *allocate(const struct cohort__net_handlers *handlers)
{
    struct cohort__ofi *ofi = calloc(1, sizeof *ofi);
    if (!ofi)
        return NULL;
    ofi->net.operations = &operations;
    ofi->net.handlers = *handlers;
    ofi->net.max_message = COHORT__OFI_MAX_PACKET - COHORT__PACKET_OVERHEAD;
    ofi->net.max_in_fragments = COHORT__OFI_MAX_IN_FRAGMENTS;
    ofi->net.max_fetch = COHORT__OFI_MAX_FETCH;
    ofi->net.max_fetches = COHORT__OFI_MAX_FETCHES;
    ofi->net.poller.fd = -1;
    ofi->wake_fd = -1;
    ofi->retry_fd = -1;
    pthread_mutex_init(&ofi->lock, NULL);
    cohort__map_init(&ofi->peers);
    cohort__list_init(&ofi->all_peers);
    cohort__list_init(&ofi->blocked);
    cohort__list_init(&ofi->lost);
    cohort__list_init(&ofi->sends);
    cohort__list_init(&ofi->sending);
    cohort__list_init(&ofi->batches);
    cohort__list_init(&ofi->receives);
    cohort__list_init(&ofi->all_receives);
    cohort__list_init(&ofi->fetches);
    cohort__list_init(&ofi->failed);
    cohort__list_init(&ofi->landings);
    cohort__list_init(&ofi->regions);
    return ofi;
}

cohort_status cohort__ofi_create(const struct cohort__net_handlers *handlers, uint32_t number,
                                 const char *address, struct cohort__net **ret_net)
{
    const char *local = setting("COHORT_OFI_ADDRESS", address ? address : "127.0.0.1");
    if (strlen(local) >= sizeof((struct cohort__ofi *)NULL)->local_address)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "no network address: '%.80s'", local);
    struct cohort__ofi *ofi = allocate(handlers);
    if (!ofi)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for a network endpoint");
    ofi->number = number;
    strcpy(ofi->local_address, local);
    cohort_status st = cohort__ofi_library_load(&ofi->library);
    if (st == COHORT_OK)
        st = info_get(ofi);
    if (st == COHORT_OK) {
        keys_start(ofi);
        st = endpoint_open(ofi);
    }
    if (st == COHORT_OK)
        st = poller_open(ofi);
    if (st == COHORT_OK)
        st = cohort__ofi_address_set(ofi);
    if (st != COHORT_OK) {
        destroy(&ofi->net);
        return st;
    }
    ofi_listener_defer(ofi->info, ofi->raw, ofi->net.address + ofi->net.address_bytes - ofi->raw);
    *ret_net = &ofi->net;
    return COHORT_OK;
}
