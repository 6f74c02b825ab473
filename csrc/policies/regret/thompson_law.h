#ifndef PYBANDIT_THOMPSON_LAW_H
#define PYBANDIT_THOMPSON_LAW_H

#include "pybandit/policies/regret/thompson.h"

/* The posterior of an arm, shared by the choice and the placement of the threshold. */
static inline int is_gaussian(const pb_thompson *thompson)
{
    return thompson->law == PB_THOMPSON_GAUSSIAN;
}

static inline double a_of(const pb_thompson *thompson, const pb_thompson_arm *arm)
{
    return thompson->alpha + arm->gained;
}

static inline double b_of(const pb_thompson *thompson, const pb_thompson_arm *arm)
{
    return thompson->beta + arm->lost;
}

static inline int has_theta(const pb_thompson *thompson, const pb_thompson_arm *arm)
{
    if (thompson->aside && thompson->aside[arm - thompson->arms])
        return 0;
    return !is_gaussian(thompson) || arm->lost > 0.0;
}

#endif
