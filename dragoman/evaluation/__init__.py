"""How good is a translation, and how sure can we be?"""
