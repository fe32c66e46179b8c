"""The Cell that MindSpore's rewriter is shown in place of the user's.

`SymbolTree` looks functions up in the module of the Cell's class and copies what it finds into the rewritten
source, MindSpore's own functions too. This module holds no name that a user's construct could mean, so calls
of functions stay calls.
"""

from mindspore.nn import Cell as _Cell


class HalfwiseShell(_Cell):
    """Holds placeholders under the names of the user's layers."""
