"""Small tiles written in vectors by hand: pair scalars, the sums over points that follow from them, and transposes.

LLVM vectorises the innermost loop only, and for the short rows of a batch spends more on the ends of that loop than
on its middle. Here a vector holds neighbouring columns, the loop over coordinates (or points) runs innermost with its
sums in registers, and the last vector of a row overlaps the one before it, so that there are no ends. In which order
numbers are added depends on BYTES alone; how many vectors are done at a time, on what the processor's registers hold.

Arrays come in by :func:`address`, with the number of elements between their rows; ``like`` is an array of their
element type.
"""

from __future__ import annotations

from llvmlite import ir
from llvmlite.binding import get_host_cpu_features
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .compile import PLAIN, fuse, jit

BYTES = 64  #: of a vector: the widest there are; narrower machines do a vector in several
REGISTER = 64 if get_host_cpu_features().get("avx512f") else 32  #: bytes of a register; there are 16 of the narrow ones
ROWS = 4  #: rows of a tile of scalars done together
COORDINATES = 3  #: sums over points done together: d + 1 is a multiple for d = 2, 5, 8
REGISTERS = 12  #: of sums over points: those that follow each other use different ones, and need not wait

_word = ir.IntType(64)


@jit()
def lanes(like):
    """Numbers in a vector: an array with fewer columns is left to plain loops, and all are if PLAIN says so."""
    return 2**62 if PLAIN else BYTES // like.itemsize


@intrinsic
def address(typingctx, array):
    """Where an array begins. ``array.ctypes.data`` says the same, but counts references on the way."""
    signature = types.intp(array)

    def generate(context, builder, signature, arguments):
        (kind,), (value,) = signature.args, arguments
        return builder.ptrtoint(context.make_array(kind)(context, builder, value).data, _word)

    return signature, generate


class _Vectors:
    """What the tiles share: types, loads, broadcasts and loops."""

    def __init__(self, context, builder, element, width: int = BYTES) -> None:
        self.builder = builder
        self.scalar = context.get_value_type(element)
        self.size = 8 if element == types.float64 else 4
        self.lanes = width // self.size
        self.type = ir.VectorType(self.scalar, self.lanes)
        self.zero = ir.Constant(self.type, None)

    def plus(self, value, number: int):
        return self.builder.add(value, _word(number)) if number else value

    def at(self, address, row, stride, column, kind):
        index = self.builder.add(self.builder.mul(row, stride), column)
        place = self.builder.add(address, self.builder.mul(index, _word(self.size)))
        return self.builder.inttoptr(place, kind.as_pointer())

    def load(self, address, row, stride, column):
        return self.builder.load(self.at(address, row, stride, column, self.type), align=self.size)

    def store(self, value, address, row, stride, column) -> None:
        self.builder.store(value, self.at(address, row, stride, column, self.type), align=self.size)

    def everywhere(self, address, row, stride, column):
        return self.splat(self.builder.load(self.at(address, row, stride, column, self.scalar)), self.type)

    def splat(self, value, kind):
        first = self.builder.insert_element(ir.Constant(kind, ir.Undefined), value, ir.IntType(32)(0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), self.lanes), None)
        return self.builder.shuffle_vector(first, ir.Constant(kind, ir.Undefined), zeros)

    def sums(self, count: int):
        """Registers that start at zero."""
        places = [cgutils.alloca_once(self.builder, self.type) for _ in range(count)]
        for place in places:
            self.builder.store(self.zero, place)
        return places

    def add_product(self, place, a, b) -> None:
        self.builder.store(fuse(self.builder, a, b, self.builder.load(place)), place)

    def steps(self, start, stop, step: int):
        """Loop over range(start, stop, step)."""
        return cgutils.for_range_slice(self.builder, start, stop, _word(step), intp=_word)

    def whole(self, count, step: int):
        """The largest multiple of ``step`` up to ``count``."""
        return self.builder.mul(self.builder.sdiv(count, _word(step)), _word(step))

    def not_beyond(self, start, count, step: int):
        """The last piece of ``step`` starts early enough to end with the others."""
        last = self.builder.sub(count, _word(step))
        return self.builder.select(self.builder.icmp_signed("<", start, last), start, last)

    def only_from(self, lane, value):
        """Zero in the lanes before ``lane``."""
        kind = ir.VectorType(_word, self.lanes)
        numbers = ir.Constant(kind, list(range(self.lanes)))
        return self.builder.select(self.builder.icmp_signed(">=", numbers, self.splat(lane, kind)), value, self.zero)

    def transposed(self, square):
        """Swap ever larger off-diagonal blocks of a square of vectors: single numbers, pairs, fours, …"""
        size = 1
        while size < self.lanes:
            square = [self._half_swapped(square, row, size) for row in range(self.lanes)]
            size *= 2
        return square

    def _half_swapped(self, square, row: int, size: int):
        """The row after the off-diagonal blocks of each square of 2 × ``size`` rows have changed places."""
        upper = row & ~size
        first = size if row & size else 0
        mask = [
            lane // (2 * size) * 2 * size + first + lane % size + (self.lanes if lane & size else 0)
            for lane in range(self.lanes)
        ]
        chosen = ir.Constant(ir.VectorType(ir.IntType(32), self.lanes), mask)
        return self.builder.shuffle_vector(square[upper], square[upper | size], chosen)

    def columns(self, n, body) -> None:
        """Cover n columns by pairs of vectors, then single ones, two registers at a time or one.

        ``body(first columns of these registers, columns done before or None)``.
        """
        vector = BYTES // self.size
        pairs = self.whole(n, 2 * vector)
        with self.steps(_word(0), pairs, 2 * self.lanes) as (column, _):
            body([column, self.plus(column, self.lanes)], None)
        with self.steps(pairs, n, vector) as (done, _):
            first = self.not_beyond(done, n, vector)
            with self.steps(first, self.plus(first, vector), self.lanes) as (column, _):
                body([column], done)


