"""How are n-grams found, linked and put into a trie at the speed of C?

Node 0 is the empty n-gram, node 1 + w the word w, and so on, order after order. The children of node y are
[begins_Y[y], begins_Y[y + 1]), sorted by their last words.
"""

from __future__ import annotations

import numpy as np

from dragoman.compiling import kernel


@kernel
def find_between(words_X, low, high, word):
    """The place of a word among those in [low, high), or -1."""
    end = high
    while low < high:
        middle = (low + high) >> 1
        if words_X[middle] < word:
            low = middle + 1
        else:
            high = middle
    return low if low < end and words_X[low] == word else -1


@kernel
def count_nodes(rows_NW):
    """How many distinct n-grams of each order begin the sorted rows."""
    count, width = rows_NW.shape
    nodes_W = np.zeros(width, np.int64)
    for row in range(count):
        same = row > 0
        for column in range(width):
            word = rows_NW[row, column]
            if word == 0:
                break
            same = same and word == rows_NW[row - 1, column]
            if not same:
                nodes_W[column] += 1
    return nodes_W


@kernel
def grow(rows_NW, row_counts_N, firsts_W, words_X, begins_Y, counts_X):
    """Make the nodes of the sorted rows, those of order c + 1 from firsts_W[c] on; words and counts of all, begins of
    those that may have children."""
    count, width = rows_NW.shape
    free_W, path_W = firsts_W.copy(), np.zeros(width, np.int64)
    filled = 1
    for row in range(count):
        same = row > 0
        for column in range(width):
            number = rows_NW[row, column]
            if number == 0:
                break
            same = same and number == rows_NW[row - 1, column]
            if not same:
                if column == 0:
                    node = np.int64(number)
                    while width > 1 and filled <= node:
                        begins_Y[filled] = free_W[1]
                        filled += 1
                else:
                    node = free_W[column]
                    free_W[column] = node + 1
                    words_X[node] = number - 1
                    if column < width - 1:
                        begins_Y[node] = free_W[column + 1]
                path_W[column] = node
            counts_X[path_W[column]] += row_counts_N[row]
    if width > 1:
        while filled < firsts_W[1]:
            begins_Y[filled] = free_W[1]
            filled += 1


@kernel
def link(first, last, words_X, begins_Y, links_X):
    """Link the children of the nodes [first, last): each to the longest n-gram that is its end; the links of their
    parents are there."""
    for parent in range(first, last):
        suffix = links_X[parent]
        low = begins_Y[suffix]
        for child in range(begins_Y[parent], begins_Y[parent + 1]):
            word = words_X[child]
            if suffix == 0:
                links_X[child] = 1 + word
                continue
            end, step = begins_Y[suffix + 1], 1
            high = low
            while high < end and words_X[high] < word:  # gallop: both lists are sorted
                low = high + 1
                high += step
                step *= 2
            found = find_between(words_X, low, min(high + 1, end), word)
            shorter = suffix
            while found < 0:
                shorter = links_X[shorter]
                if shorter == 0:
                    found = 1 + word
                else:
                    found = find_between(words_X, begins_Y[shorter], begins_Y[shorter + 1], word)
            links_X[child] = found


@kernel
def find_rows(rows_NW, depth, words_X, begins_Y, nodes_N):
    """The node of the first `depth` words of each row, or -1."""
    for row in range(len(rows_NW)):
        node = np.int64(rows_NW[row, 0]) + 1
        for column in range(1, depth):
            if node >= 0:
                node = find_between(words_X, begins_Y[node], begins_Y[node + 1], rows_NW[row, column])
        nodes_N[row] = node


@kernel
def settle_states(links_X, extends_Y, states_X):
    """The state behind each n-gram: itself where something is known of what follows it, else the state of its link."""
    inner = len(extends_Y)
    states_X[0] = 0
    for node in range(1, len(states_X)):
        states_X[node] = node if node < inner and extends_Y[node] else states_X[links_X[node]]


@kernel
def tally(first, last, links_X, base, tallies_N):
    """How many of the nodes [first, last) are linked to each node from `base` on."""
    for node in range(first, last):
        tallies_N[links_X[node] - base] += 1
