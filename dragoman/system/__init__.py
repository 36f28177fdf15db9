"""How does a recipe become a finished product that others can rely on?"""