def _scalars(radial: bool):
    def typed(typingctx, like, t, t_stride, rows, rows_stride, m, columns, columns_stride, n, d):
        word = count = types.intp
        signature = types.void(like, word, count, word, count, count, word, count, count, count)

        def generate(context, builder, signature, arguments):
            _, t, t_stride, rows, rows_stride, m, columns, columns_stride, n, d = arguments
            v = _Vectors(context, builder, signature.args[0].dtype, REGISTER)
            with v.steps(_word(0), m, ROWS) as (row, _):
                first = v.not_beyond(row, m, ROWS)
                own = [v.plus(first, i) for i in range(ROWS)]

                def block(places, done):
                    count = len(places)
                    totals = v.sums(ROWS * count)
                    with v.steps(_word(0), d, 1) as (l, _):
                        loaded = [v.load(columns, l, columns_stride, k) for k in places]
                        for i, j in enumerate(own):
                            x = v.everywhere(rows, j, rows_stride, l)
                            for place, s in zip(totals[i * count :], loaded, strict=False):
                                factor = builder.fsub(s, x) if radial else x
                                v.add_product(place, factor if radial else s, factor)
                    for i, j in enumerate(own):
                        for place, k in zip(totals[i * count :], places, strict=False):
                            v.store(builder.load(place), t, j, t_stride, k)

                v.columns(n, block)
            return context.get_dummy_value()

        return signature, generate

    typed.__name__ = "squares" if radial else "products"
    return intrinsic(typed)


#: t[j, k] = ‖x_j − s_k‖² for m ≥ ROWS rows x_j and n ≥ lanes columns s_k of d coordinates.
squares = _scalars(True)
#: t[j, k] = ⟨x_j, s_k⟩.
products = _scalars(False)


@intrinsic
def gather(typingctx, like, t, n, rows, rows_stride, m, width, out, out_stride):
    """out[l, k] += Σ_j t[j, k] x_j[l] for m rows x_j of ``width`` numbers (a multiple of COORDINATES), n ≥ lanes."""
    word = count = types.intp
    signature = types.void(like, word, count, word, count, count, count, word, count)

    def generate(context, builder, signature, arguments):
        _, t, n, rows, rows_stride, m, width, out, out_stride = arguments
        v = _Vectors(context, builder, signature.args[0].dtype, REGISTER)

        def block(places, done):
            count = len(places)
            phases = REGISTERS // (COORDINATES * count)
            whole = v.whole(m, phases)
            with v.steps(_word(0), width, COORDINATES) as (l0, _):
                own = [v.plus(l0, i) for i in range(COORDINATES)]
                totals = v.sums(REGISTERS)

                def add(j, phase):
                    loaded = [v.load(t, j, n, k) for k in places]
                    for i, l in enumerate(own):
                        x = v.everywhere(rows, j, rows_stride, l)
                        for c, w in enumerate(loaded):
                            v.add_product(totals[(phase * COORDINATES + i) * count + c], w, x)

                with v.steps(_word(0), whole, phases) as (j, _):
                    for phase in range(phases):
                        add(v.plus(j, phase), phase)
                with v.steps(whole, m, 1) as (j, _):
                    add(j, 0)
                for i, l in enumerate(own):
                    for c, k in enumerate(places):
                        parts = [builder.load(place) for place in totals[i * count + c :: COORDINATES * count]]
                        while len(parts) > 1:
                            parts = [builder.fadd(a, b) for a, b in zip(parts[::2], parts[1::2], strict=True)]
                        total = parts[0] if done is None else v.only_from(builder.sub(done, k), parts[0])
                        v.store(builder.fadd(v.load(out, l, out_stride, k), total), out, l, out_stride, k)

        v.columns(n, block)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def transpose(typingctx, like, rows, rows_stride, m, n, out, out_stride):
    """out[k, j] = rows[j, k] for m, n ≥ lanes, by squares of as many rows as a register has lanes."""
    word = count = types.intp
    signature = types.void(like, word, count, count, count, word, count)

    def generate(context, builder, signature, arguments):
        _, rows, rows_stride, m, n, out, out_stride = arguments
        v = _Vectors(context, builder, signature.args[0].dtype, REGISTER)
        with v.steps(_word(0), m, v.lanes) as (row, _), v.steps(_word(0), n, v.lanes) as (column, _):
            j, k = v.not_beyond(row, m, v.lanes), v.not_beyond(column, n, v.lanes)
            square = [v.load(rows, v.plus(j, i), rows_stride, k) for i in range(v.lanes)]
            for i, vector in enumerate(v.transposed(square)):
                v.store(vector, out, v.plus(k, i), out_stride, j)
        return context.get_dummy_value()

    return signature, generate
