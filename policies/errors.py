"""The exceptions that halfwise raises on purpose."""


class HalfwiseError(Exception):
    """Something went wrong while running; the message says what, and what to do next."""

    exit_code = 1


class InputError(HalfwiseError):
    """What the user typed or wrote is wrong; the message names the rule, the value and what is allowed."""

    exit_code = 2
