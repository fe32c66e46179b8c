"""What a precision policy is: the value, its text and file forms, and what it asks of a network."""

from .builtin import BUILTIN, LEVELS
from .document import read_document
from .errors import HalfwiseError, InputError
from .files import load_policy, save_policy
from .json_value import JsonMapping
from .loss_scaling import DynamicLossScaling, LossScaling, NoLossScaling, StaticLossScaling
from .ops import GRAPH_NAMES, OP_CLASSES
from .outline import CellOutline, NetworkOutline
from .policy import Mode, OpLists, Policy
from .precision import FORMATS, LOW_PRECISIONS, LowPrecision, NumberFormat, Precision, RulePrecision
from .raising import raised, safer
from .regions import Region, region_of
from .resolve import Assignment, idle_rules, resolve
from .schedule import Phase, PolicySchedule, load_schedule
from .text import parse_policy

__all__ = [
    "BUILTIN",
    "FORMATS",
    "GRAPH_NAMES",
    "LEVELS",
    "LOW_PRECISIONS",
    "OP_CLASSES",
    "Assignment",
    "CellOutline",
    "DynamicLossScaling",
    "HalfwiseError",
    "InputError",
    "JsonMapping",
    "LossScaling",
    "LowPrecision",
    "Mode",
    "NetworkOutline",
    "NoLossScaling",
    "NumberFormat",
    "OpLists",
    "Phase",
    "Policy",
    "PolicySchedule",
    "Precision",
    "Region",
    "RulePrecision",
    "StaticLossScaling",
    "idle_rules",
    "load_policy",
    "load_schedule",
    "parse_policy",
    "raised",
    "read_document",
    "region_of",
    "resolve",
    "safer",
    "save_policy",
]
