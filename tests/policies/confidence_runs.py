"""Run a policy with a confidence and its reference implementation on the same rewards."""


def table_of(rng, n_arms, law):
    means = rng.random(n_arms)
    if law == "gaussian-unknown":
        spreads = rng.choice([0.1, 1.0, 3.0], n_arms)[:, None]
        return means[:, None] * 3 + spreads * rng.standard_normal((n_arms, 400))
    if law == "gaussian":
        return means[:, None] * 3 + rng.standard_normal((n_arms, 400))
    if law == "bernoulli":
        return (rng.random((n_arms, 400)) < means[:, None]) * 1.0
    return rng.poisson(4 * means[:, None], (n_arms, 400)) * 1.0


def orders(policy, reference, table, most=300):
    """Return the orders of pulls of both, after checking that they end alike."""
    seen, order = [0] * policy.n_arms, []

    def draw(arm):
        seen[arm] += 1
        return float(table[arm, seen[arm] - 1])

    out = reference.run(draw, most)
    seen = [0] * policy.n_arms
    while not policy.done and policy.n_pulls + reference.per_round <= max(most, policy.n_arms):
        arms = policy.ask()
        policy.tell(arms, [draw(arm) for arm in arms])
        order += arms.tolist()
    assert policy.decided == reference.stopped
    answer = policy.recommend().tolist()
    assert answer == out if isinstance(out, list) else answer[0] == out
    return order, reference.order
