"""How do numbers and words become a picture?"""
