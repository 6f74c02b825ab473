"""ThreadSanitizer finds a data race planted in a kernel, and nothing else."""

import pytest

from threads import native


@pytest.mark.slow
def test_a_planted_race_is_found(tmp_path):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    whole.mkdir(), broken.mkdir()
    shared = native.HERE / "c" / "shared.c"
    assert native.by_eight(shared, native.kernels(whole), whole)[0] == 0
    status, said = native.by_eight(shared, native.kernels(broken, plant=True), broken)
    assert status and "data race" in said and "global 'n_calls'" in said


def test_all_c_tests_are_run():
    assert {"test_race", "test_heap", "test_minibatch"} <= {path.stem for path in native.TESTS}
    assert "n_calls++" in native.planted(native.ROOT / "csrc" / "racing" / native.KERNEL)
