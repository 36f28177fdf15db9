"""What have people translated?

Readers and writers of parallel text, and the bitext that training and evaluation walk through.
"""
