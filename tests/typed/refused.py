"""Code that `mypy --strict` must reject, each line with the code of its error."""

import numpy as np

import pybandit as pb
from pybandit.model_selection import BanditSearchCV
from pybandit.studies import Batch

scores = np.ones((3, 3))
pb.best_off(scores, value_range=1.0)  # error: attr-defined
pb.best_of(scores, bets=4)  # error: call-arg
pb.best_of(scores, value_range=1.0, k="two")  # error: arg-type
pb.Items(9, population_size="world")  # error: arg-type
pb.best_of(scores, value_range=1.0).best.upper()  # error: attr-defined
pb.BettingRace(3, 10, value_range=1.0).recomend()  # error: attr-defined
pb.BettingRace(3, 10, value_range=1.0, bet=3)  # error: call-arg
pb.policies.UCB1(3).tell([0], [1.0], missing="wait")  # error: arg-type
pb.tables.Blocks("table", [3], 2)  # error: arg-type
pb.tables.shuffle(scores, "out.parquet", sead=3)  # error: call-arg
pb.race(scores, rng="seed")  # error: arg-type
pb.simulate(3, None, 10)  # error: arg-type
pb.simulate(pb.policies.UCB1(3), None, 10, max_pulls="long")  # error: arg-type
pb.compare([pb.policies.UCB1(3)], None, 10)  # error: arg-type
pb.racing.slice_sample(3, [0.5], n_factors=10)  # error: arg-type
pb.combine_estimators([1], 100)  # error: list-item
study = pb.Study.open("study.db")
batch: Batch = study.ask()  # error: assignment
study.tell("first", [1.0])  # error: arg-type
study.tell(0, [1.0], position=[0])  # error: call-arg
study.recomend()  # error: attr-defined
search = BanditSearchCV(None, {"alpha": [0.1]}, budjet=3)  # error: call-arg
search.fitt(scores)  # error: attr-defined
search.fit(scores).n_fits_.best()  # error: attr-defined
