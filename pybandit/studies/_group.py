"""Many calls that change a study, on the disk at once: it is waited for once, not for each."""


def together(study, calls):
    """Make calls that change a study in one transaction.

    Parameters
    ----------
    study : Study
    calls : list of callable
        Each changes the study by one of its methods, or is refused.

    Returns
    -------
    list
        Of each call what it returned, or the exception that it raised; on the disk by now.

    Notes
    -----
    A call that is refused leaves the study as it is, and the others stay. Where one fails when
    it has changed something already, as on a full disk, nothing of the transaction is kept, and
    each call is made once more in one of its own.
    """
    if len(calls) > 1:
        try:
            return study._write(lambda _: _all_of(study, calls))
        except Exception:
            # whose error it was is seen when they are alone
            pass
    return [_alone(call) for call in calls]


def whole(study, calls):
    """Make calls that change a study in one transaction: all of them, or none.

    Parameters
    ----------
    study : Study
    calls : list of callable
        Each changes the study by one of its methods.

    Returns
    -------
    list
        What they returned.

    Raises
    ------
    Exception
        Of the first that is refused; nothing is recorded then.
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
                    raise  # the ledger is ahead of what is stored
                done.append(error)
            moved |= study._moved
    finally:
        study._grouped, study._moved = False, moved or study._moved
    return done
