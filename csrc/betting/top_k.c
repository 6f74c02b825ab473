/* The k best arms by pairwise claims (pybandit/betting/top_k.h). */
#include "pybandit/betting/top_k.h"

#include <stddef.h>
#include <string.h>

enum { ACCEPTED = 1, REJECTED = -1, OPEN = 0 };

void pb_top_k_begin(pb_top_k *top)
{
    for (int64_t i = 0; i < top->n_arms; i++) {
        top->verdicts[i] = OPEN;
        top->arms[i] = i;
        top->sums[i] = 0.0;
    }
    top->n_open = top->n_arms;
    top->n_accepted = top->n_rejected = top->n_read = top->n_evaluations = 0;
    top->decided = 0;
    pb_pairs_begin(&top->beats);
    if (top->near.memory)
        pb_pairs_begin(&top->near);
}

static int64_t count_claims(const pb_top_k *top, int64_t i, int wins)
{
    const unsigned char *claims = top->beats.claims;
    const int64_t n = top->n_arms, arm = top->arms[i];
    int64_t count = 0;
    for (int64_t j = 0; j < top->n_open; j++)
        count += wins ? claims[arm * n + top->arms[j]] : claims[top->arms[j] * n + arm];
    return count;
}

static void remove_decided(pb_top_k *top)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < top->n_open; i++) {
        if (top->verdicts[top->arms[i]] != OPEN)
            continue;
        top->arms[kept] = top->arms[i];
        top->columns[kept] = top->columns[i];
        top->sums[kept++] = top->sums[i];
    }
    top->n_open = kept;
}

/* Gives verdicts by the claims between undecided arms, once; returns 1 if any is new. */
static int judge(pb_top_k *top)
{
    const int64_t places = top->k - top->n_accepted;
    const int64_t others = top->n_arms - top->k - top->n_rejected;
    int64_t n_new = 0;
    if (places <= 0 || others <= 0)
        return 0;
    for (int64_t i = 0; i < top->n_open; i++) {
        int64_t *verdict = top->verdicts + top->arms[i];
        /* contradictory claims could satisfy both conditions */
        if (count_claims(top, i, 0) >= places)
            *verdict = REJECTED, top->n_rejected++, n_new++;
        else if (count_claims(top, i, 1) >= others)
            *verdict = ACCEPTED, top->n_accepted++, n_new++;
    }
    if (n_new)
        remove_decided(top);
    return n_new > 0;
}

/* Marks the positions with the largest sums, as many as arms are still to be accepted. */
static void mark_inside(const pb_top_k *top, unsigned char *inside)
{
    const int64_t places = top->k - top->n_accepted;
    for (int64_t i = 0; i < top->n_open; i++) {
        int64_t ahead = 0;
        for (int64_t j = 0; j < top->n_open; j++)
            ahead += top->sums[j] > top->sums[i] || (top->sums[j] == top->sums[i] && j < i);
        inside[i] = ahead < places;
    }
}

/* Returns 1 if every marked arm has a claim of being within the tolerance of every other one. */
static int leads_nearly(pb_top_k *top)
{
    mark_inside(top, top->inside);
    for (int64_t i = 0; i < top->n_open; i++)
        for (int64_t j = 0; j < top->n_open; j++)
            if (top->inside[i] && !top->inside[j] &&
                !top->near.claims[top->arms[i] * top->n_arms + top->arms[j]])
                return 0;
    return 1;
}

static int is_decided(const pb_top_k *top)
{
    return top->n_accepted >= top->k || top->n_rejected >= top->n_arms - top->k;
}

static void read_item(pb_top_k *top, const double *row)
{
    const int64_t n = top->n_open;
    for (int64_t i = 0; i < n; i++)
        top->rewards[i] = row[top->columns[i]];
    if (top->near.memory)
        pb_pairs_add(&top->near, top->n_read, top->arms, n, top->sums, top->rewards);
    const int found =
        pb_pairs_add(&top->beats, top->n_read, top->arms, n, top->sums, top->rewards);
    /* for large rewards only differences are exact */
    const double first = top->rewards[0];
    const double weight = pb_items_weight(&top->beats.items, top->n_read);
    for (int64_t i = 0; i < n; i++)
        top->sums[i] += weight * (top->rewards[i] - first);
    top->n_read++;
    top->n_evaluations += n;
    while (found && judge(top))
        ;
    top->decided = is_decided(top) || (top->near.memory && leads_nearly(top));
}

void pb_top_k_withdraw(pb_top_k *top, int64_t n_kept, const int64_t *keys,
                       unsigned char *withdrawn)
{
    while (top->n_open > n_kept) {
        int64_t last = 0;
        for (int64_t i = 1; i < top->n_open; i++)
            if (top->sums[i] < top->sums[last] ||
                (top->sums[i] == top->sums[last] && keys[top->arms[i]] > keys[top->arms[last]]))
                last = i;
        withdrawn[top->arms[last]] = 1;
        top->verdicts[top->arms[last]] = REJECTED;
        top->n_rejected++;
        remove_decided(top);
    }
    top->decided |= is_decided(top);
}

pb_status pb_top_k_add(pb_top_k *top, const double *const *rows, int64_t n_rows)
{
    const int64_t n_items = top->beats.items.n_items;
    for (int64_t r = 0; r < n_rows && !top->decided; r++) {
        if (n_items && top->n_read == n_items)
            break;
        if (!pb_items_allow(&top->beats.items, rows[r], top->columns, top->n_open)) {
            top->bad_row = r;
            return PB_RANGE;
        }
        read_item(top, rows[r]);
    }
    return PB_OK;
}

void pb_top_k_leaders(const pb_top_k *top, unsigned char *flags)
{
    unsigned char *inside = top->inside;
    mark_inside(top, inside);
    for (int64_t i = 0; i < top->n_arms; i++)
        flags[i] = top->verdicts[i] == ACCEPTED;
    for (int64_t i = 0; i < top->n_open; i++)
        flags[top->arms[i]] = inside[i];
}
