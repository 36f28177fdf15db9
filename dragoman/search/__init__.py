"""Among all the outputs that a model could give, which one?"""
