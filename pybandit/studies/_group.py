"""Make many calls that change a study in one transaction, so that the disk syncs once."""


def together(study, calls):
    """Make calls that change a study in one transaction.

    Parameters
    ----------
    study : Study
    calls : list of callable
        Each calls a method that changes the study. It may fail.

    Returns
    -------
    list
        For each call, its return value or the exception that it raised. The changes are on the
        disk.

    Notes
    -----
    A rejected call changes nothing and does not affect the others. If a call fails after it has
    changed something, as on a full disk, the whole transaction is rolled back, and each call is
    repeated in a transaction of its own.
    """
    if len(calls) > 1:
        try:
            return study._write(lambda _: _all_of(study, calls))
        except Exception:
            # the separate calls below show which one fails
            pass
    return [_alone(call) for call in calls]


def whole(study, calls):
    """Make calls that change a study in one transaction: all of them or none.

    Parameters
    ----------
    study : Study
    calls : list of callable
        Each calls a method that changes the study.

    Returns
    -------
    list
        Their return values.

    Raises
    ------
    Exception
        The exception of the first call that fails. Nothing is recorded.
    """
    return study._write(lambda _: _all_of(study, calls, is_whole=True))


def _alone(call):
    try:
        return call()
    except Exception as error:
        return error


def _all_of(study, calls, is_whole=False):
    done, moved, study._grouped = [], False, True
    try:
        for call in calls:
            study._moved = False
            try:
                done.append(call())
            except Exception as error:
                if is_whole or study._moved:
                    raise  # the state in memory is ahead of the file
                done.append(error)
            moved |= study._moved
    finally:
        study._grouped, study._moved = False, moved or study._moved
    return done
