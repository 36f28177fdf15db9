"""How are the windows of a text sorted and counted at the speed of C?

A window is a row of words: the one at its place and those that follow, up to the end of the sentence. A row holds
numbers + 1; 0 fills it up, so that a short row comes before those that go on.
"""

from __future__ import annotations

import numpy as np

from dragoman.compiling import kernel

END = 2


@kernel
def fill_windows(ids_N, rows_NW):
    """The window of each place."""
    width = rows_NW.shape[1]
    for place in range(len(ids_N)):
        ended = False
        for column in range(width):
            if ended:
                rows_NW[place, column] = 0
            else:
                word = ids_N[place + column]
                rows_NW[place, column] = word + 1
                ended = word == END


@kernel
def sort_rows(rows_NW, spare_NW, bits, digit):
    """Sort by the first word, then by the second, ...: from the last digit of the last word to the first (LSD radix
    sort). Numbers have so many bits, digits so many of these. True where the sorted rows are in the spare array."""
    count, width = rows_NW.shape
    size = 1 << digit
    ends = np.empty(size + 1, np.int64)
    source, target = rows_NW, spare_NW
    moved = False
    for column in range(width - 1, -1, -1):
        for shift in range(0, bits, digit):
            ends[:] = 0
            for row in range(count):
                ends[((source[row, column] >> shift) & (size - 1)) + 1] += 1
            for value in range(1, size + 1):
                ends[value] += ends[value - 1]
            for row in range(count):
                value = (source[row, column] >> shift) & (size - 1)
                place = ends[value]
                ends[value] = place + 1
                for inner in range(width):
                    target[place, inner] = source[row, inner]
            source, target = target, source
            moved = not moved
    return moved


@kernel
def count_rows(rows_NW, counts_N):
    """Leave each of the sorted rows once, at the front, with its count; how many there are."""
    count, width = rows_NW.shape
    kept = -1
    for row in range(count):
        same = kept >= 0
        for column in range(width):
            if same and rows_NW[row, column] != rows_NW[kept, column]:
                same = False
        if same:
            counts_N[kept] += 1
        else:
            kept += 1
            counts_N[kept] = 1
            for column in range(width):
                rows_NW[kept, column] = rows_NW[row, column]
    return kept + 1


@kernel
def merge_rows(first_NW, first_counts_N, second_NW, second_counts_N, rows_NW, counts_N):
    """One sorted list of both, counts of equal rows added; how many rows there are."""
    width = rows_NW.shape[1]
    one, other, made = 0, 0, 0
    while one < len(first_NW) or other < len(second_NW):
        order = 0
        if one == len(first_NW):
            order = 1
        elif other == len(second_NW):
            order = -1
        else:
            for column in range(width):
                if order == 0 and first_NW[one, column] != second_NW[other, column]:
                    order = -1 if first_NW[one, column] < second_NW[other, column] else 1
        total = 0
        if order <= 0:
            for column in range(width):
                rows_NW[made, column] = first_NW[one, column]
            total += first_counts_N[one]
            one += 1
        if order >= 0:
            for column in range(width):
                rows_NW[made, column] = second_NW[other, column]
            total += second_counts_N[other]
            other += 1
        counts_N[made] = total
        made += 1
    return made
