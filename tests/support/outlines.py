"""Small networks, and rules that speak of their layers, for property tests."""

from hypothesis import strategies as st

from halfwise.policies import CellOutline, NetworkOutline


@st.composite
def outlines(draw: st.DrawFn) -> NetworkOutline:
    """Small trees with types and, sometimes, a Cell under a second name."""
    paths = {""}
    for path in draw(st.lists(st.lists(st.sampled_from("ab"), min_size=1, max_size=3).map(".".join), max_size=5)):
        parts = path.split(".")
        paths |= {".".join(parts[:length]) for length in range(1, len(parts) + 1)}
    types = st.sampled_from([("nn.Dense", "nn.Cell"), ("Mine", "nn.Dense", "nn.Cell"), ("nn.Cell",), ("Mine",)])
    cells = [CellOutline(path, (), draw(types)) for path in sorted(paths)]
    if draw(st.booleans()):
        place = draw(st.integers(0, len(cells) - 1))
        parent = draw(st.sampled_from(sorted(paths)))
        if cells[place].path:
            alias = f"{parent}.s" if parent else "s"
            cells[place] = CellOutline(cells[place].path, (alias,), cells[place].type_names)
    return NetworkOutline(tuple(cells))


PATTERNS = (
    "",
    "a",
    "b",
    "a.b",
    "a.s",
    "s",
    "*",
    "a.*",
    "**",
    "**.b",
    "*.?",
    "a.**",
    "nn.Dense",
    "nn.Cell",
    "type:Mine",
)
rules = st.one_of(
    st.tuples(st.sampled_from((*PATTERNS[1:], ".")), st.sampled_from(["float32", "float16", "auto"])),
    st.tuples(
        st.tuples(st.sampled_from(PATTERNS), st.sampled_from(["Mul", "Muls", "Exp"])).map("::".join),
        st.sampled_from(["float32", "float16"]),
    ),
)
