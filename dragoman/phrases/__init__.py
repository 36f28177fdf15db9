"""Which remembered words and phrases translate this text?"""
