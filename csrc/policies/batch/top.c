/* Two heaps of arms that meet at a rank (pybandit/policies/batch/top.h). */
#include "pybandit/policies/batch/top.h"

#include <math.h>

#include "../../_shared/wide.h"

/* One of the two heaps: its root is the least value of the top or the largest of the rest. */
typedef enum { REST, TOP } which;

ALWAYS_INLINE int64_t at(const pb_top *top, which heap, int64_t i)
{
    return heap == TOP ? i : top->size - 1 - i;
}

ALWAYS_INLINE int before(which heap, double a, double b)
{
    return heap == TOP ? a < b : a > b;
}

ALWAYS_INLINE int64_t arm_at(const pb_top *top, which heap, int64_t i)
{
    return top->order[at(top, heap, i)];
}

ALWAYS_INLINE void put(pb_top *top, which heap, int64_t i, int64_t arm)
{
    const int64_t place = at(top, heap, i);
    top->order[place] = arm;
    top->place[arm] = place;
}

/* Moves an arm up from hole i; returns where it ends. */
ALWAYS_INLINE int64_t rise(pb_top *top, which heap, int64_t i, int64_t arm)
{
    const double value = top->values[arm];
    while (i > 0) {
        const int64_t parent = (i - 1) / 2, other = arm_at(top, heap, parent);
        if (!before(heap, value, top->values[other]))
            break;
        put(top, heap, i, other);
        i = parent;
    }
    put(top, heap, i, arm);
    return i;
}

/* Moves an arm down from hole i. */
ALWAYS_INLINE void sink(pb_top *top, which heap, int64_t i, int64_t arm)
{
    const int64_t n = heap == TOP ? top->n_top : top->n_rest;
    const double value = top->values[arm];
    for (int64_t child = 2 * i + 1; child < n; child = 2 * i + 1) {
        int64_t other = arm_at(top, heap, child);
        if (child + 1 < n) {
            const int64_t sibling = arm_at(top, heap, child + 1);
            if (before(heap, top->values[sibling], top->values[other])) {
                other = sibling;
                child++;
            }
        }
        if (!before(heap, top->values[other], value))
            break;
        put(top, heap, i, other);
        i = child;
    }
    put(top, heap, i, arm);
}

ALWAYS_INLINE void settle(pb_top *top, which heap, int64_t i, int64_t arm)
{
    if (rise(top, heap, i, arm) == i)
        sink(top, heap, i, arm);
}

/* Exchanges the roots if they are in the wrong order. */
static void exchange_roots(pb_top *top)
{
    if (top->n_top == 0 || top->n_rest == 0)
        return;
    const int64_t least = arm_at(top, TOP, 0), largest = arm_at(top, REST, 0);
    if (top->values[least] < top->values[largest]) {
        sink(top, TOP, 0, largest);
        sink(top, REST, 0, least);
    }
}

/* Returns 1 if the first n_top values are at least as large as the others. */
static int is_divided(const pb_top *top, int64_t n)
{
    double least = INFINITY, largest = -INFINITY;
    for (int64_t i = 0; i < top->n_top; i++)
        least = smaller(least, top->values[top->order[i]]);
    for (int64_t i = top->n_top; i < n; i++)
        largest = larger(largest, top->values[top->order[i]]);
    return least >= largest;
}

/* Moves the arms of the n_top largest values to the front, 0 < n_top < n. O(n) on average. */
static void divide(pb_top *top, int64_t n)
{
    int64_t low = 0, high = n - 1, *order = top->order;
    while (low < high) {
        const double pivot = top->values[order[low + (high - low) / 2]];
        int64_t i = low, j = high;
        while (i <= j) {
            while (top->values[order[i]] > pivot)
                i++;
            while (top->values[order[j]] < pivot)
                j--;
            if (i <= j) {
                const int64_t kept = order[i];
                order[i++] = order[j];
                order[j--] = kept;
            }
        }
        if (top->n_top - 1 <= j)
            high = j;
        else if (top->n_top - 1 >= i)
            low = i;
        else
            break;
    }
}

/* Moves the arms after the first n_top to the end of `order`. */
static void move_rest(pb_top *top, int64_t n)
{
    const int64_t gap = top->size - n;
    for (int64_t i = n - 1; gap > 0 && i >= top->n_top; i--)
        top->order[i + gap] = top->order[i];
}

void pb_top_build(pb_top *top, const int64_t *arms, int64_t n, int64_t rank, int rising)
{
    top->rank = rank;
    top->n_top = rank < n ? rank : n;
    top->n_rest = n - top->n_top;
    /* values that change first are leaves of the heap in which they move away from the root, and
       near the root of the other */
    for (int64_t i = 0; i < n; i++) {
        const int64_t from = rising ? top->n_top - 1 - i : i - top->n_top;
        top->order[i] = arms[from < 0 ? from + n : from];
    }
    if (top->n_rest > 0 && top->n_top > 0 && !is_divided(top, n))
        divide(top, n);
    move_rest(top, n);
    for (int64_t i = 0; i < top->n_top; i++)
        top->place[top->order[i]] = i;
    for (int64_t i = top->size - top->n_rest; i < top->size; i++)
        top->place[top->order[i]] = i;
    for (int64_t i = top->n_top / 2 - 1; i >= 0; i--)
        sink(top, TOP, i, arm_at(top, TOP, i));
    for (int64_t i = top->n_rest / 2 - 1; i >= 0; i--)
        sink(top, REST, i, arm_at(top, REST, i));
}

double pb_top_value(const pb_top *top)
{
    if (top->rank < 1)
        return INFINITY;
    return top->n_top < top->rank ? -INFINITY : top->values[top->order[0]];
}

void pb_top_update(pb_top *top, int64_t arm)
{
    const int64_t place = top->place[arm];
    if (place < top->n_top)
        settle(top, TOP, place, arm);
    else
        settle(top, REST, top->size - 1 - place, arm);
    exchange_roots(top);
}

/* Fills the hole at i, which a removed arm leaves, with the last arm of the heap. */
ALWAYS_INLINE void fill(pb_top *top, which heap, int64_t i)
{
    const int64_t n = heap == TOP ? --top->n_top : --top->n_rest;
    if (i < n)
        settle(top, heap, i, arm_at(top, heap, n));
}

void pb_top_remove(pb_top *top, int64_t arm)
{
    const int64_t place = top->place[arm];
    if (place >= top->n_top) {
        fill(top, REST, top->size - 1 - place);
    } else if (top->n_rest > 0) {
        const int64_t largest = arm_at(top, REST, 0);
        fill(top, REST, 0);
        settle(top, TOP, place, largest);
    } else {
        fill(top, TOP, place);
    }
}

void pb_top_lower_rank(pb_top *top)
{
    top->rank--;
    if (top->n_top <= top->rank)
        return;
    const int64_t least = arm_at(top, TOP, 0);
    fill(top, TOP, 0);
    rise(top, REST, top->n_rest++, least);
}
