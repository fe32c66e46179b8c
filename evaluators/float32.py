"""The policy that every other one is held against."""

from ..policies import BUILTIN, Policy


def float32_policy(like: Policy) -> Policy:
    """Everything in float32, in the same execution mode as another policy."""
    return BUILTIN["O0"].replace(mode=like.mode)


def is_float32(policy: Policy) -> bool:
    """Whether it is that policy."""
    return policy.digest == float32_policy(policy).digest
