"""Language Rearrangement without Habitat: tidy a flat by instruction, from pictures and words.

Source of the rules: LLaRP (arXiv 2310.17722) and its released code, used as a specification; flats,
pictures and phrasings are this project's own.
"""
