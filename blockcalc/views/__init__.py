"""Derivation -> report: one question a file."""
