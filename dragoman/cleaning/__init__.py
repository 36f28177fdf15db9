"""Which pairs of a bitext are worth learning from, and why are the others not?"""
