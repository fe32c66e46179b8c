"""Which layer each op of the asked stage belongs to.

Each rule below was checked on networks of repeated blocks, where each block must hold the same ops.

Forward ops. The innermost mark (layer_marks) in an op's stack of source positions is its Cell, unless one of two
things broke the stack:
- The frame of its Cell is missing (lost_frames). Then the scope that MindSpore noted decides, if it stands below
  the caller. It is certain if the source names that Cell, or if that Cell alone of its class has too few such ops.
- MindSpore compiled a function once and copied it to its callers, so that a copy carries another's stack. Copies
  share a `unique_id`; an op without one that stands in a function may be a copy too. A copy belongs to a Cell of
  the classes that their stacks name: the one that holds all that its data comes from and all that it goes to; else
  the one closest by path to these. If several are equally close, its stack decides, if over all ops of that source
  line the stacks name each Cell equally often; otherwise the Cell that has fewest of these ops. The closest is a
  guess: it is certain only if in the end all Cells of the class have equally many ops of that line.

Gradient ops. `forward_unique_id` names the forward op. Where several have that id: the one whose value the
gradient op takes, else the closest, which is a guess as above.

Ops that the framework merged or made have no stack of their own: they get the layer of the ops that take their
value, or failing that, of those that give it. Where these are not of one mind (a cast that two layers share), the
first decides and the op is marked uncertain.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ...policies.outline import NetworkOutline
from .asked_graph import AskedGraph, AskedOp
from .layer_marks import layer_number
from .layer_paths import common, scope_of, within
from .lost_frames import lost_frame
from .step_parts import Direction, direction_of, directions_of, innermost_mark


@dataclass(frozen=True)
class Place:
    """Where an op belongs: the layer's path (None outside the network) and the part of the step.

    `forward` is the id of a gradient op's forward op, when it is still in the graph.
    """

    layer: str | None
    certain: bool
    direction: Direction
    forward: int | None


class _Layer(NamedTuple):
    path: str | None
    certain: bool


def attribute(graph: AskedGraph, outline: NetworkOutline) -> tuple[Place, ...]:
    """One place for each op of the graph, in its order."""
    return _Attribution(graph, outline).places()


class _Attribution:
    def __init__(self, graph: AskedGraph, outline: NetworkOutline) -> None:
        self._ops = graph.ops
        self._outline = outline
        self._cells = outline.cells
        self._directions: list[Direction] = directions_of(graph.ops)
        outside = [op.id for op in graph.ops if self._directions[op.id] not in ("forward", "gradient")]
        self._layers = dict.fromkeys(outside, _Layer(None, True))
        self._by_id: dict[str, list[AskedOp]] = defaultdict(list)
        self._by_line: dict[tuple, list[AskedOp]] = defaultdict(list)
        self._by_forward_op: dict[tuple, list[AskedOp]] = defaultdict(list)
        for op in graph.ops:
            if op.node.unique_id is not None:
                self._by_id[op.node.unique_id].append(op)
            if self._directions[op.id] == "forward":
                self._by_line[self._line(op)].append(op)
            else:
                self._by_forward_op[op.node.op, op.node.forward_unique_id].append(op)

    def places(self) -> tuple[Place, ...]:
        self._settle("forward", self._of_stack)
        self._settle("forward", self._of_lost_frame)
        self._doubt_contradicted()
        self._settle("forward", self._enclosed)
        sure = set(self._layers)
        self._settle("forward", self._closest_of_class)
        self._settle("forward", self._claimed)
        self._doubt_uneven(self._by_line, sure, self._cells_of_class)
        self._spread("forward")
        self._settle("gradient", self._of_forward_op)
        self._settle("gradient", self._of_taken_forward_op)
        sure = set(self._layers)
        self._settle("gradient", self._of_closest_forward_op)
        self._doubt_uneven(self._by_forward_op, sure, self._forward_layers)
        self._settle("gradient", self._of_vanished_forward_op)
        self._spread("gradient")
        return tuple(self._place(op) for op in self._ops)

    def _place(self, op: AskedOp) -> Place:
        direction = self._directions[op.id]
        layer = self._layers.get(op.id, _Layer(None, False))
        return Place(layer.path, layer.certain, direction, self._forward_id(op, layer.path))

    def _settle(self, direction: Direction, rule: Callable[[AskedOp], _Layer | None]) -> None:
        """Apply a rule to the ops of a direction that have no layer yet, until it finds no more."""
        waiting = [op for op in self._ops if self._directions[op.id] == direction and op.id not in self._layers]
        changed = True
        while changed:
            changed = False
            for op in waiting:
                found = rule(op) if op.id not in self._layers else None
                if found is not None:
                    self._layers[op.id] = found
                    changed = True

    # Forward ops

    def _has_stack(self, op: AskedOp) -> bool:
        """Whether its stack says anything: that of a method of tensors (`x.sum()`) can be the finite check's."""
        return bool(op.node.stack) and direction_of(op) != "scaling"

    def _of_stack(self, op: AskedOp) -> _Layer | None:
        if not self._has_stack(op) or self._may_be_copy(op):
            return None
        claim = self._claim(op)
        lost = lost_frame(op.node.stack, self._outline)
        whole = lost is None or (lost.cell is None and scope_of(op) == claim)
        return _Layer(claim, True) if whole else None

    def _may_be_copy(self, op: AskedOp) -> bool:
        """Whether an op's stack may be that of another Cell of several."""
        if len(self._cells_of_class(op)) == 1:
            return False
        in_function = layer_number(op.node.stack[-1].file) is None
        if op.node.unique_id is None:
            return in_function
        # Ops of one id that all claim the Cell that they are written in are that Cell called again, not copies.
        same_id = self._by_id[op.node.unique_id]
        return len(same_id) > 1 and (in_function or len({self._claim(other) for other in same_id}) > 1)

    def _of_lost_frame(self, op: AskedOp) -> _Layer | None:
        """For an op whose own Cell's frame is missing from its stack."""
        if not self._has_stack(op) or self._may_be_copy(op):
            return None
        lost, claim, scope = lost_frame(op.node.stack, self._outline), self._claim(op), scope_of(op)
        named = lost.cell if lost else None
        if scope not in {cell.path for cell in self._cells} or not within(scope, claim or ""):
            return _Layer(named or claim, False)
        return _Layer(scope, scope == named or self._lacks(scope, op))

    def _lacks(self, path: str, op: AskedOp) -> bool:
        """Whether a Cell has one op of a kind less than every other Cell of its class has."""
        held = Counter(
            layer.path for other, layer in self._layers.items() if self._ops[other].node.op == op.node.op
        )
        number = next(number for number, cell in enumerate(self._cells) if cell.path == path)
        others = {held[other] for other in self._same_class(number) if other != path}
        return others == {held[path] + 1}

    def _enclosed(self, op: AskedOp) -> _Layer | None:
        """For a copy between ops of one Cell, with nothing but copies between it and them."""
        sources, targets = self._known(op, lambda o: o.producers), self._known(op, lambda o: o.consumers)
        if not self._has_stack(op) or not sources or not targets:
            return None
        around = [self._layers[n].path or "" for n in sources | targets]
        holding = [path for path in self._cells_of_class(op) if all(within(other, path) for other in around)]
        return _Layer(holding[0], True) if len(holding) == 1 else None

    def _known(self, op: AskedOp, side: Callable[[AskedOp], Iterable[int]]) -> set[int]:
        """The nearest forward ops on one side that have a layer; none if the network's edge is as near."""
        known, seen, waiting = set[int](), {op.id}, [op]
        while waiting:
            beside = {n for n in side(waiting.pop()) if self._directions[n] in ("forward", "loss")} - seen
            if not beside or any(self._directions[n] == "loss" for n in beside):
                return set()
            seen |= beside
            known |= {n for n in beside if n in self._layers}
            waiting += [self._ops[n] for n in beside if n not in self._layers]
        return known

    def _closest_of_class(self, op: AskedOp) -> _Layer | None:
        """For an op whose stack may be another's."""
        closest = self._closest(op, self._cells_of_class(op)) if self._has_stack(op) else []
        return _Layer(closest[0], True) if len(closest) == 1 else None

    def _claimed(self, op: AskedOp) -> _Layer | None:
        """For an op that is equally close to several Cells."""
        if not self._has_stack(op):
            return None
        group, claim = self._by_line[self._line(op)], self._claim(op)
        if len(set(Counter(map(self._claim, group)).values())) == 1:
            return _Layer(claim, True)
        closest = self._closest(op, self._cells_of_class(op)) or self._cells_of_class(op)
        held = Counter(self._layers[other.id].path for other in group if other.id in self._layers)
        fewest = [path for path in closest if held[path] == min(held[p] for p in closest)]
        return _Layer(fewest[0], True) if len(fewest) == 1 else _Layer(claim, False)

    def _doubt_contradicted(self) -> None:
        """Mark a claim uncertain where another Cell of the class has the op's Parameters or all that is around."""
        for op in self._ops:
            claim = self._layers[op.id].path if op.id in self._layers else None
            if self._directions[op.id] == "forward" and claim is not None and op.node.stack:
                related = {path for path in self._cells_of_class(op) if within(claim, path) or within(path, claim)}
                others = [path for path in self._cells_of_class(op) if path not in related]
                around = (self._known(op, lambda o: o.producers), self._known(op, lambda o: o.consumers))
                held = [self._layers[n].path or "" for n in set().union(*around)] if all(around) else []
                owned = any(within(name, path) for path in others for name in op.parameters)
                if owned or (held and any(all(within(path, other) for path in held) for other in others)):
                    self._layers[op.id] = _Layer(claim, False)

    def _doubt_uneven(
        self,
        groups: Mapping[tuple, list[AskedOp]],
        sure: Collection[int],
        possible: Callable[[AskedOp], Iterable[str | None]],
    ) -> None:
        """Mark guesses uncertain where the possible Cells of a group of ops don't hold equally many of them."""
        for group in groups.values():
            guessed = [op for op in group if op.id in self._layers and op.id not in sure]
            held = Counter(self._layers[op.id].path for op in group if op.id in self._layers)
            paths = {path for op in guessed for path in possible(op)}
            if len({held[path] for path in paths}) > 1:
                self._layers.update({op.id: _Layer(self._layers[op.id].path, False) for op in guessed})

    def _line(self, op: AskedOp) -> tuple:
        """Where an op is written, whichever Cell of the class runs it."""
        number = innermost_mark(op.node.stack)
        if number is None:
            return ()
        marked = max(place for place, p in enumerate(op.node.stack) if layer_number(p.file) == number)
        inside = [(Path(p.file).name, p.line) for p in op.node.stack[marked:]]
        return (op.node.op, self._cells[number].type_names, *inside)

    def _cells_of_class(self, op: AskedOp) -> list[str]:
        """The Cells that an op may belong to: those of its Cell's class, or of its copies' Cells' classes."""
        copies = self._by_id[op.node.unique_id] if op.node.unique_id else [op]
        numbers = {number for copy in copies if (number := innermost_mark(copy.node.stack)) is not None}
        classes = {self._cells[number].type_names for number in numbers}
        return [cell.path for cell in self._cells if cell.type_names in classes]

    def _same_class(self, number: int) -> list[str]:
        """The paths of all Cells of one Cell's class."""
        return [cell.path for cell in self._cells if cell.type_names == self._cells[number].type_names]

    def _claim(self, op: AskedOp) -> str | None:
        number = innermost_mark(op.node.stack)
        return None if number is None else self._cells[number].path

    # Gradient ops

    def _of_forward_op(self, op: AskedOp) -> _Layer | None:
        known = [self._layers[f.id] for f in self._forward_ops(op) if f.id in self._layers]
        if len({layer.path for layer in known}) != 1:
            return None
        return _Layer(known[0].path, all(layer.certain for layer in known))

    def _of_taken_forward_op(self, op: AskedOp) -> _Layer | None:
        """For a gradient op that takes the value of one of several forward ops."""
        taken = [
            self._layers[f.id] for f in self._forward_ops(op) if f.id in op.producers and f.id in self._layers
        ]
        if len({layer.path for layer in taken}) != 1:
            return None
        return _Layer(taken[0].path, all(layer.certain for layer in taken))

    def _of_closest_forward_op(self, op: AskedOp) -> _Layer | None:
        closest = self._closest(op, [path for path in self._forward_layers(op) if path is not None])
        if len(closest) == 1:
            return _Layer(closest[0], True)
        return _Layer(self._claim(op), False) if self._claim(op) in closest else None

    def _forward_layers(self, op: AskedOp) -> set[str | None]:
        return {self._layers[f.id].path for f in self._forward_ops(op) if f.id in self._layers}

    def _of_vanished_forward_op(self, op: AskedOp) -> _Layer | None:
        """For a gradient op whose forward op is gone: its note of where that stood, if its neighbours agree."""
        stacks = [stack for stack in (op.node.stack, *op.node.candidates) if stack]
        if not stacks or op.node.forward_unique_id is None or self._forward_ops(op):
            return None
        number = innermost_mark(stacks[0])
        if number is None:
            return _Layer(None, True)
        claim = self._cells[number].path
        return _Layer(claim, self._closest(op, self._same_class(number)) == [claim])

    def _forward_ops(self, op: AskedOp) -> list[AskedOp]:
        return self._by_id[op.node.forward_unique_id] if op.node.forward_unique_id else []

    def _forward_id(self, op: AskedOp, layer: str | None) -> int | None:
        here = [f.id for f in self._forward_ops(op) if self._layers.get(f.id, _Layer(None, False)).path == layer]
        return next(iter([f for f in here if f in op.producers] or here), None)

    # Neighbours

    def _closest(self, op: AskedOp, paths: Sequence[str]) -> list[str]:
        """Those of some paths that share most with the paths of what the op takes and what takes its value."""
        sides = (op.producers, op.consumers)
        around = [self._layers[n].path for side in sides for n in side if n in self._layers]
        near = [path.split(".") for path in (*around, *op.parameters) if path]
        scores = {path: sum(common(path.split("."), other) for other in near) for path in paths}
        return [path for path in paths if near and scores[path] == max(scores.values())]

    def _spread(self, direction: Direction) -> None:
        """Give the remaining ops of a direction the layer of those that take, or else give, their values."""
        self._settle(direction, lambda op: self._vote(op, op.consumers))
        self._settle(direction, lambda op: self._vote(op, op.producers))

    def _vote(self, op: AskedOp, neighbours: Iterable[int]) -> _Layer | None:
        asked = [n for n in neighbours if self._directions[n] == self._directions[op.id]]
        answers = [self._layers[n] for n in asked if n in self._layers]
        if not answers or len(answers) < len(asked):
            return None
        merged = {self._cells[mark].path for mark in map(innermost_mark, op.node.candidates) if mark is not None}
        paths = {layer.path for layer in answers} | (merged if self._directions[op.id] == "forward" else set())
        return _Layer(answers[0].path, len(paths) == 1 and all(layer.certain for layer in answers))
