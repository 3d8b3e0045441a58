"""Would a wrong formula be noticed? Each of these is planted, and something must fail."""

from __future__ import annotations

import pytest
from battery import CHECKS, failures, fingerprint
from faults import FAULTS, Fault, planted


@pytest.fixture(scope="module")
def healthy() -> list[object]:
    """What the package says without a fault."""
    return list(fingerprint())


def test_without_a_fault_nothing_fails() -> None:
    assert list(failures()) == []


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_fault_is_noticed(fault: Fault, healthy: list[object]) -> None:
    with planted(fault):
        changed = any(said != right for said, right in zip(fingerprint(), healthy, strict=True))
        noticed = next(failures(), None)
    assert changed, f"{fault.name}: changes nothing"
    assert noticed, f"{fault.name}: no check fails"


def test_everything_is_as_it_was(healthy: list[object]) -> None:
    assert list(fingerprint()) == healthy
    assert list(failures()) == []


def test_every_check_is_of_use() -> None:
    """Each check notices some fault; none is there for show."""
    of_use: set[str] = set()
    for fault in FAULTS:
        with planted(fault):
            of_use.update(dict(failures()))
        if len(of_use) == len(CHECKS):
            return
    assert of_use == {run.__name__ for run in CHECKS}
