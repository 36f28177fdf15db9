"""What are the units? From raw text to sentences, words, pieces and ids, and back."""
