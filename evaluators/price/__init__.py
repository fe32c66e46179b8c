"""Prices: what a training step would take on a device that need not be there."""

from .assume import assume
from .device_file import load_devices
from .devices import Device, Figure, find_device
from .memory import Memory, price_memory
from .price import CastCost, OpCost, Price, price_table
from .boundaries import Boundary, cast_report

__all__ = [
    "Boundary",
    "CastCost",
    "Device",
    "Figure",
    "Memory",
    "OpCost",
    "Price",
    "assume",
    "cast_report",
    "find_device",
    "load_devices",
    "price_memory",
    "price_table",
]
