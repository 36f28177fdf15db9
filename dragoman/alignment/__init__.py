"""Which word of a sentence came from which word of its translation?

Counted words hide an alignment; these models find it: IBM models, hidden Markov models, and samplers. numba only in
the files named kernels.
"""
