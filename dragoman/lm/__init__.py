"""How probable is a sentence, by counts of the words that follow each other?

From the ground up: units cut text, counting sorts and counts what stands together, trie keeps it, smoothing turns
counts into probabilities, ngrams walks them, model is what others use, arpa what other programs read.
"""
