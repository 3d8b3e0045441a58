"""The largest size that any part of the program takes, so that nothing hangs on a number."""

LARGEST = 10**36
