"""Prices: what a training step would take on a device that need not be there."""

from .assume import assume
from .boundaries import Boundary, cast_report
from .device_file import load_devices
from .devices import Device, Figure, find_device
from .differences import Difference, differences
from .gradient_sum import GradientSum, gradient_sum
from .memory import Memory, price_memory
from .price import CastCost, OpCost, Price, price_table
from .wants import FOLLOW, LayerWants, PolicyWants, Want, wants
from .what_if import PredictedCast, Prediction, WhatIf
from .words import describe

__all__ = [
    "FOLLOW",
    "Boundary",
    "CastCost",
    "Device",
    "Difference",
    "Figure",
    "GradientSum",
    "LayerWants",
    "Memory",
    "OpCost",
    "PolicyWants",
    "PredictedCast",
    "Prediction",
    "Price",
    "Want",
    "WhatIf",
    "assume",
    "cast_report",
    "describe",
    "differences",
    "find_device",
    "gradient_sum",
    "load_devices",
    "price_memory",
    "price_table",
    "wants",
]
