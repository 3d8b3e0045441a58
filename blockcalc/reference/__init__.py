"""The reference: a forward pass in numpy, written by hand from the configuration alone."""

from blockcalc.reference.decoder import Cache, Result, forward
from blockcalc.reference.probe import Part, Probe, probe
from blockcalc.reference.scale import fits, largest_part_bytes, scaled_down
from blockcalc.reference.weights import make_weights, random_weights, stored_shapes, weight_shapes

__all__ = [
    "Cache",
    "Part",
    "Probe",
    "Result",
    "fits",
    "forward",
    "largest_part_bytes",
    "make_weights",
    "probe",
    "random_weights",
    "scaled_down",
    "stored_shapes",
    "weight_shapes",
]
